internal import Foundation
internal import GRDB
public import PushContent
internal import PushFanout
public import PushModel
internal import QuietTime

extension StoreWrite {
  /// Adds many records at once; an existing one with the same key is replaced whole, as in files. A
  /// partial record keeps the fields that it does not have.
  ///
  /// The change feed gets one entry, ``Change/imported``, which concerns all users.
  ///
  /// - Parameters:
  ///   - settings: the records. Its app's rules must be those of the store.
  ///   - content: how pushes look by these records, which is replaced with them; nil leaves it.
  ///   - partial: which records are partial; nil for none.
  ///   - replacingApp: whether the app's settings are replaced too.
  ///   - listing: whether the change feed gets an entry for each record, as for single writes,
  ///     instead of ``Change/imported`` for all: then a copy that follows the feed need not be made
  ///     again. Other rules are always an import.
  ///   - progress: called now and then with the share that is written, 0...1.
  /// - Throws: ``StoreError/rulesDiffer(store:settings:)``, ``StoreError/idLength(_:)``,
  ///   ``StoreError/unknownTimeZone(_:)``, ``StoreError/contradiction(_:)`` or
  ///   ``SettingsWriteError/badgeOutOfRange(_:)``.
  /// - Complexity: O(records).
  public mutating func add(
    _ settings: FanoutSettings, content: ContentDirectory? = nil,
    partial: (any PartialRecords)? = nil, replacingApp: Bool, listing: Bool = false,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    let stored = try queries.app().rules
    if stored != settings.app.rules {
      let isEmpty = try !queries.hasRecords()
      guard replacingApp, isEmpty else {
        throw StoreError.rulesDiffer(store: stored, settings: settings.app.rules)
      }
    }
    var settings = settings
    try partial?.complete(&settings, from: queries)
    let isListed = listing && stored == settings.app.rules
    let before = isListed ? try RecordWords(of: settings, replacingApp, in: queries) : nil
    try write(settings, nil, replacingApp, progress)
    try ImportValidator(queries: queries, settings: settings).check()
    if let content {
      try queries.write(
        content, for: settings, isPartial: { partial?.isPartial($0, in: settings) ?? false },
        isPartialMember: { partial?.isPartial($0, of: $1, in: settings) ?? false })
    }
    steps.append(
      .imported(
        Imported(
          settings: settings, content: content, isPartial: partial != nil,
          replacesApp: replacingApp)))
    guard let before else { return try record(.imported) }
    let after = try RecordWords(of: settings, replacingApp, in: queries)
    for (old, new) in zip(before.records, after.records) {
      try record(
        new.change, user: new.user, conversation: new.conversation,
        values: ChangedValues(old.words, new.words, isWhole: true))
    }
  }

  /// Makes the settings equal to others: what differs is replaced whole, what they do not have is
  /// removed, and what is equal stays as it is. Templates stay.
  ///
  /// The change feed gets an entry for each thing that changed, as for single writes.
  ///
  /// - Parameters: as for ``add(_:content:partial:replacingApp:listing:progress:)``.
  /// - Throws: as that does.
  /// - Complexity: O(records), of the store and of the settings, which are both in memory.
  public mutating func replace(
    with settings: FanoutSettings, content: ContentDirectory, replacingApp: Bool,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    let stored = try queries.settings()
    guard stored.app.rules == settings.app.rules else {
      return try add(settings, content: content, replacingApp: replacingApp, progress: progress)
    }
    let words = try queries.contentDirectory()
    try removeMissing(stored, settings)
    let changed = settings.differences(
      from: stored,
      user: { content.user($0) != words.user($0) },
      conversation: { content.name(of: $0) != words.name(of: $0) },
      member: { content.nickname(of: $0, in: $1) != words.nickname(of: $0, in: $1) })
    try add(
      changed, content: content, replacingApp: replacingApp && stored.app != settings.app,
      listing: true, progress: progress)
  }

  /// Removes what is stored and not among other settings. Memberships of what is removed have no
  /// entries of their own.
  private mutating func removeMissing(
    _ stored: FanoutSettings, _ settings: FanoutSettings
  ) throws {
    var wanted = Set(settings.conversationIDs)
    for id in settings.conversationIDs {
      if let parent = settings.conversation(id)?.parent { wanted.insert(parent) }
    }
    for number in 0..<UInt32(stored.userCount) {
      let id = stored.id(of: UserIndex(number))
      if settings.index(of: id) == nil { try removeUser(id) }
    }
    for id in stored.conversationIDs where !wanted.contains(id) {
      // It went with its parent, if that came first.
      if try queries.number(known: id, .conversations) != nil { try removeConversation(id) }
    }
    for id in stored.conversationIDs where wanted.contains(id) {
      for index in stored.members(of: id) {
        let user = stored.id(of: index)
        guard let wanted = settings.index(of: user), settings.member(wanted, of: id) == nil,
          let member = stored.member(index, of: id)
        else { continue }
        try remove(user, of: id, member, stored.app.rules)
      }
    }
  }

  /// Adds all records to a store that is being made; the rules between them were checked before.
  ///
  /// - Parameters: as for ``add(_:content:partial:replacingApp:listing:progress:)``. Without other
  ///   records none is partial.
  mutating func fill(
    _ records: FanoutRecords, _ content: ContentDirectory, progress: @escaping (Double) -> Void
  ) throws {
    // A packed record has no addresses of devices.
    try write(records, content, true, progress)
    try queries.write(
      content, for: records, isPartial: { _ in false }, isPartialMember: { _, _ in false })
    try record(.imported)
  }

  private func write(
    _ records: some SettingsRecords, _ content: ContentDirectory?, _ replacingApp: Bool,
    _ progress: @escaping (Double) -> Void
  ) throws {
    try check(records)
    if replacingApp { try queries.write(records.app) }
    var bulk = BulkImport(queries, records, content, progress)
    try bulk.run()
  }

  private func check(_ settings: some SettingsRecords) throws {
    var zones: Set<String> = []
    if try queries.app().timeZone != settings.app.timeZone {
      try check(zone: settings.app.timeZone)
    }
    for ordinal in 0..<UInt32(settings.userCount) {
      try check(settings.id(of: UserIndex(ordinal)))
      guard settings.isDeclared(UserIndex(ordinal)) else { continue }
      let user = settings.user(UserIndex(ordinal))
      let names = [user.timeZone, user.quietHours?.timeZone].compactMap(\.self)
      for name in names where !zones.contains(name) {
        do {
          try check(zone: name)
          zones.insert(name)
        } catch StoreError.unknownTimeZone {
          try check(zonesOf: user, settings.id(of: UserIndex(ordinal)))
        }
      }
      try check(devices: user.devices)
    }
    for id in settings.conversationIDs {
      try check(id)
      guard let record = settings.conversation(id) else { continue }
      if let parent = record.parent { try check(parent) }
      for channel in record.channels.keys { try check(channel, canBeEmpty: true) }
      guard record.kind == .ultraGroup else { continue }
      try settings.forEachMember(of: id) { _, member in
        for channel in member.channels.keys { try check(channel, canBeEmpty: true) }
      }
    }
  }
}

extension FanoutSettings {
  /// The records that others do not have or have otherwise, and empty ones where these only name what
  /// others set.
  ///
  /// - Parameters:
  ///   - user: whether a user's record differs in what is not here.
  ///   - conversation: the same of a conversation's.
  ///   - member: the same of a membership.
  fileprivate func differences(
    from others: FanoutSettings, user: (Identifier) -> Bool, conversation: (Identifier) -> Bool,
    member: (Identifier, Identifier) -> Bool
  ) -> FanoutSettings {
    var changed = FanoutSettings(app: app)
    for number in 0..<UInt32(userCount) {
      let id = id(of: UserIndex(number))
      let isNew = isDeclared(UserIndex(number)) && others.index(of: id) == nil
      let own = self.user(id)
      if isNew || own != others.user(id) || user(id) { changed.setUser(id, own) }
    }
    for id in conversationIDs {
      let own = self.conversation(id) ?? ConversationSettings()
      let other = others.conversation(id)
      let isNew = isDeclared(id) && other == nil
      if isNew || own != other ?? ConversationSettings() || conversation(id) {
        changed.setConversation(id, own)
      }
      for index in members(of: id) {
        let user = self.id(of: index)
        guard let own = self.member(index, of: id) else { continue }
        let other = others.index(of: user).flatMap { others.member($0, of: id) }
        if own != other || member(user, id) {
          changed.setMember(user, of: id, own)
        }
      }
    }
    return changed
  }
}

/// The records of settings as a store has them, in words, in the order of entries of the feed.
private struct RecordWords {
  struct Record {
    let change: Change
    var user, conversation: Identifier?
    /// nil for no record.
    let words: [ChangedValues.Setting]?
  }

  private(set) var records: [Record] = []

  init(
    of settings: FanoutSettings, _ hasApp: Bool, in queries: SettingsQueries
  ) throws {
    if hasApp { records.append(Record(change: .app, words: try queries.app().words)) }
    for ordinal in 0..<UInt32(settings.userCount) where settings.isDeclared(UserIndex(ordinal)) {
      let id = settings.id(of: UserIndex(ordinal))
      records.append(Record(change: .user, user: id, words: try queries.words(ofUser: id)))
    }
    for id in settings.conversationIDs {
      if settings.isDeclared(id) {
        records.append(
          Record(
            change: .conversation, conversation: id, words: try queries.words(ofConversation: id)))
      }
      for index in settings.members(of: id) {
        let user = settings.id(of: index)
        records.append(
          Record(
            change: .member, user: user, conversation: id,
            words: try queries.words(of: user, in: id)))
      }
    }
  }
}

extension SettingsQueries {
  /// Whether there is a user or a conversation.
  func hasRecords() throws -> Bool {
    try Bool.fetchOne(
      db, sql: "SELECT EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM conversations)")
      ?? false
  }
}

extension SettingsStore {
  /// Adds many records at once: all of them become durable and visible together, or none does.
  ///
  /// An existing record with the same key is replaced whole, as in files; the others stay. A
  /// partial record keeps the fields that it does not have. The change feed gets one entry,
  /// ``Change/imported``, which concerns all users.
  ///
  /// - Parameters:
  ///   - settings: the records. Its app's rules must be those of the store.
  ///   - content: how pushes look by these records, which is replaced with them; nil leaves it.
  ///   - partial: which records are partial; nil for none.
  ///   - now: when the import is made.
  ///   - replacingApp: whether the app's settings are replaced too.
  /// - Throws: ``StoreError``; then nothing was imported.
  /// - Complexity: O(records). Other writes wait for it, decisions do not. A new snapshot is
  ///   written afterwards, beside other work.
  public func importSettings(
    _ settings: FanoutSettings, content: ContentDirectory? = nil,
    partial: (any PartialRecords)? = nil, at now: Instant, replacingApp: Bool = true
  ) throws {
    try write(at: now) {
      try $0.add(settings, content: content, partial: partial, replacingApp: replacingApp)
    }
  }
}
