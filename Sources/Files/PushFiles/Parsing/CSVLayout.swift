internal import PushSupport

/// The columns of a kind of CSV file, and how a file of it is written.
struct CSVLayout {
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
      throw .unknownColumns(UnknownColumns(unknown, of: self, header: header))
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
    let known = MessageColumns.names
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
            + (nearest.map { "did you mean \($0)=\(name)? " } ?? "")
            + "Their columns are \(known.joined(separator: ", "))")
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
  fileprivate var written: [String] { pairs.map(\.name).filter { $0 != "*" } }

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

/// Columns that a header has and its kind of file has not, with what to do about them.
public struct UnknownColumns: Hashable, Sendable {
  /// Their names.
  public let names: [String]
  /// The columns that the kind of file has.
  public let known: [String]
  private let kind: String
  /// What separates columns, and what separates the names of the header if that is something else.
  private let delimiter: Character
  private var headerDelimiter: Character?
  private let missing: [String]
  /// Known columns that the header does not have.
  private let free: [String]
  private let hasOptions: Bool

  init(_ names: [String], of layout: CSVLayout, header: [String]) {
    var (names, header) = (names, header)
    delimiter = Character(UnicodeScalar(layout.delimiter))
    if header.count == 1, let found = Self.delimiter(of: header[0], but: delimiter) {
      headerDelimiter = found
      header = header[0].split(separator: found, omittingEmptySubsequences: false).map(String.init)
      names = header.filter { !layout.columns.contains($0) }
    }
    self.names = names
    known = layout.columns
    kind = layout.name
    free = known.filter { !header.contains($0) }
    missing = free.filter { layout.required.contains($0) }
    hasOptions = known == MessageColumns.names
  }

  private static func delimiter(of header: String, but usual: Character) -> Character? {
    ([";", "\t", ",", "|"] as [Character]).first { $0 != usual && header.contains($0) }
  }

  /// The columns that the names most likely stand for, but none that several may stand for.
  private var guesses: [(name: String, column: String)] {
    let all = names.compactMap { name in nearest(to: name).map { (name: name, column: $0) } }
    return all.filter { guess in all.count { $0.column == guess.column } == 1 }
  }

  private func nearest(to name: String) -> String? {
    if let nearest = EditDistance.nearest(to: name, in: free) { return nearest }
    let words = name.lowercased().split { !$0.isLetter }.map(String.init)
    return free.first { words.contains($0.lowercased()) }
  }

  var text: String {
    let guesses = guesses
    var text: String
    if let headerDelimiter {
      text =
        "the header is separated by \(Self.word(headerDelimiter)), columns by "
        + Self.word(delimiter)
    } else {
      let list = names.map { quoted($0) }.joined(separator: ", ")
      text = "unknown column\(names.count == 1 ? "" : "s") \(list)"
    }
    let only = names.count == 1 && headerDelimiter == nil ? guesses.first : nil
    if let only { text += "; did you mean \(quoted(only.column))?" }
    if !names.isEmpty {
      let start = only == nil ? "; \(kind)" : " \(kind.prefix(1).uppercased() + kind.dropFirst())"
      text += "\(start) have \(known.joined(separator: ", "))"
    }
    if hasOptions { text += "; read it with \(options(guesses).joined(separator: " "))" }
    return text
  }

  private static func word(_ delimiter: Character) -> String {
    switch delimiter {
    case ",": "commas"
    case ";": "semicolons"
    case "\t": "tabs"
    default: "\"\(delimiter)\""
    }
  }

  /// What reads the file as it is; NAME where no name of it is near.
  private func options(_ guesses: [(name: String, column: String)]) -> [String] {
    var options: [String] = []
    if let headerDelimiter {
      options.append("--delimiter \(headerDelimiter == "\t" ? "tab" : "'\(headerDelimiter)'")")
    }
    if names.isEmpty { return options }
    let open = missing.filter { name in !guesses.contains { $0.column == name } }
    var pairs = open.map { "\($0)=NAME" } + guesses.map { "\($0.column)=\(Self.argument($0.name))" }
    if pairs.isEmpty { pairs = names.map { "COLUMN=\(Self.argument($0))" } }
    options.append("--columns \(pairs.joined(separator: ","))")
    if names.count > guesses.count { options[options.count - 1] += "; ignore=NAME leaves one out" }
    return options
  }

  /// A name as a shell takes it.
  private static func argument(_ name: String) -> String {
    let shown = printable(name)
    let isPlain = shown.allSatisfy { $0.isLetter || $0.isNumber || "_-.".contains($0) }
    if isPlain { return shown }
    // `replacing` would link the regular expressions of the standard library.
    let parts = shown.split(separator: "'" as Character, omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
