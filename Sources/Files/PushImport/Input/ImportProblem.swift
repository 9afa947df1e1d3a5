/// Why an import ended: `FILE:LINE: what is wrong`, in an archive `FILE/ENTRY:LINE: …` (I-5).
package struct ImportProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, or the archive and the entry.
  package let file: String
  /// The 1-based line; nil where the whole file is meant.
  package let line: Int?
  /// What is wrong, with the person's id where the record has one.
  package let text: String

  init(_ file: String, line: Int? = nil, _ text: String) {
    self.file = file
    self.line = line
    self.text = text
  }

  package var description: String { "\(file):" + (line.map { "\($0):" } ?? "") + " \(text)" }
}

/// What is wrong with a record, apart from where it is.
struct RecordProblem: Error {
  let text: String
  /// How many values and names of the record's text stand before the place; nil for its beginning.
  var token: Int?

  init(_ text: String, token: Int? = nil) {
    self.text = text
    self.token = token
  }

  static func missing(_ field: String) -> RecordProblem {
    RecordProblem("the field \(field) is missing")
  }
}
