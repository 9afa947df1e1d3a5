internal import PushFanout
internal import PushModel
internal import QuietTime

extension SettingsQueries {
  /// The engine of what is stored.
  ///
  /// - Parameter unknownZones: what is done with users whose time zone the system does not have; the
  ///   store is whole.
  func fanout(threads: Int?, unknownZones: UnknownZones = .refuse) throws -> Fanout {
    let settings = try MemberSettingRows(self)
    var building = EngineBuilding(unknownZones: unknownZones, path)
    building.add(try app())
    try forEachUser { id, user, _ in building.add(id, user) }
    try forEachConversation { number, id, settings, _ in building.add(number, id, settings) }
    try forEachMember(settings) { building.add($0, $1, $2) }
    return try building.finish(threads: threads)
  }
}

/// Puts what is stored into an engine. What is wrong is kept until the end, so that others may look
/// at the records beside it.
struct EngineBuilding: ~Copyable {
  private var builder: FanoutBuilder
  private let path: String
  private var failure: (any Error)?
  /// How many users were added; each has the index of its number, less one.
  private var userCount: Int64 = 0
  private var conversations = NumberedValues<UInt32>()
  private var last: (number: Int64, index: UInt32)?

  init(unknownZones: UnknownZones = .refuse, _ path: String) {
    builder = FanoutBuilder(unknownZones: unknownZones)
    self.path = path
  }

  mutating func add(_ app: AppSettings) {
    do throws(FanoutError) { try builder.setApp(app) } catch { note(error) }
  }

  /// Adds the next user.
  mutating func add(_ id: Identifier, _ settings: UserSettings?) {
    do throws(FanoutError) {
      let index = try builder.intern(user: id)
      if Int64(index.rawValue) != userCount { return noteInvalid("users.id") }
      userCount += 1
      if let settings { try builder.setUser(at: index, settings) }
    } catch { note(error) }
  }

  mutating func add(_ number: Int64, _ id: Identifier, _ settings: ConversationSettings?) {
    do throws(FanoutError) {
      conversations.append(number, try builder.intern(conversation: id))
      if let settings { try builder.setConversation(id, settings) }
    } catch { note(error) }
  }

  mutating func add(_ user: Int64, _ conversation: Int64, _ member: MemberSettings) {
    if failure != nil { return }
    if last?.number != conversation {
      last = conversations.find(conversation).map { (conversation, $0) }
    }
    guard user > 0, user <= userCount else { return noteInvalid("members.user") }
    guard let last else { return noteInvalid("members.conversation") }
    do throws(FanoutError) {
      try builder.add(UserIndex(UInt32(user - 1)), toConversationAt: last.index, member)
    } catch { note(error) }
  }

  private mutating func note(_ error: FanoutError) {
    guard failure == nil else { return }
    failure =
      if case .timeZoneData(let error) = error {
        StoreError.timeZoneData(error)
      } else {
        StoreError.damaged(path, reason: "\(error)")
      }
  }

  private mutating func noteInvalid(_ column: String) {
    failure = failure ?? StoreError.damaged(path, reason: "\(column) has an invalid value")
  }

  /// - Throws: ``StoreError`` for the first that was wrong.
  consuming func finish(threads: Int?) throws -> Fanout {
    if let failure { throw failure }
    conversations = NumberedValues()
    do {
      return try builder.build(threads: threads)
    } catch {
      if case .timeZoneData(let error) = error { throw StoreError.timeZoneData(error) }
      throw StoreError.damaged(path, reason: "\(error)")
    }
  }
}

/// Values of ascending numbers, such as those of conversations, which are looked for in that order.
struct NumberedValues<Value> {
  private var values: [(number: Int64, value: Value)] = []
  private var next = 0

  mutating func append(_ number: Int64, _ value: Value) { values.append((number, value)) }

  /// The value of a number that is no lower than those before; nil for none.
  mutating func find(_ number: Int64) -> Value? {
    while next < values.count, values[next].number < number { next += 1 }
    return next < values.count && values[next].number == number ? values[next].value : nil
  }
}
