public import PushFanout
public import PushModel
public import QuietTime

/// How files of messages are read: how CSV is written that comes from elsewhere, and which messages
/// count.
///
/// - Source: formats.md, "Bring your own data".
public struct MessageOptions: Sendable {
  /// What stands between the cells of CSV: ASCII, no quote, and no end of a line. If it is no comma,
  /// items of a list may be separated by commas too, and blanks around them are dropped.
  public var delimiter = UInt8(ascii: ",")
  /// The names that a CSV file has for columns; nil for those of the format.
  public var columns: ColumnNames?
  /// The zone of local times in CSV; nil where every instant has its offset.
  public var zone: ZoneTable?
  /// Which messages are read.
  public var slice = MessageSlice()

  /// What the format says, and all messages.
  public init() {}

  var layout: CSVLayout {
    var layout = MessageColumns.layout
    (layout.delimiter, layout.names) = (delimiter, columns)
    return layout
  }
}

/// How the cells of a row are written.
///
/// A class, as what it has is looked at for few rows, and handed on with each.
final class CellForm: Sendable {
  /// What stands between cells.
  let delimiter: UInt8
  /// That of local times; nil where there may be none.
  let zone: ZoneTable?

  init(_ options: MessageOptions) {
    delimiter = options.delimiter
    zone = options.zone
  }
}

/// Which is meant by a local time that occurs twice, as clocks are put back.
///
/// - Source: formats.md, "Bring your own data".
enum RepeatedTime {
  /// The first.
  case first
  /// The first that is not before an instant, the one of the row before; if both are, the first.
  case notBefore(Instant)
  /// The last that is not after an instant; if both are, the first.
  case notAfter(Instant)

  /// - Parameters:
  ///   - local: the wall clock's time.
  ///   - first: the first second at which it shows that.
  func second(
    of local: (seconds: Int64, milliseconds: Int64), from first: Int64, in zone: ZoneTable
  ) -> Int64 {
    let isBefore: (Int64, Instant) -> Bool = { second, instant in
      second * 1000 + local.milliseconds < instant.milliseconds
    }
    if case .first = self { return first }
    if case .notBefore(let instant) = self, !isBefore(first, instant) { return first }
    guard let second = zone.firstSecond(ofLocal: local.seconds, from: first + 1) else {
      return first
    }
    switch self {
    case .first: return first
    case .notBefore(let instant): return isBefore(second, instant) ? first : second
    case .notAfter(let instant):
      let isAfter = second * 1000 + local.milliseconds > instant.milliseconds
      return isAfter ? first : second
    }
  }
}

/// Which messages are read, and for whom they are decided; all of them for everyone unless it says
/// less.
///
/// - Source: replay.md, "Slices".
public struct MessageSlice: Sendable {
  /// The first instant of messages.
  public var from: Instant?
  /// The first instant behind them.
  public var to: Instant?
  /// The conversations of the messages; none for all.
  public var conversations: Set<Identifier> = []
  /// The users for whom they are decided; none for all.
  public var users: Set<Identifier> = []

  /// All messages, for everyone.
  public init() {}

  /// Whether all messages are read.
  var takesAll: Bool { from == nil && to == nil && conversations.isEmpty }

  /// Whether a message counts.
  public func takes(_ message: Message) -> Bool {
    if let from, message.at < from { return false }
    if let to, message.at >= to { return false }
    return conversations.isEmpty || conversations.contains(message.conversation)
  }

  /// Whether a change of settings counts: not that of a member who is not decided for.
  public func takes(_ record: SettingsRecord) -> Bool {
    guard !users.isEmpty, case .member(let user, _, _, _) = record else { return true }
    return users.contains(user)
  }

  // MARK: Users

  /// When the membership of a user begins who is not decided for: never.
  private static let never = Instant(milliseconds: Instant.maximumMilliseconds)

  /// Decides for ``users`` alone: the memberships of all others stay, so that rooms keep their
  /// sizes, and never begin.
  ///
  /// - Parameter mayCome: whether changes of settings may make users and conversations that do not
  ///   exist yet.
  /// - Throws: ``FanoutError/unknownUser(_:)`` or ``FanoutError/unknownConversation(_:)``.
  /// - Complexity: O(memberships), each O(log members); none without users.
  public func apply(to fanout: Fanout, mayCome: Bool = false) throws(FanoutError) {
    if !mayCome {
      try check(user: { fanout.user($0) != nil }, conversation: { fanout.conversation($0) != nil })
    }
    if users.isEmpty { return }
    var others: [(user: Identifier, conversation: Identifier)] = []
    let version = fanout.currentVersion
    version.forEachConversation { id, conversation in
      // The recipients of a thread are its parent's.
      guard conversation.kind != .thread else { return }
      version.forEachMember(of: id) { user, _ in
        if !users.contains(user) { others.append((user, id)) }
      }
    }
    try fanout.update { (update) throws(FanoutError) in
      for (user, conversation) in others {
        try update.updateMember(user, of: conversation) { $0.since = Self.never }
      }
    }
  }

  /// The same of settings that are values.
  ///
  /// - Throws: as ``apply(to:mayCome:)``.
  public func apply(to settings: inout FanoutSettings) throws(FanoutError) {
    try check(
      user: { settings.index(of: $0) != nil }, conversation: { settings.conversation($0) != nil })
    if users.isEmpty { return }
    for conversation in settings.conversationIDs
    where settings.conversation(conversation)?.kind != .thread {
      for index in settings.members(of: conversation) {
        let user = settings.id(of: index)
        guard !users.contains(user), var member = settings.member(index, of: conversation) else {
          continue
        }
        member.since = Self.never
        settings.setMember(user, of: conversation, member)
      }
    }
  }

  private func check(
    user isUser: (Identifier) -> Bool, conversation isConversation: (Identifier) -> Bool
  ) throws(FanoutError) {
    let users = users.filter { !isUser($0) }
    if let first = users.min(by: { $0.text < $1.text }) { throw .unknownUser(first) }
    let conversations = conversations.filter { !isConversation($0) }
    if let first = conversations.min(by: { $0.text < $1.text }) {
      throw .unknownConversation(first)
    }
  }
}
