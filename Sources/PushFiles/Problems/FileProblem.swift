public import PushContent
public import PushRules
public import QuietTime

/// What is wrong with a file that a user handed in: where, and what.
///
/// Printed it is one line, `FILE:LINE: what is wrong`. ``code`` is stable; the text may be reworded.
public struct FileProblem: Error, Hashable, Sendable {
  public let file: String
  /// The 1-based line, of a CSV record its first; nil where there is none, like in a missing file.
  public let line: Int?
  public let problem: Problem

  public init(file: String, line: Int?, problem: Problem) {
    self.file = file
    self.line = line
    self.problem = problem
  }

  /// What is wrong, apart from where.
  public enum Problem: Error, Hashable, Sendable {
    // The file
    case cannotOpen(String)
    case cannotRead(String)
    case isDirectory
    case isEmpty
    /// It is needed more than once, and is no regular file.
    case cannotBeReadAgain
    /// It was read twice, and not the same both times.
    case hasChanged
    case notGzip
    case gzipTruncated
    case gzipCorrupt
    case gzipTrailing
    case unknownFileKind
    // The line
    case tooLong
    case notUTF8
    case byteOrderMark
    case truncatedJSON
    case notJSON
    case tooDeep
    case repeatedKey(String)
    case notAnObject
    case strayQuote
    case openQuote
    case loneReturn
    case unknownColumn(String)
    case repeatedColumn(String)
    case missingColumn(String)
    case cellCount(found: Int, expected: Int)
    // The record
    case unknownKind(String)
    case unknownField(String)
    case missingField(String)
    case wrongType(String, expected: String)
    case emptyID(String)
    case unknownValue(String, value: String, allowed: [String])
    case outOfRange(String, value: String, range: String)
    case notAnInstant(String, value: String)
    case unknownTimeZone(String, value: String)
    /// A time zone whose data cannot be used, or a system without a time-zone database.
    case timeZoneData(String, ZoneDataError)
    case refused(String, SettingsWriteError)
    /// Something that belongs to another rule set than the one whose rules apply.
    case fieldOfOtherRules(String, RuleSet, rules: RuleSet)
    case secondApp
    case repeatedDevice(String)
    case notALanguage(String, value: String)
    case repeatedLanguage(String)
    case notATemplate(String)
    /// Two names of one field.
    case fieldTwice(String, String)
    /// What is wrong with a template, or with a field that names one.
    case template(String, TemplateProblem)
    // Between records
    case parentMissing(String)
    case parentNotGroup(String)
    case sinceInThread(String)
    case notInParent(user: String, parent: String)
    case channelsOutsideUltraGroup(String)
    case parentOfThread(String, thread: String)
    /// A record that stays cannot be beside this one.
    case memberInTheWay(user: String, why: String)
    // Along time
    case outOfOrder(String)
    case unknownConversation(String)
    case rulesChange(RuleSet)
    case cannotApply(String)
  }

  /// Whether reading can go on behind this line.
  public var isOfOneLine: Bool { problem.isOfOneLine }
}

extension FileProblem.Problem {
  /// Whether only one line is affected, and reading can go on behind it.
  var isOfOneLine: Bool {
    switch self {
    case .cannotOpen, .cannotRead, .isDirectory, .isEmpty, .cannotBeReadAgain, .hasChanged,
      .notGzip,
      .gzipTruncated, .gzipCorrupt, .gzipTrailing, .unknownFileKind, .openQuote, .unknownColumn,
      .repeatedColumn, .missingColumn:
      false
    default: true
    }
  }

  /// Where a problem that was found before the first record stands: on line 1, or on no line when
  /// the file could not even be opened.
  var lineAtOpening: Int? {
    switch self {
    case .cannotOpen, .isDirectory, .cannotBeReadAgain, .hasChanged, .unknownFileKind: nil
    default: 1
    }
  }
}

extension FileProblem: CustomStringConvertible {
  public var description: String {
    "\(file):" + (line.map { "\($0):" } ?? "") + " \(problem)"
  }
}

extension FileProblem.Problem: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cannotOpen(let why): "cannot be opened: \(why)"
    case .cannotRead(let why): "cannot be read: \(why)"
    case .isDirectory: "is a directory; name a file"
    case .isEmpty: "the file is empty"
    case .cannotBeReadAgain: "is read twice; give a file that can be read again"
    case .hasChanged: "has changed while it was read"
    case .notGzip: "is not gzip data, although its name ends in .gz"
    case .gzipTruncated: "the gzip data ends too early; the file was cut off"
    case .gzipCorrupt: "the gzip data is damaged"
    case .gzipTrailing: "something that is no gzip data follows the gzip data"
    case .unknownFileKind:
      "is neither NDJSON nor CSV by its name; it must end in .ndjson, .jsonl, .json or .csv, "
        + "with or without .gz"
    case .tooLong: "the line is longer than \(LineReader.maximumLineBytes) bytes"
    case .notUTF8: "the line is not UTF-8"
    case .byteOrderMark: "the file begins with a byte order mark, which NDJSON does not have"
    case .truncatedJSON: "the JSON ends too early; the line was cut off"
    case .notJSON: "the line is not JSON"
    case .tooDeep: "the JSON is nested too deeply"
    case .repeatedKey(let key): "the key \(quoted(key)) is repeated in one object"
    case .notAnObject: "the line is not a JSON object"
    case .strayQuote: "a quote stands where none may; quote the whole cell and double its quotes"
    case .openQuote: "a quoted cell is never closed"
    case .loneReturn: "a carriage return without a line feed ends a row"
    case .unknownColumn(let name): "unknown column \(quoted(name))"
    case .repeatedColumn(let name): "the column \(quoted(name)) is repeated"
    case .missingColumn(let name): "the column \(quoted(name)) is missing"
    case .cellCount(let found, let expected):
      "\(found) cells in a row of \(expected) columns"
    case .unknownKind(let kind):
      "unknown kind \(quoted(kind)); the kinds are app, user, conversation and member"
    case .unknownField(let name): "unknown field \(quoted(name))"
    case .missingField(let name): "the field \(quoted(name)) is missing"
    case .wrongType(let name, let expected): "\(quoted(name)) must be \(expected)"
    case .emptyID(let name): "\(quoted(name)) must not be empty"
    case .unknownValue(let name, let value, let allowed):
      "\(quoted(name)) cannot be \(quoted(value)); it is one of \(allowed.joined(separator: ", "))"
    case .outOfRange(let name, let value, let range):
      "\(quoted(name)): \(printable(value)) is not in \(range)"
    case .notAnInstant(let name, let value):
      "\(quoted(name)): \(printable(value)) is not an instant; give Unix milliseconds, 0 to 9007199254740991, "
        + "or an RFC 3339 time with an offset or Z"
    case .unknownTimeZone(let name, let value):
      "\(quoted(name)): \(quoted(value)) is not a time zone of the IANA database"
    case .timeZoneData(let name, let error): "\(quoted(name)): \(error)"
    case .refused(let name, let error): "\(quoted(name)): \(printable("\(error)"))"
    case .fieldOfOtherRules(let name, let owner, let rules):
      "\(printable(name)) belongs to \(owner.rawValue), but the rules are \(rules.rawValue)"
    case .secondApp: "a second app; there is at most one"
    case .repeatedDevice(let id): "the device \(quoted(id)) is listed twice"
    case .notALanguage(let name, let value):
      "\(quoted(name)): \(quoted(value)) is not a language tag, like en or zh-Hans"
    case .repeatedLanguage(let tag): "the language \(quoted(tag)) is repeated"
    case .notATemplate(let kind):
      "the kind \(quoted(kind)) does not belong into a file of templates; its kind is template"
    case .fieldTwice(let name, let other):
      "\(quoted(name)) and \(quoted(other)) are the same field; give one of them"
    case .template(let name, let error):
      "\(quoted(name)): \(printable("\(error)", limit: 240))"
    case .parentMissing(let parent): "the parent \(quoted(parent)) is not a known conversation"
    case .parentNotGroup(let parent): "the parent \(quoted(parent)) is not a group"
    case .sinceInThread(let conversation):
      "\"since\" cannot be said in \(quoted(conversation)), a thread: its recipients are its parent's"
    case .notInParent(let user, let parent):
      "\(quoted(user)) is not a member of \(quoted(parent)), the thread's parent"
    case .channelsOutsideUltraGroup(let conversation):
      "\"channels\" cannot be said in \(quoted(conversation)), which is no ultra group"
    case .parentOfThread(let id, let thread):
      "\(quoted(id)) is the parent of the thread \(quoted(thread)), so it must be a group"
    case .memberInTheWay(let user, let why):
      "the record of the member \(quoted(user)) stands against it: \(why)"
    case .outOfOrder(let what): "the instant is earlier than that of the \(what) before"
    case .unknownConversation(let id): "there is no conversation \(quoted(id)) in the settings"
    case .cannotApply(let why): "cannot be applied: \(printable(why))"
    case .rulesChange(let rules): "the rules cannot change; they are \(rules.rawValue)"
    }
  }
}

/// A user's text in quotes, on one line and not too long.
private func quoted(_ text: String) -> String { "\"\(printable(text))\"" }

/// A user's text on one line and not too long.
private func printable(_ text: String, limit: Int = 120) -> String {
  var shown = ""
  for scalar in text.unicodeScalars.prefix(limit) {
    let isControl = scalar.properties.generalCategory == .control || scalar == "\u{2028}"
    shown += isControl ? scalar.escaped(asASCII: true) : String(scalar)
  }
  return text.unicodeScalars.count > limit ? shown + "…" : shown
}
