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

  /// - Parameters:
  ///   - header: all columns of the header.
  ///   - required: the columns without which the kind of file is not read.
  ///   - hasOptions: whether the command has options for other names.
  init(
    _ names: [String], header: [String], kind: String, known: [String], required: [String],
    delimiter: Character, hasOptions: Bool
  ) {
    var (names, header) = (names, header)
    if header.count == 1, let found = Self.delimiter(of: header[0], but: delimiter) {
      headerDelimiter = found
      header = header[0].split(separator: found, omittingEmptySubsequences: false).map(String.init)
      names = header.filter { !known.contains($0) }
    }
    self.names = names
    self.known = known
    self.kind = kind
    self.delimiter = delimiter
    self.hasOptions = hasOptions
    free = known.filter { !header.contains($0) }
    missing = free.filter { required.contains($0) }
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
