internal import CPushFiles
internal import PushModel

/// Files of records of one kind, an NDJSON object a line.
enum RecordFiles {
  /// Reads files one after the other.
  ///
  /// - Parameters:
  ///   - name: the `kind` of the records.
  ///   - keepsAll: whether every problem is wanted; otherwise reading ends at the first.
  ///   - add: takes a record.
  /// - Returns: the problems in the order of files and lines, and the number of records.
  static func read(
    _ sources: [FileSource], of name: StaticString, keepsAll: Bool,
    _ add: (JSONValue) throws(FileProblem.Problem) -> Void
  ) -> (problems: [FileProblem], records: Int) {
    var problems: [FileProblem] = []
    var count = 0
    for source in sources where keepsAll || problems.isEmpty {
      let lines: JSONLines
      do throws(FileProblem) { lines = try source.lines() } catch {
        problems.append(error)
        continue
      }
      var isEmpty = true
      while true {
        do throws(FileProblem) {
          let line = try lines.located { () throws(FileProblem.Problem) in
            guard let line = try lines.next() else { return false }
            count += 1
            let kind = try SettingsRecord.kind(of: line)
            guard name ~= kind else {
              throw .wrongKind(try kind.text("kind"), expected: "\(name)")
            }
            try add(line)
            return true
          }
          guard line else { break }
          isEmpty = false
        } catch {
          isEmpty = false
          problems.append(error)
          if !keepsAll || !error.isOfOneLine { break }
        }
      }
      if isEmpty { problems.append(FileProblem(file: source.name, line: 1, problem: .isEmpty)) }
    }
    return (problems, count)
  }
}
