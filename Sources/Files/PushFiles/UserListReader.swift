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
    let table = try FileSource.path(path).table(layout)
    var users: Set<Identifier> = []
    try table.located { () throws(FileProblem.Problem) in
      while let row = try table.next() {
        guard let user = row.identifier(0) else { throw .missingField("user") }
        users.insert(user)
      }
    }
    return users
  }
}
