internal import PushSupport

/// The columns of a kind of CSV file, and how a file of it is written.
struct CSVLayout {
  /// The columns of messages.
  static let messageColumns = [
    "id", "conversation", "channel", "sender", "at", "sentAt", "mentions", "mentionsAll",
    "isMentioned", "force", "silent", "body", "pushContent", "persisted", "backlog", "reply",
    "replyTo",
  ]

  /// What its rows are called: "messages".
  let name: String
  /// The names that the header may have; cells are asked for by the index here.
  let columns: [String]
  /// The names that it must have.
  let required: [String]
  /// What stands between cells.
  var delimiter = UInt8(ascii: ",")
  /// The names that a file has instead; nil where it must have those of the format.
  var names: ColumnNames?

  /// Finds the columns in a header.
  ///
  /// - Returns: the index in the header of each column; -1 for one that the file does not have.
  func cellIndices(in header: [String]) throws(FileProblem.Problem) -> [Int] {
    try checkNames(in: header)
    var cellIndices = Array(repeating: -1, count: columns.count)
    var unknown: [String] = []
    for (index, name) in header.enumerated() {
      guard let column = column(of: name) else {
        if names?.leavesOut(name) != true { unknown.append(name) }
        continue
      }
      guard cellIndices[column] < 0 else { throw .repeatedColumn(name) }
      cellIndices[column] = index
    }
    let missing = required.filter { name in
      columns.firstIndex(of: name).map { cellIndices[$0] < 0 } ?? true
    }
    guard unknown.isEmpty else {
      throw .unknownColumns(
        UnknownColumns(
          unknown, header: header, kind: name, known: columns, required: required,
          delimiter: Character(UnicodeScalar(delimiter)),
          hasOptions: columns == Self.messageColumns, isNamed: names != nil,
          found: columns.indices.filter { cellIndices[$0] >= 0 }.map { columns[$0] }))
    }
    if let first = missing.first { throw .missingColumn(first) }
    return cellIndices
  }

  private func column(of name: String) -> Int? {
    if let column = names?.column(named: name) { return columns.firstIndex(of: column) }
    guard let index = columns.firstIndex(of: name), names?.hasOtherName(name) != true else {
      return nil
    }
    return index
  }

  private func checkNames(in header: [String]) throws(FileProblem.Problem) {
    // What separates the names is said first.
    let usual = Character(UnicodeScalar(delimiter))
    if header.count == 1, UnknownColumns.delimiter(of: header[0], but: usual) != nil { return }
    for name in names?.written ?? [] where !header.contains(name) {
      throw .noColumn(name, header: header)
    }
  }
}

/// The names that a CSV file has for columns of the format, like `at=Timestamp`.
///
/// - Source: formats.md, "Bring your own data".
public struct ColumnNames: Hashable, Sendable {
  /// The word that stands for no column of the format, so that one of the file is left out.
  static let ignored = "ignore"

  private struct Pair: Hashable {
    let column: String
    let name: String
  }

  private var pairs: [Pair] = []

  /// Why a text says no names.
  public struct Mistake: Error, Hashable, Sendable {
    /// Why.
    public let reason: String
  }

  /// Reads `at=Timestamp,conversation=Group ID`: pairs of a column of messages and the name that a
  /// file has for it. `ignore=NAME` leaves a column of the file out, `ignore=*` all that are not
  /// known.
  public init(ofMessages text: String) throws(Mistake) {
    let known = CSVLayout.messageColumns
    for pair in Self.pairs(of: text) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty else {
        throw Mistake(reason: "\"\(pair)\" is not like at=Timestamp")
      }
      let (column, name) = (String(parts[0]), String(parts[1]))
      guard column == Self.ignored || known.contains(column) else {
        let nearest = EditDistance.nearest(to: column, in: known + [Self.ignored])
        throw Mistake(
          reason: "messages have no column \"\(column)\"; "
            + (nearest.map { "did you mean \($0)=\(name)? Their" } ?? "their")
            + " columns are \(known.joined(separator: ", "))")
      }
      guard column == Self.ignored || !hasOtherName(column) else {
        throw Mistake(reason: "it has \(column) twice")
      }
      guard !pairs.contains(where: { $0.name == name }) else {
        throw Mistake(reason: "it has \"\(name)\" twice")
      }
      pairs.append(Pair(column: column, name: name))
    }
  }

  /// The parts between commas behind which a pair begins: a name may have commas itself.
  private static func pairs(of text: String) -> [Substring] {
    var pairs: [Substring] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let begins = part.prefix { $0.isLetter }.endIndex
      if let last = pairs.last, begins == part.endIndex || part[begins] != "=" {
        pairs[pairs.count - 1] = text[last.startIndex..<part.endIndex]
      } else {
        pairs.append(part)
      }
    }
    return pairs
  }

  /// The names that the file must have.
  var written: [String] { pairs.map(\.name).filter { $0 != "*" } }

  fileprivate func column(named name: String) -> String? {
    pairs.first { $0.name == name && $0.column != Self.ignored }?.column
  }

  fileprivate func hasOtherName(_ column: String) -> Bool {
    pairs.contains { $0.column == column }
  }

  fileprivate func leavesOut(_ name: String) -> Bool {
    pairs.contains { $0.column == Self.ignored && ($0.name == name || $0.name == "*") }
  }
}
