internal import PushSupport

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
  private let isNamed: Bool

  /// - Parameters:
  ///   - header: all columns of the header.
  ///   - required: the columns without which the kind of file is not read.
  ///   - hasOptions: whether the command has options for other names.
  ///   - isNamed: whether other names were given.
  ///   - found: the columns that the header has, by whatever name.
  init(
    _ names: [String], header: [String], kind: String, known: [String], required: [String],
    delimiter: Character, hasOptions: Bool, isNamed: Bool, found: [String]
  ) {
    var (names, header) = (names, header)
    if header.count == 1, let found = Self.delimiter(of: header[0], but: delimiter) {
      headerDelimiter = found
      // Excel's first line, `sep=;`, has no names.
      header =
        header[0] == "sep=\(found)"
        ? [] : header[0].split(separator: found, omittingEmptySubsequences: false).map(String.init)
      names = header.filter { !known.contains($0) }
    }
    self.names = names
    self.known = known
    self.kind = kind
    self.delimiter = delimiter
    (self.hasOptions, self.isNamed) = (hasOptions, isNamed)
    free = known.filter { !header.contains($0) && !found.contains($0) }
    missing = free.filter { required.contains($0) }
  }

  /// What exports separate columns by.
  static let delimiters: [Character] = [";", "\t", ",", "|"]

  /// What separates the names of a header that is one cell, other than the usual.
  static func delimiter(of header: String, but usual: Character) -> Character? {
    delimiters.first { $0 != usual && header.contains($0) }
  }

  var text: String {
    let guesses = ExportNames.guesses(names, among: free)
    let needed = missing.filter { name in !guesses.contains { $0.column == name } }
    var text: String
    if let headerDelimiter {
      text =
        "the header is separated by \(Self.word(headerDelimiter)), columns "
        + (isOfSettings ? "of \(kind) " : "") + "by \(Self.word(delimiter))"
    } else {
      let list = names.map { quoted($0) }.joined(separator: ", ")
      text = "unknown column\(names.count == 1 ? "" : "s") \(list)"
    }
    // Whoever has named columns leaves out those that are left, and needs no list.
    if isNamed, guesses.isEmpty, needed.isEmpty, headerDelimiter == nil {
      return "\(text); \(leaveOut)"
    }
    let only = names.count == 1 && headerDelimiter == nil ? guesses.first : nil
    if let only { text += "; did you mean \(quoted(only.column))?" }
    if !names.isEmpty, headerDelimiter == nil || !isNamed {
      let start = only == nil ? "; \(kind)" : " \(kind.prefix(1).uppercased() + kind.dropFirst())"
      text += "\(start) have \(known.joined(separator: ", "))"
    }
    guard hasOptions else {
      return text
        + (isOfSettings && (names.count != 1 || headerDelimiter != nil)
          ? "; convert it: \(conversion)" : "")
    }
    return text + "; \(advice(guesses, needed))"
  }

  /// Where it is said how files are converted.
  static let guide = "docs/bring-your-own-data.md"

  private var isOfSettings: Bool { kind == "users" || kind == "members" }

  private var conversion: String {
    guard let headerDelimiter, names.isEmpty else { return Self.guide }
    let shown = headerDelimiter == "\t" ? "\\t" : "\(headerDelimiter)"
    return "tr '\(shown)' ',', or, if cells have commas, \(Self.guide)"
  }

  /// How the columns are left out that nothing is known of.
  private var leaveOut: String {
    let what = names.count == 1 ? "it" : "them"
    return "leave \(what) out with \(isNamed ? plainIgnoring : "--columns \(ignoring)")"
  }

  private var ignoring: String {
    names.count == 1 ? "ignore=\(Self.argument(names[0]))" : "'ignore=*'"
  }

  /// The same inside of what the user quotes.
  private var plainIgnoring: String { names.count == 1 ? ignoring : "ignore=*" }

  private static func word(_ delimiter: Character) -> String {
    switch delimiter {
    case ",": "commas"
    case ";": "semicolons"
    case "\t": "tabs"
    default: "\"\(delimiter)\""
    }
  }

  /// What reads the file as it is, beside the options that were given; NAME where no name of it is
  /// near.
  private func advice(
    _ guesses: [(name: String, column: String)], _ needed: [String]
  ) -> String {
    let pairs =
      needed.map { "\($0)=NAME" } + guesses.map { "\($0.column)=\(Self.argument($0.name))" }
    let others = names.filter { name in !guesses.contains { $0.name == name } }
    let rest = others.count == 1 ? "ignore=\(Self.argument(others[0]))" : "'ignore=*'"
    if let headerDelimiter {
      let option = "--delimiter \(headerDelimiter == "\t" ? "tab" : "'\(headerDelimiter)'")"
      if isNamed || names.isEmpty { return "read it with \(option)" }
      let columns = (pairs + (others.isEmpty ? [] : [rest])).joined(separator: ",")
      return "read it with \(option) --columns \(columns)"
    }
    if pairs.isEmpty { return leaveOut }
    if isNamed {
      return "add \(pairs.joined(separator: ",")) to --columns"
        + (others.isEmpty ? "" : ", and \(rest) for what is left")
    }
    return "read it with --columns "
      + (pairs + (others.isEmpty ? [] : [rest])).joined(separator: ",")
  }

  /// A name as a shell takes it.
  private static func argument(_ name: String) -> String {
    TerminalText.shellWord(printable(name))
  }
}
