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
    self.hasOptions = hasOptions
    free = known.filter { !header.contains($0) }
    missing = free.filter { required.contains($0) }
  }

  private static func delimiter(of header: String, but usual: Character) -> Character? {
    ([";", "\t", ",", "|"] as [Character]).first { $0 != usual && header.contains($0) }
  }

  /// What exports call the columns, in small letters and without what stands between words. Of several
  /// columns the first that the file does not have is meant.
  private static let words: [(columns: [String], names: Set<String>)] = [
    (["id"], ["messageid", "msgid", "messageuid", "uuid"]),
    (
      ["conversation"],
      ["group", "groupid", "room", "roomid", "channelid", "chat", "chatid", "conversationid"]
    ),
    (["sender", "user"], ["user", "userid", "member", "memberid", "uid"]),
    (["sender"], ["from", "fromid", "fromuser", "author", "authorid", "senderid", "sentby"]),
    (
      ["at", "sentAt", "ts", "since"],
      ["time", "timestamp", "date", "datetime", "createdat", "sentat", "sent", "ts"]
    ),
    (["mentions"], ["mention", "mentioned", "mentionedusers", "atlist"]),
    (["body"], ["type", "messagetype", "msgtype"]),
    (["replyTo"], ["inreplyto"]),
  ]

  /// The columns that the names most likely stand for, each at most once: by the words of exports, and
  /// then by spelling, but none that several names may stand for.
  private var guesses: [(name: String, column: String)] {
    var guesses: [String: String] = [:]
    var free = free
    // Of one time alone it is the message's.
    let times = Self.words.first { $0.columns.contains("sentAt") }?.names ?? []
    let isSecond =
      !free.contains("at")
      || names.count { times.contains($0.lowercased().filter(\.isLetter)) } > 1
    for name in names {
      let plain = name.lowercased().filter(\.isLetter)
      // The column itself, with other capitals or with something between the words.
      let exact = free.first { $0.lowercased() == plain && (plain != "sentat" || isSecond) }
      let word = Self.words.lazy.filter { $0.names.contains(plain) }.compactMap { entry in
        entry.columns.first { free.contains($0) }
      }.first
      guard let column = exact ?? word else { continue }
      guesses[name] = column
      free.removeAll { $0 == column }
    }
    let others = names.filter { guesses[$0] == nil }.compactMap { name in
      nearest(to: name, in: free).map { (name: name, column: $0) }
    }
    for guess in others where others.count(where: { $0.column == guess.column }) == 1 {
      guesses[guess.name] = guess.column
    }
    return names.compactMap { name in guesses[name].map { (name, $0) } }
  }

  private func nearest(to name: String, in free: [String]) -> String? {
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
