public import PushModel
internal import PushSupport

/// Something in a file that is allowed, and probably a mistake.
///
/// Printed it is one line, `FILE:LINE: warning: what it is`.
public struct FileWarning: Hashable, Sendable, CustomStringConvertible {
  /// What kind of mistake it may be.
  public enum Kind: Hashable, Sendable {
    /// An instant before 2000, or more than ten years ahead.
    case instant
    /// Senders, mentioned users or conversations that the settings do not have.
    case unknown
    /// A list in which something else separates the users.
    case list
    /// Messages that are not in the order of time.
    case order
    /// Ids that a spreadsheet has rounded.
    case rounded
  }

  /// The path of the file.
  public let file: String
  /// The 1-based line; nil for what is counted.
  public let line: Int?
  /// What kind of mistake it may be.
  public let kind: Kind
  /// What it is.
  public let text: String

  public var description: String {
    "\(file):" + (line.map { "\($0):" } ?? "") + " warning: \(text)"
  }
}

/// Ids that settings do not have, in records that name them.
public struct UnknownNames: Sendable {
  /// So many are named.
  private static let limit = 3

  /// How many records name one.
  public private(set) var recordCount = 0
  private var first: [(id: Identifier, line: Int)] = []
  private var ids: Set<Identifier> = []

  /// None.
  public init() {}

  /// Notes a record that names one.
  public mutating func add(_ id: Identifier, line: Int) {
    recordCount += 1
    if ids.insert(id).inserted, first.count < Self.limit { first.append((id, line)) }
  }

  /// Forgets those that are known after all.
  mutating func remove(_ isKnown: (Identifier) -> Bool) {
    ids = ids.filter { !isKnown($0) }
    first.removeAll { isKnown($0.id) }
  }

  /// How many there are.
  public var count: Int { ids.count }

  /// Of conversations of messages, in a line.
  public var note: String {
    "\(recordCount.counted("message")) to unknown conversations: \(text)"
  }

  /// The first three with their lines, and how many more there are.
  public var text: String {
    let named = first.map { "\(printable($0.id.text)) (line \($0.line))" }.joined(separator: ", ")
    let rest = ids.count - first.count
    return rest > 0 ? named + " and \(rest.grouped) more" : named
  }
}

/// Finds what is allowed in files and probably a mistake.
struct WarningFinder {
  private static let year2000 = Instant(milliseconds: 946_684_800_000)
  private static let tenYears: Int64 = 10 * 366 * 86_400_000

  /// The last instant that is not too far ahead; nil for any.
  private let latest: Instant?
  private(set) var found: [FileWarning] = []

  init(_ now: Instant?) {
    latest = now.map { Instant(milliseconds: $0.milliseconds + Self.tenYears) }
  }

  mutating func add(_ kind: FileWarning.Kind, _ file: String, _ line: Int? = nil, _ text: String) {
    found.append(FileWarning(file: file, line: line, kind: kind, text: text))
  }

  /// Warns of ids like `1.23457E+18`.
  mutating func add(rounded ids: Set<Identifier>, _ file: String) {
    guard let first = ids.min(by: { $0.text < $1.text }) else { return }
    let more = ids.count > 1 ? " and \((ids.count - 1).grouped) more" : ""
    add(
      .rounded, file, nil,
      "\(first.text)\(more): a spreadsheet has rounded such ids, so that several are one; export "
        + "them as text")
  }

  // MARK: Instants

  /// Looks at the instant of a record.
  mutating func note(_ instant: Instant, _ field: String, _ file: String, line: Int) {
    if let text = doubt(instant) { add(.instant, file, line, "\"\(field)\": \(text)") }
  }

  /// What is doubtful about an instant; nil for nothing.
  private func doubt(_ instant: Instant) -> String? {
    let number = instant.milliseconds
    if instant < Self.year2000 {
      return "\(number) is \(instant.day)"
        + (likely(number * 1000, "seconds")
          ?? WrittenDate.excelDay(number).map { "; Excel's day \(number) is \($0)" }
          ?? ", before 2000")
    }
    guard let latest, instant > latest else { return nil }
    return "\(number) is \(instant.day)"
      + (likely(number / 1000, "microseconds") ?? ", more than ten years ahead")
  }

  private func likely(_ milliseconds: Int64, _ unit: String) -> String? {
    let instant = Instant(milliseconds: milliseconds)
    guard instant >= Self.year2000, instant <= latest ?? instant else { return nil }
    return "; are these \(unit)? \(milliseconds) is \(instant.day)"
  }

  /// Mutes that ended before 2000, and memberships that began before.
  ///
  /// - Parameter files: the names of those that users and memberships may be in.
  mutating func note(
    _ settings: FanoutSettings, files: (users: [String], memberships: [String])
  ) {
    var mutes = EarlyInstants()
    for ordinal in 0..<UInt32(settings.userCount) {
      mutes.add(settings.user(UserIndex(ordinal)).mutedUntil) {
        printable(settings.id(of: UserIndex(ordinal)).text)
      }
    }
    add(mutes, "mutedUntil", files.users)
    mutes = EarlyInstants()
    var starts = EarlyInstants()
    for id in settings.conversationIDs {
      settings.forEachMember(of: id) { user, member in
        let name = { "\(printable(settings.id(of: user).text)) in \(printable(id.text))" }
        mutes.add(member.mutedUntil, name)
        starts.add(member.since, name)
      }
    }
    let users = (0..<UInt32(settings.userCount)).map { settings.id(of: UserIndex($0)) }
    add(
      rounded: Set(users.filter(\.isRounded)), files.users.count == 1 ? files.users[0] : "settings")
    add(
      rounded: Set(settings.conversationIDs.filter(\.isRounded)),
      files.memberships.count == 1 ? files.memberships[0] : "settings")
    add(mutes, "mutedUntil", files.memberships)
    add(starts, "since", files.memberships)
  }

  /// Instants before 2000 in records whose lines are not known any more.
  private struct EarlyInstants {
    var first: Instant?
    var count = 0
    var names: [String] = []

    mutating func add(_ instant: Instant, _ name: () -> String) {
      guard instant > .zero, instant < year2000 else { return }
      first = first ?? instant
      count += 1
      if names.count < 3 { names.append(name()) }
    }
  }

  private mutating func add(_ early: EarlyInstants, _ field: String, _ paths: [String]) {
    guard let doubt = early.first.flatMap(doubt) else { return }
    let more = early.count > 3 ? " and \((early.count - 3).grouped) more" : ""
    add(
      .instant, paths.count == 1 ? paths[0] : "settings", nil,
      "\"\(field)\": \(doubt) (\(early.names.joined(separator: ", "))\(more))")
  }
}

/// Finds what is doubtful about a file of messages.
struct MessageWarnings {
  private let path: String
  /// nil where none are given.
  private let settings: FanoutSettings?
  private let ignoresCase: Bool
  /// Users by their lower case, where case is ignored and it differs.
  private var lowered: Set<Identifier>?
  private var senders = UnknownNames()
  private var mentioned = UnknownNames()
  private var conversations = UnknownNames()
  private var rounded: Set<Identifier> = []
  private var last: Instant?
  /// The first message that is earlier than the one before, and how many there are.
  private var early: (line: Int, count: Int)?

  init(_ path: String, _ settings: FanoutSettings?) {
    self.path = path
    self.settings = settings
    ignoresCase =
      settings.map {
        $0.app.rules.fields.contains(.ext) && $0.app.easemob.atListIDCase == .insensitive
      } ?? false
  }

  mutating func note(_ message: Message, line: Int, _ finder: inout WarningFinder) {
    finder.note(message.at, "at", path, line: line)
    if let sentAt = message.sentAt { finder.note(sentAt, "sentAt", path, line: line) }
    if let last, message.at < last { early = (early?.line ?? line, (early?.count ?? 0) + 1) }
    last = message.at
    for id in [message.id, message.conversation, message.sender ?? message.id]
    where id.isRounded {
      rounded.insert(id)
    }
    guard let settings else { return }
    if settings.conversation(message.conversation) == nil {
      conversations.add(message.conversation, line: line)
    }
    if let sender = message.sender, settings.index(of: sender) == nil {
      senders.add(sender, line: line)
    }
    for id in message.mentions ?? [] where !isKnown(id) { note(mention: id, line, &finder) }
    if case .ids(let ids) = message.ext.atList {
      for id in ids where !isKnown(id) { note(mention: id, line, &finder) }
    }
  }

  private mutating func isKnown(_ id: Identifier) -> Bool {
    guard let settings else { return true }
    if settings.index(of: id) != nil { return true }
    guard ignoresCase else { return false }
    if lowered == nil {
      let ordinals = 0..<UInt32(settings.userCount)
      lowered = Set(ordinals.map { settings.id(of: UserIndex($0)).lowercased() })
    }
    return lowered?.contains(id.lowercased()) ?? false
  }

  private mutating func note(mention id: Identifier, _ line: Int, _ finder: inout WarningFinder) {
    let shown = "\"mentions\": \"\(printable(id.text))\""
    let parts = id.text.split(separator: ",").map { Identifier(Self.trimmed($0)) }
    if parts.count > 1, parts.contains(where: { isKnown($0) }) {
      let advice =
        FileKind(path: path) == .csv ? "lists are separated by ;" : "lists are arrays of strings"
      finder.add(
        .list, path, line,
        "\(shown) is one user, whom the settings do not have; \(advice)")
    } else if parts.count == 1, parts[0] != id, isKnown(parts[0]) {
      finder.add(
        .list, path, line,
        "\(shown) with a blank is not \"\(printable(parts[0].text))\"")
    } else {
      mentioned.add(id, line: line)
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    let blanks: Set<Character> = [" ", "\t"]
    return String(
      text.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed())
  }

  /// At the end of the file.
  ///
  /// - Parameter changes: what changes of settings name.
  mutating func finish(_ changes: ChangedNames, _ finder: inout WarningFinder) {
    conversations.remove { changes.conversations.contains($0) }
    senders.remove { changes.users.contains($0) }
    mentioned.remove { changes.users.contains($0) }
    for (names, one, several) in [
      (conversations, "conversation", "conversations"), (senders, "sender", "senders"),
      (mentioned, "mentioned user", "mentioned users"),
    ] where names.count > 0 {
      finder.add(
        .unknown, path, nil,
        "\(names.count.grouped) \(names.count == 1 ? one : several) that the settings do not have: "
          + names.text)
    }
    finder.add(rounded: rounded, path)
    guard let early else { return }
    finder.add(
      .order, path, early.line,
      "the instant is earlier than that of the message before"
        + (early.count > 2
          ? "; so are \((early.count - 1).grouped) later ones"
          : early.count == 2 ? "; so is 1 later one" : ""))
  }
}

/// What changes of settings make or change.
struct ChangedNames {
  var conversations: Set<Identifier> = []
  var users: Set<Identifier> = []
}

extension Identifier {
  /// Whether it is a number as spreadsheets write one that is too long for them: `1.23457E+18`.
  fileprivate var isRounded: Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "E"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].first == UInt8(ascii: "+"), parts[1].count > 2 else {
      return false
    }
    let digits = (UInt8(ascii: "0")...UInt8(ascii: "9"))
    return parts[1].dropFirst().allSatisfy(digits.contains)
      && parts[0].first.map(digits.contains) == true
      && parts[0].allSatisfy {
        digits.contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",")
      }
  }
}
