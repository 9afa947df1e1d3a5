public import PushFanout
public import PushModel
public import PushWorkload

/// A generated day: many conversations of all sizes, of which some get messages, in the order of time.
///
/// Users: whoever runs a service, as most messages are the first to their conversation since the
/// quiet hours of some member began or ended.
public struct DayWorld: Sendable {
  public let fanout: Fanout
  /// The same settings, for one thread.
  public let alone: Fanout
  public let messages: [Message]
  /// Conversations by number of members: at least so many, and fewer than the next.
  public let bySize: [(members: Int, ids: [Identifier])]

  /// All conversations.
  public let conversations: [Identifier]
  private let workload: Workload

  public static let sizes = [5, 50, 500, 5_000, 100_000]

  /// - Parameters:
  ///   - hasAlone: whether ``alone`` is an engine of its own, rather than ``fanout``.
  ///   - change: changes a user's settings, by number.
  public init(
    _ options: WorkloadOptions, threads: Int, hasAlone: Bool = true,
    change: @escaping (Int, inout UserSettings) -> Void = { _, _ in }
  ) {
    let workload = must { try Workload(options, threads: threads) }
    self.workload = workload
    conversations = (0..<workload.roomCount).map { Workload.roomID($0) }
    do throws(FanoutError) {
      fanout = try Self.build(workload, threads: threads, change: change)
      alone = hasAlone ? try Self.build(workload, threads: 1, change: change) : fanout
    } catch {
      fatalError("\(error)")
    }
    var ids = [[Identifier]](repeating: [], count: Self.sizes.count)
    for room in 0..<workload.roomCount {
      let size = workload.size(ofRoom: room)
      if let index = Self.sizes.lastIndex(where: { $0 <= size }) {
        ids[index].append(Workload.roomID(room))
      }
    }
    var messages: [Message] = []
    workload.forEachMessage(threads: threads) {
      messages.append(workload.message($0, number: messages.count + 1))
    }
    self.messages = messages
    bySize = zip(Self.sizes, ids).map { (members: $0, ids: $1) }
  }

  /// The settings of some conversations, for the reference.
  public func settings(
    of chosen: [Identifier], change: (Int, inout UserSettings) -> Void = { _, _ in }
  ) -> FanoutSettings {
    var settings = FanoutSettings(app: workload.app)
    let wanted = Set(chosen)
    for room in 0..<workload.roomCount where wanted.contains(Workload.roomID(room)) {
      let id = Workload.roomID(room)
      settings.setConversation(id, ConversationSettings(kind: workload.kind(ofRoom: room)))
      workload.forEachMember(ofRoom: room) { user, member in
        var own = workload.user(user)
        change(user, &own)
        settings.setUser(Workload.userID(user), own)
        settings.setMember(Workload.userID(user), of: id, member)
      }
    }
    return settings
  }

  /// The same day for the contestant that does the least.
  public func floor() -> DayFloor { DayFloor(workload) }

  /// What its messages name, for the same.
  public func namesFloor() -> NamesFloor { NamesFloor(workload, messages) }

  /// Another engine with the same settings, for one thread.
  public func engine(cacheBytes: Int) -> Fanout {
    do throws(FanoutError) {
      return try Self.build(workload, threads: 1, cacheBytes: cacheBytes)
    } catch {
      fatalError("\(error)")
    }
  }

  private static func build(
    _ workload: Workload, threads: Int, cacheBytes: Int? = nil,
    change: (Int, inout UserSettings) -> Void = { _, _ in }
  ) throws(FanoutError) -> Fanout {
    var builder = FanoutBuilder()
    try builder.setApp(workload.app)
    for user in 0..<workload.userCount {
      var settings = workload.user(user)
      change(user, &settings)
      try builder.setUser(Workload.userID(user), settings)
    }
    var failure: FanoutError?
    for room in 0..<workload.roomCount {
      let id = Workload.roomID(room)
      let kind = workload.kind(ofRoom: room)
      if kind != .group { try builder.setConversation(id, ConversationSettings(kind: kind)) }
      workload.forEachMember(ofRoom: room) { Self.add($0, id, $1, to: &builder, &failure) }
      for thread in 0..<workload.threadCount(ofRoom: room) {
        let own = Workload.threadID(thread, ofRoom: room)
        try builder.setConversation(own, ConversationSettings(kind: .thread, parent: id))
        workload.forEachFollower(ofThread: thread, room: room) {
          Self.add($0, own, $1, to: &builder, &failure)
        }
      }
    }
    if let failure { throw failure }
    return try builder.build(threads: threads, cacheBytes: cacheBytes)
  }

  private static func add(
    _ user: Int, _ conversation: Identifier, _ member: MemberSettings,
    to builder: inout FanoutBuilder, _ failure: inout FanoutError?
  ) {
    do throws(FanoutError) {
      try builder.setMember(Workload.userID(user), of: conversation, member)
    } catch {
      failure = error
    }
  }
}
