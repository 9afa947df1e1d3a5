internal import PushRules
internal import QuietTime

/// Changes tables and the moment with them, for one writer.
///
/// What runs for each record of a file takes the tables as `inout`: each use of a class's property is
/// checked while it runs, and there would be ten a record.
@safe final class TableWriter {
  var tables: Tables
  var moment = Moment()
  var agenda = Agenda()
  let store: PageStore
  private var recentSchedules = RecentSchedules()
  /// How many there may be of anything that has a 32-bit index; less only in tests.
  var limit = Int(UInt32.max) - 1

  init(app: AppSettings) throws(FanoutError) {
    tables = Tables(app: app)
    store = PageStore()
    do throws(ZoneDataError) {
      try tables.scheduleTable.setApp(app)
    } catch {
      throw FanoutError(error)
    }
  }

  /// Goes on with tables that were made with a store.
  init(_ tables: Tables, _ store: PageStore) {
    self.tables = tables
    self.store = store
  }

  // MARK: Time

  /// Moves the moment to an instant, and has it work out the classes for a kind of conversation.
  func move(to now: Int64, kind: Int?) {
    moment.move(to: now, tables, &agenda, store)
    if let kind { moment.add(kind: kind, at: now, tables, &agenda, store) }
  }

  /// Takes everything back that was changed since the last version.
  func rollBack(to tables: Tables, _ moment: Moment) {
    self.tables.userIDs.rollBack(to: tables.userIDs)
    self.tables.deviceNames.rollBack(to: tables.deviceNames)
    self.tables.conversationIDs.rollBack(to: tables.conversationIDs)
    self.tables = tables
    self.moment = moment
    store.rollBack()
  }

  // MARK: App and users

  /// Replaces the app's settings.
  func setApp(_ app: AppSettings) throws(FanoutError) {
    do throws(ZoneDataError) {
      try tables.scheduleTable.setApp(app)
    } catch {
      throw FanoutError(error)
    }
    tables.app = app
    tables.rules = RuleTables(app)
    tables.appRevision &+= 1
    moment.removeAll(store)
  }

  /// The place of a user id, which it has from now on.
  func intern(user id: Identifier) throws(FanoutError) -> UInt32 {
    try Self.intern(user: id, &tables, store, limit)
  }

  private static func intern(
    user id: Identifier, _ tables: inout Tables, _ store: PageStore, _ limit: Int
  ) throws(FanoutError) -> UInt32 {
    if let place = tables.userIDs.place(of: id) { return place }
    if id.isEmpty { throw .emptyID }
    guard tables.userIDs.count < limit else { throw .tooMany("users") }
    let place = tables.userIDs.insert(id, store)
    tables.words.append(UserWord(), store)
    tables.schedules.append(0, store)
    if tables.deviceLists.count > 0 { tables.deviceLists.append(0, store) }
    return place
  }

  /// Replaces the whole settings of a user.
  func setUser(_ user: UInt32, _ settings: UserSettings) throws(FanoutError) {
    try Self.setUser(user, settings, &tables, &recentSchedules, store)
    try setDevices(settings.devices, of: user)
  }

  private static func setUser(
    _ user: UInt32, _ settings: UserSettings, _ tables: inout Tables,
    _ recent: inout RecentSchedules, _ store: PageStore
  ) throws(FanoutError) {
    let schedulePlace: UInt32
    do throws(ZoneDataError) {
      schedulePlace = try tables.scheduleTable.insert(QuietSettings(settings), &recent)
    } catch {
      throw FanoutError(error)
    }
    let word = UserWord(settings)
    if tables.words[Int(user)] != word { tables.words.set(Int(user), word, store) }
    if tables.schedules[Int(user)] != schedulePlace {
      tables.schedules.set(Int(user), schedulePlace, store)
    }
    if word.hasMute {
      tables.userMutes.set(UInt64(user), settings.mutedUntil.milliseconds, store)
    }
  }

  private func setDevices(_ devices: [Device]?, of user: UInt32) throws(FanoutError) {
    try Self.setDevices(devices, of: user, &tables, store, limit)
  }

  private static func setDevices(
    _ devices: [Device]?, of user: UInt32, _ tables: inout Tables, _ store: PageStore, _ limit: Int
  ) throws(FanoutError) {
    guard let devices else {
      if tables.hasOwnDevices(user) { tables.deviceLists.set(Int(user), 0, store) }
      return
    }
    if tables.deviceLists.count == 0 {
      tables.deviceLists.grow(to: tables.userCount, repeating: 0, store)
    }
    if devices.isEmpty { return tables.deviceLists.set(Int(user), 1, store) }
    var before = 0
    tables.forEachDevice(of: user) { _ in before += 1 }
    let records = try records(devices, &tables, store, limit)
    if before == records.count {
      let first = Int(tables.deviceLists[Int(user)]) - 2
      for (offset, record) in records.enumerated() {
        tables.devices.set(first + offset, record, store)
      }
      return
    }
    guard tables.devices.count + records.count < limit else { throw .tooMany("devices") }
    let first = UInt32(tables.devices.count + 2)
    for record in records { tables.devices.append(record, store) }
    tables.deviceLists.set(Int(user), first, store)
  }

  private static func records(
    _ devices: [Device], _ tables: inout Tables, _ store: PageStore, _ limit: Int
  ) throws(FanoutError) -> [DeviceRecord] {
    var records: [DeviceRecord] = []
    records.reserveCapacity(devices.count)
    for (offset, device) in devices.enumerated() {
      guard tables.deviceNames.count + 1 < limit else { throw .tooMany("device ids") }
      let id = tables.deviceNames.insert(device.id, store)
      let notifier = device.notifier.map { tables.deviceNames.insert($0, store) + 1 }
      records.append(
        DeviceRecord(
          id: id, notifier: notifier ?? 0,
          backgroundSince: device.backgroundSince?.milliseconds ?? -1, kind: device.kind.place,
          state: device.state.place, hasToken: device.hasToken,
          isLast: offset == devices.count - 1))
    }
    return records
  }

  // MARK: Conversations

  /// The place of a conversation's id, which it has from now on; at first a group of nobody.
  func intern(conversation id: Identifier) throws(FanoutError) -> UInt32 {
    try Self.intern(conversation: id, &tables, store, limit)
  }

  private static func intern(
    conversation id: Identifier, _ tables: inout Tables, _ store: PageStore, _ limit: Int
  ) throws(FanoutError) -> UInt32 {
    if let place = tables.conversationIDs.place(of: id) { return place }
    if id.isEmpty { throw .emptyID }
    guard tables.conversationIDs.count < limit else { throw .tooMany("conversations") }
    let place = tables.conversationIDs.insert(id, store)
    tables.conversations.append(ConversationRow(), store)
    return place
  }

  /// Replaces the settings of a conversation; its members stay.
  func setConversation(
    _ place: UInt32, _ settings: ConversationSettings
  ) throws(FanoutError) {
    var row = tables.conversations[Int(place)]
    row.kind = UInt8(settings.kind.place)
    row.level = settings.level.rawValue
    row.parent =
      try settings.parent.map { (id) throws(FanoutError) in
        try intern(conversation: id) + 1
      } ?? 0
    row.channels = tables.channelSets.insert(settings.channels)
    row.revision &+= 1
    tables.conversations.set(Int(place), row, store)
  }

  // MARK: Members

  /// Replaces the whole membership of a user in a conversation.
  ///
  /// - Returns: whether the user was a member before.
  /// - Complexity: O(log members); O(members) for a user who was none.
  func setMember(
    _ user: UInt32, of place: UInt32, _ member: MemberSettings
  ) throws(FanoutError) -> Bool {
    var row = tables.conversations[Int(place)]
    let byte = MemberByte(member)
    if byte.isSpecial {
      setBeside(Tables.key(place, user), member)
      row.hasSpecials = true
    }
    let rank = tables.insertionRank(of: user, in: row)
    let memberPlace = Int(row.start) + rank
    if rank < Int(row.count), tables.memberUsers[memberPlace] == user {
      let before = MemberByte(bits: tables.memberBytes[memberPlace])
      if before != byte { tables.memberBytes.set(memberPlace, byte.bits, store) }
      if before.isSpecial || byte.isSpecial {
        row.specialRevision &+= 1
        tables.conversations.set(Int(place), row, store)
      }
      return true
    }
    try insert(user, byte, at: rank, &row)
    row.revision &+= 1
    tables.conversations.set(Int(place), row, store)
    return false
  }

  /// Keeps what does not fit a member's byte.
  func setBeside(_ key: UInt64, _ member: MemberSettings) {
    Self.setBeside(key, member, &tables, store)
  }

  private static func setBeside(
    _ key: UInt64, _ member: MemberSettings, _ tables: inout Tables, _ store: PageStore
  ) {
    if member.mutedUntil > .zero {
      tables.memberMutes.set(key, member.mutedUntil.milliseconds, store)
    }
    if member.since > .zero { tables.memberSinces.set(key, member.since.milliseconds, store) }
    if !member.channels.isEmpty {
      let set = tables.channelSets.insert(member.channels)
      tables.memberChannels.set(key, Int64(set), store)
    }
  }

  /// Drops the levels by channel that an earlier record of a member had.
  func forgetChannels(_ key: UInt64) {
    guard tables.memberChannels.count > 0, tables.memberChannels[key] != nil else { return }
    tables.memberChannels.set(key, 0, store)
  }

  private func insert(
    _ user: UInt32, _ byte: MemberByte, at rank: Int, _ row: inout ConversationRow
  ) throws(FanoutError) {
    if row.count == row.capacity { try makeRoom(&row) }
    let start = Int(row.start)
    var place = start + Int(row.count)
    while place > start + rank {
      tables.memberUsers.set(place, tables.memberUsers[place - 1], store)
      tables.memberBytes.set(place, tables.memberBytes[place - 1], store)
      place -= 1
    }
    tables.memberUsers.set(place, user, store)
    tables.memberBytes.set(place, byte.bits, store)
    row.count += 1
  }

  /// Moves the members to where there is room for twice as many; their old places stay unused.
  private func makeRoom(_ row: inout ConversationRow) throws(FanoutError) {
    let capacity = max(4, Int(row.capacity) * 2)
    let start = tables.memberUsers.count
    guard start + capacity <= limit else { throw .tooMany("memberships") }
    tables.memberUsers.grow(to: start + capacity, repeating: 0, store)
    tables.memberBytes.grow(to: start + capacity, repeating: 0, store)
    for offset in 0..<Int(row.count) {
      let place = Int(row.start) + offset
      tables.memberUsers.set(start + offset, tables.memberUsers[place], store)
      tables.memberBytes.set(start + offset, tables.memberBytes[place], store)
    }
    row.start = UInt32(start)
    row.capacity = UInt32(capacity)
  }

  /// Ends a membership.
  ///
  /// - Returns: whether there was one.
  /// - Complexity: O(members).
  func removeMember(_ user: UInt32, of place: UInt32) -> Bool {
    var row = tables.conversations[Int(place)]
    guard let rank = tables.rank(of: user, in: row) else { return false }
    for place in Int(row.start) + rank..<Int(row.start) + Int(row.count) - 1 {
      tables.memberUsers.set(place, tables.memberUsers[place + 1], store)
      tables.memberBytes.set(place, tables.memberBytes[place + 1], store)
    }
    row.count -= 1
    row.revision &+= 1
    tables.conversations.set(Int(place), row, store)
    return true
  }
}
