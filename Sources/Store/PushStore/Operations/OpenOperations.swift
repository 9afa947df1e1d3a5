public import PushModel

/// Which of a user's lists of senders. The raw value is its name in files, less `Senders`.
public enum SenderList: String, CaseIterable, Sendable, Codable {
  /// Those whose messages are of the class `sender` (O-1).
  case important
  /// Those whose messages never push.
  case blocked
}

/// Settings operations of open rules.
///
/// All throw ``StoreError/otherRules(_:)`` under a vendor's rules, and then, or when they throw
/// anything else, nothing has changed. Only a real change is written and announced. A user never
/// declared is made; a conversation throws as ``StoreWrite/change(_:in:channel:_:)`` says:
/// ``StoreError/unknownConversation(_:)``, ``StoreError/wrongKind(_:_:)`` or
/// ``StoreError/notAMember(user:conversation:)``.
///
/// - Complexity: O(devices, keywords and senders) to write a user, O(roles) to write a member.
extension StoreWrite {
  // MARK: Levels and mutes

  private static func level(_ classes: MessageClasses?) -> NotificationLevel {
    classes.map { NotificationLevel($0) } ?? .unset
  }

  /// Writes a user's own level, or that of a conversation or thread (O-3).
  ///
  /// - Parameters:
  ///   - classes: what may notify; nil for unset, so that the next scope decides.
  ///   - conversation: nil for the user's own.
  public mutating func setLevel(
    _ classes: MessageClasses?, of user: Identifier, in conversation: Identifier? = nil
  ) throws {
    try queries.require(.open)
    let level = Self.level(classes)
    if let conversation {
      try change(user, in: conversation) { $0.level = level }
    } else {
      try change(user) { $0.level = level }
    }
  }

  /// Writes the level of a group or private conversation, for those who have set none (O-3).
  ///
  /// - Parameter classes: what may notify; nil for unset, so that the app's decides.
  /// - Throws: ``StoreError/unknownConversation(_:)``, or ``StoreError/wrongKind(_:_:)`` for another
  ///   kind.
  public mutating func setDefaultLevel(
    _ classes: MessageClasses?, of conversation: Identifier
  ) throws {
    try queries.require(.open)
    var settings = try queries.conversationWithLevel(conversation)
    let level = Self.level(classes)
    guard settings.level != level else { return }
    settings.level = level
    try setConversation(conversation, settings, change: .groupDefault)
  }

  /// Writes the app's level, the last that is looked at (O-3).
  ///
  /// - Parameter classes: what may notify; nil for unset, which lets everything through.
  public mutating func setAppLevel(_ classes: MessageClasses?) throws {
    try queries.require(.open)
    var app = try queries.app()
    let level = Self.level(classes)
    guard app.level != level else { return }
    app.level = level
    try setApp(app)
  }

  /// Mutes a user, a conversation or a thread until an instant (O-10).
  ///
  /// - Parameters:
  ///   - end: the first instant after it; zero for no mute.
  ///   - conversation: nil for the user's own.
  public mutating func mute(
    until end: Instant, _ user: Identifier, in conversation: Identifier? = nil
  ) throws {
    try queries.require(.open)
    if let conversation {
      try change(user, in: conversation) { $0.mutedUntil = end }
    } else {
      try change(user) { $0.mutedUntil = end }
    }
  }

  /// Writes what passes every mute of a user (O-13).
  public mutating func setMutedAllow(_ classes: MessageClasses, of user: Identifier) throws {
    try queries.require(.open)
    try change(user) { $0.mutedAllow = classes }
  }

  /// Writes whether a message with `force` passes a user's mutes and quiet windows (O-40).
  public mutating func setAllowForce(_ isOn: Bool, of user: Identifier) throws {
    try queries.require(.open)
    try change(user) { $0.allowForce = isOn }
  }

  // MARK: Quiet windows

  /// Adds a window at the end of a user's. One who has set none has this one alone, and no longer the
  /// app's (O-11).
  ///
  /// - Throws: ``SettingsWriteError/tooMany(_:_:limit:)``.
  public mutating func addQuietWindow(
    _ window: QuietWindows.Window, of user: Identifier
  ) throws {
    try queries.require(.open)
    try change(user) { settings in
      settings.quietHours = .windows(try QuietWindows(settings.quietWindows + [window]))
    }
  }

  /// Removes a window; a user without any has none, not the app's.
  ///
  /// - Parameter position: its place in the list, 1 being the first.
  /// - Throws: ``StoreError/unknownWindow(user:position:)``.
  public mutating func removeQuietWindow(at position: Int, of user: Identifier) throws {
    try queries.require(.open)
    try change(user) { settings in
      var windows = settings.quietWindows
      guard windows.indices.contains(position - 1) else {
        throw StoreError.unknownWindow(user: user, position: position)
      }
      windows.remove(at: position - 1)
      settings.quietHours = .windows(try QuietWindows(windows))
    }
  }

  /// Removes all of a user's windows.
  ///
  /// - Parameter keepsNone: whether the user then has none at all; otherwise the app's count (O-11).
  public mutating func clearQuietWindows(
    of user: Identifier, keepsNone: Bool = false
  ) throws {
    try queries.require(.open)
    try change(user) { $0.quietHours = keepsNone ? .windows(.none) : nil }
  }

  // MARK: Keywords and senders

  /// Adds a keyword, if the user does not have it.
  ///
  /// - Throws: ``SettingsWriteError`` for one that may not be (O-14), and for too many.
  public mutating func addKeyword(_ keyword: String, of user: Identifier) throws {
    try queries.require(.open)
    try change(user) { settings in
      if settings.keywords.contains(keyword) { return }
      try settings.setKeywords(settings.keywords + [keyword])
    }
  }

  /// Removes a keyword, if the user has it.
  public mutating func removeKeyword(_ keyword: String, of user: Identifier) throws {
    try queries.require(.open)
    try change(user) { $0.keywords.removeAll { $0 == keyword } }
  }

  /// Adds a sender to one of a user's lists, if it is not there.
  ///
  /// - Throws: ``SettingsWriteError/importantAndBlocked(_:)`` for one of the other list (O-15), or
  ///   for too many; ``StoreError/idLength(_:)``.
  public mutating func addSender(
    _ other: Identifier, to list: SenderList, of user: Identifier
  ) throws {
    try queries.require(.open)
    try check(other)
    try change(user) { settings in
      var (important, blocked) = (settings.importantSenders, settings.blockedSenders)
      switch list {
      case .important where !important.contains(other): important.append(other)
      case .blocked where !blocked.contains(other): blocked.append(other)
      default: return
      }
      try settings.setSenders(important: important, blocked: blocked)
    }
  }

  /// Removes a sender from one of a user's lists, if it is there.
  public mutating func removeSender(
    _ other: Identifier, from list: SenderList, of user: Identifier
  ) throws {
    try queries.require(.open)
    try change(user) { settings in
      switch list {
      case .important: settings.importantSenders.removeAll { $0 == other }
      case .blocked: settings.blockedSenders.removeAll { $0 == other }
      }
    }
  }

  // MARK: Memberships

  /// Writes whether a conversation or thread skips the user's mute and quiet windows (O-41).
  public mutating func setImportant(
    _ isOn: Bool, of user: Identifier, in conversation: Identifier
  ) throws {
    try queries.require(.open)
    try change(user, in: conversation) { $0.isImportant = isOn }
  }

  /// Writes whether a user follows a thread; nil for not written, which means yes where the user has
  /// other settings in the thread (O-1, O-41).
  ///
  /// - Throws: ``StoreError/wrongKind(_:_:)`` for another conversation than a thread.
  public mutating func setFollow(
    _ isOn: Bool?, of user: Identifier, in thread: Identifier
  ) throws {
    try queries.require(.open)
    if let kind = try queries.kind(of: thread)?.kind, kind != .thread {
      throw StoreError.wrongKind(thread, kind)
    }
    try change(user, in: thread) { $0.isFollowing = isOn }
  }

  /// Writes a member's roles (O-10).
  ///
  /// - Throws: ``SettingsWriteError`` for roles that may not be; ``StoreError/wrongKind(_:_:)`` for a
  ///   thread, in which those of its parent count.
  public mutating func setRoles(
    _ roles: [Identifier], of user: Identifier, in conversation: Identifier
  ) throws {
    try queries.require(.open)
    if try queries.kind(of: conversation)?.kind == .thread {
      throw StoreError.wrongKind(conversation, .thread)
    }
    try change(user, in: conversation) { try $0.setRoles(roles) }
  }
}

extension UserSettings {
  fileprivate var quietWindows: [QuietWindows.Window] {
    guard case .windows(let windows) = quietHours else { return [] }
    return windows.windows
  }
}

extension SettingsStore {
  /// What a user has set; nothing for one who is not known.
  ///
  /// - Throws: ``StoreError/otherRules(_:)``.
  public func openSettings(of user: Identifier) throws -> UserSettings {
    try read { queries in
      try queries.require(.open)
      return try queries.user(user) ?? UserSettings()
    }
  }

  /// What a user has set for a conversation or thread, and the user's roles there.
  ///
  /// - Throws: as the writes.
  public func openSettings(
    of user: Identifier, in conversation: Identifier
  ) throws -> MemberSettings {
    try read { queries in
      try queries.require(.open)
      return try queries.ownSettings(of: user, in: conversation)
    }
  }

  /// The level of a group or private conversation, or of the app; nil for unset.
  ///
  /// - Parameter conversation: nil for the app's.
  /// - Throws: as the writes.
  public func openDefaultLevel(of conversation: Identifier?) throws -> MessageClasses? {
    try read { queries in
      try queries.require(.open)
      let level =
        try conversation.map { try queries.conversationWithLevel($0).level }
        ?? queries.app().level
      return level.isSet ? level.mask : nil
    }
  }
}

extension SettingsQueries {
  fileprivate func conversationWithLevel(_ id: Identifier) throws -> ConversationSettings {
    guard let settings = try conversation(id) else { throw StoreError.unknownConversation(id) }
    guard settings.kind == .group || settings.kind == .private else {
      throw StoreError.wrongKind(id, settings.kind)
    }
    return settings
  }
}

extension SettingsOperation {
  /// Applies an operation of open rules.
  ///
  /// - Returns: whether it is one.
  func applyOpen(to write: inout StoreWrite) throws -> Bool {
    switch self {
    case .setLevel(let user, let conversation, let level):
      try write.setLevel(level, of: user, in: conversation)
    case .setDefaultLevel(let conversation, let level):
      try write.setDefaultLevel(level, of: conversation)
    case .setAppLevel(let level): try write.setAppLevel(level)
    case .muteUntil(let user, let conversation, let end):
      try write.mute(until: end, user, in: conversation)
    case .setMutedAllow(let user, let allow): try write.setMutedAllow(allow, of: user)
    case .setAllowForce(let user, let isOn): try write.setAllowForce(isOn, of: user)
    case .addQuietWindow(let user, let days, let start, let end, let allow):
      let window = try QuietWindows.Window(
        days: days.map { try QuietWindows.Window.days($0) } ?? QuietWindows.Window.everyDay,
        start: start, end: end, allow: allow ?? [])
      try write.addQuietWindow(window, of: user)
    case .removeQuietWindow(let user, let position):
      try write.removeQuietWindow(at: Int(position), of: user)
    case .clearQuietWindows(let user, let keepsNone):
      try write.clearQuietWindows(of: user, keepsNone: keepsNone ?? false)
    case .addKeyword(let user, let keyword): try write.addKeyword(keyword, of: user)
    case .removeKeyword(let user, let keyword): try write.removeKeyword(keyword, of: user)
    case .addSender(let user, let other, let list):
      try write.addSender(other, to: list, of: user)
    case .removeSender(let user, let other, let list):
      try write.removeSender(other, from: list, of: user)
    case .setImportant(let user, let conversation, let isOn):
      try write.setImportant(isOn, of: user, in: conversation)
    case .setFollow(let user, let conversation, let follow):
      try write.setFollow(follow, of: user, in: conversation)
    case .setRoles(let user, let conversation, let roles):
      try write.setRoles(roles, of: user, in: conversation)
    default: return false
    }
    return true
  }
}

extension Instant: Codable {
  /// Milliseconds since 1970.
  public init(from decoder: any Decoder) throws {
    let milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    guard let instant = Instant(exactMilliseconds: milliseconds) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(milliseconds) is no instant"))
    }
    self = instant
  }

  /// Milliseconds since 1970.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

extension MessageClasses: Codable {
  /// A word, or a list of names.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let word = try? container.decode(String.self) {
      guard let classes = MessageClasses(word: word) else {
        throw SettingsWriteError.unknownClass(word)
      }
      self = classes
    } else {
      self = try MessageClasses(names: try container.decode([String].self))
    }
  }

  /// Its word where it has one, otherwise the names.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let word { try container.encode(word) } else { try container.encode(names) }
  }
}
