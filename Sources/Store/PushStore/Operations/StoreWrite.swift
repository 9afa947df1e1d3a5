internal import Foundation
internal import GRDB
internal import PushContent
public import PushModel
public import QuietTime

/// Changes of a store that become durable, and visible, together.
///
/// Handed to the closure of ``SettingsStore/write(at:from:_:)``. When the closure throws, none of
/// its changes is kept.
public struct StoreWrite {
  let queries: SettingsQueries
  /// When the write is made: durations count from here (E-5).
  public let now: Instant
  /// The device that writes; nil for an administrator.
  public let device: Identifier?
  /// Whether settings may name time zones that the system does not have: where they come from another
  /// store, or the caller says so. By default such a name is an error, unless it is stored already.
  public var unknownZones = UnknownZones.fail
  /// What has changed, in order, to be applied to the engine once it is durable.
  var steps: [Step] = []
  /// The last entry that this write has made, and its token; nil before the first.
  private(set) var lastRecorded: (sequence: Int64, token: Int64)?
  /// The number of the first one.
  private(set) var firstRecorded: Int64?

  /// One change.
  enum Step: Sendable {
    /// A record as it is now.
    case record(SettingsRecord)
    case memberRemoved(Identifier, of: Identifier)
    case userRemoved(Identifier)
    case advancedSettingsDeleted
    case conversationRemoved(Identifier)
    case renamed(ErasedID, to: Identifier)
    case imported(Imported)
    case display(Identifier, RecipientDisplay)
    case template(String, PushTemplate?)

    /// Whether decisions may depend on it.
    var isOfEngine: Bool {
      switch self {
      case .display, .template: false
      default: true
      }
    }

    var isLarge: Bool {
      switch self {
      case .imported, .advancedSettingsDeleted: true
      default: false
      }
    }
  }

  /// Records that were imported together.
  struct Imported: Sendable {
    let settings: FanoutSettings
    let content: ContentDirectory?
    let isPartial, replacesApp: Bool
  }

  init(_ queries: SettingsQueries, at now: Instant, from device: Identifier?) {
    self.queries = queries
    self.now = now
    self.device = device
  }

  /// The number of the last entry of the change feed, with those of this write. When the write is
  /// acknowledged, ``SettingsStore/visibleSequence`` has reached it.
  public var sequence: Int64 {
    get throws { try lastRecorded?.sequence ?? queries.lastSequence() }
  }

  // MARK: Reading, with what this write has changed

  /// The app's settings as this write has them.
  public func app() throws -> AppSettings { try queries.app() }

  /// What a user has set; nil for nothing.
  public func user(_ id: Identifier) throws -> UserSettings? { try queries.user(id) }

  /// What is set for a conversation; nil for nothing, as of a group that only members name.
  public func conversation(_ id: Identifier) throws -> ConversationSettings? {
    try queries.conversation(id)
  }

  /// A membership; nil for none.
  public func member(
    _ user: Identifier, of conversation: Identifier
  ) throws -> MemberSettings? {
    try queries.member(user, of: conversation)
  }

  // MARK: Writing

  /// Replaces the app's settings.
  ///
  /// - Throws: ``StoreError/unknownTimeZone(_:)``.
  public mutating func setApp(_ app: AppSettings) throws {
    let before = try queries.app()
    if before.timeZone != app.timeZone { try check(zone: app.timeZone) }
    try queries.write(app)
    steps.append(.record(.app(app)))
    try record(.app, values: ChangedValues(before.words, app.words, isWhole: true))
  }

  /// Replaces the whole settings of a user.
  ///
  /// - Throws: ``StoreError/unknownTimeZone(_:)`` or ``StoreError/idLength(_:)``.
  public mutating func setUser(_ id: Identifier, _ user: UserSettings) throws {
    try set(id, user, [.user], replacing: try queries.user(id))
  }

  /// Changes what a user has set; nothing is set at first.
  public mutating func updateUser(
    _ id: Identifier, _ changes: Change..., body: (inout UserSettings) throws -> Void
  ) throws {
    let before = try queries.user(id)
    var user = before ?? UserSettings()
    try body(&user)
    try set(id, user, changes, replacing: before)
  }

  /// - Parameters:
  ///   - before: what is stored; nil for nothing.
  ///   - values: what the entries say; nil for what differs.
  mutating func set(
    _ id: Identifier, _ user: UserSettings, _ changes: [Change], replacing before: UserSettings?,
    values: ChangedValues? = nil
  ) throws {
    try check(id)
    try check(zonesOf: user, id)
    try check(devices: user.devices)
    try queries.write(id, user)
    steps.append(.record(.user(id, user)))
    let rules = try queries.rules()
    // Nothing changes without an entry: snapshots are brought up to date by them.
    for change in changes.isEmpty ? [.user] : changes {
      let isWhole = change == .user
      let old = isWhole ? before : before ?? UserSettings()
      try record(
        change, user: id,
        values: values
          ?? ChangedValues(
            old?.words(change, rules), user.words(change, rules), isWhole: isWhole))
    }
  }

  /// Replaces the whole settings of a conversation; its members stay.
  public mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings, change: Change = .conversation,
    channel: Identifier? = nil
  ) throws {
    try check(id)
    if let parent = settings.parent { try check(parent) }
    for channel in settings.channels.keys { try check(channel, canBeEmpty: true) }
    let before = try queries.conversation(id)
    try queries.write(id, settings)
    steps.append(.record(.conversation(id, settings)))
    try record(
      change, conversation: id, channel: channel,
      values: ChangedValues(of: change, channel, before, settings, try queries.rules()))
  }

  /// Replaces the whole membership of a user in a conversation.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) throws {
    try set(
      user, conversation, member, [.member], channel: nil,
      replacing: try queries.storedMember(user, of: conversation))
  }

  /// Makes a user a member of a conversation; one who is a member keeps what is set.
  ///
  /// - Throws: ``StoreError/unknownConversation(_:)``, or ``StoreError/wrongKind(_:_:)`` for a thread,
  ///   whose members are its parent's.
  public mutating func addMember(_ user: Identifier, of conversation: Identifier) throws {
    guard let settings = try queries.conversation(conversation) else {
      throw StoreError.unknownConversation(conversation)
    }
    guard settings.kind != .thread else { throw StoreError.wrongKind(conversation, .thread) }
    if try queries.member(user, of: conversation) == nil { try setMember(user, of: conversation) }
  }

  /// Changes a membership.
  ///
  /// - Throws: ``StoreError/notAMember(user:conversation:)``.
  public mutating func updateMember(
    _ user: Identifier, of conversation: Identifier, _ changes: Change...,
    channel: Identifier? = nil, body: (inout MemberSettings) throws -> Void
  ) throws {
    guard let stored = try queries.storedMember(user, of: conversation) else {
      throw StoreError.notAMember(user: user, conversation: conversation)
    }
    var member = stored.settings
    try body(&member)
    try set(user, conversation, member, changes, channel: channel, replacing: stored)
  }

  mutating func set(
    _ user: Identifier, _ conversation: Identifier, _ member: MemberSettings, _ changes: [Change],
    channel: Identifier?, replacing stored: StoredMember?
  ) throws {
    try check(user)
    try check(conversation)
    for channel in member.channels.keys { try check(channel, canBeEmpty: true) }
    try queries.write(user, of: conversation, member, replacing: stored)
    steps.append(.record(.member(user, of: conversation, member)))
    let rules = try queries.rules()
    for change in changes.isEmpty ? [.member] : changes {
      try record(
        change, user: user, conversation: conversation, channel: channel,
        values: ChangedValues(of: change, channel, stored?.settings, member, rules))
    }
  }

  /// Ends a membership, with all that was set for it and, of a group, in its threads:
  /// only members of the group have settings there.
  ///
  /// - Throws: ``StoreError/notAMember(user:conversation:)``.
  public mutating func removeMember(_ user: Identifier, of conversation: Identifier) throws {
    guard try queries.member(user, of: conversation) != nil else {
      throw StoreError.notAMember(user: user, conversation: conversation)
    }
    let rules = try queries.rules()
    for id in [conversation] + (try queries.threads(of: conversation)) {
      guard let member = try queries.member(user, of: id) else { continue }
      try remove(user, of: id, member, rules)
    }
  }

  /// Ends a membership, and none of threads.
  mutating func remove(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings, _ rules: RuleSet
  ) throws {
    try queries.remove(user, of: conversation)
    steps.append(.memberRemoved(user, of: conversation))
    try record(
      .memberRemoved, user: user, conversation: conversation,
      values: ChangedValues(of: .member, nil, member, nil, rules))
  }

  // MARK: Checks and the feed

  func check(_ id: Identifier, canBeEmpty: Bool = false) throws {
    let count = id.text.utf8.count
    guard count <= SettingsStore.idLimit, canBeEmpty || count > 0 else {
      throw StoreError.idLength(count)
    }
  }

  func check(devices: [Device]?) throws {
    for device in devices ?? [] {
      try check(device.id)
      if let notifier = device.notifier { try check(notifier, canBeEmpty: true) }
    }
  }

  /// Checks the zones of a user's settings. One that the system does not have may stay, as it was
  /// accepted once.
  func check(zonesOf user: UserSettings, _ id: Identifier) throws {
    for zone in [user.timeZone, user.quietHours?.timeZone] {
      do { try check(zone: zone) } catch StoreError.unknownTimeZone(let name) {
        let stored = try queries.user(id)
        guard stored?.timeZone == name || stored?.quietHours?.timeZone == name else {
          throw StoreError.unknownTimeZone(name)
        }
      }
    }
  }

  func check(zone: String?) throws {
    guard let zone else { return }
    do throws(ZoneDataError) {
      _ = try ZoneTable(named: zone)
    } catch .unknownName(let name) {
      if unknownZones != .fail { return }
      throw StoreError.unknownTimeZone(name)
    } catch {
      throw StoreError.timeZoneData(error)
    }
  }

  mutating func record(
    _ change: Change, user: Identifier? = nil, conversation: Identifier? = nil,
    channel: Identifier? = nil, byDevice: Bool = true, values: ChangedValues = ChangedValues()
  ) throws {
    if let channel { try check(channel, canBeEmpty: true) }
    var insert = try RepeatedStatement(
      cached: """
        INSERT INTO feed (at, change, user, conversation, channel, device, token, old, new)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """, queries.db)
    try insert.bind(now.milliseconds)
    try insert.bind(text: change.rawValue)
    try insert.bind(user)
    try insert.bind(conversation)
    try insert.bind(channel)
    try insert.bind(byDevice ? device : nil)
    let token = Int64.random(in: .min ... .max)
    try insert.bind(token)
    try insert.bind(text: values.old)
    try insert.bind(text: values.new)
    try insert.run()
    lastRecorded = (queries.db.lastInsertedRowID, token)
    firstRecorded = firstRecorded ?? queries.db.lastInsertedRowID
  }
}
