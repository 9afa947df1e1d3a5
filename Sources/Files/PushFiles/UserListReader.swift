public import PushModel

/// Reads users by their ids from CSV.
///
/// - Source: formats.md, "CSV".
public enum UserListReader {
  static let layout = CSVLayout(
    name: "lists of users", columns: ["user", "source"], required: ["user"])

  /// The ids in the column `user`; a column `source` has no effect.
  ///
  /// - Throws: a problem with the file, its header or a row.
  /// - Complexity: O(bytes); the ids are in memory.
  public static func read(path: String) throws(FileProblem) -> Set<Identifier> {
    let table: CSVTable
    do throws(FileProblem.Problem) {
      table = try CSVTable(.path(path), layout)
    } catch {
      throw FileProblem(file: path, line: error.lineAtOpening, problem: error)
    }
    var users: Set<Identifier> = []
    do throws(FileProblem.Problem) {
      while let row = try table.next() {
        guard let user = row.identifier(0) else { throw .missingField("user") }
        users.insert(user)
      }
    } catch {
      throw FileProblem(file: path, line: table.lineNumber, problem: error)
    }
    return users
  }
}
