internal import PushModel

extension Workload {
  /// A message and those soon after it in its room are in the same thread, or in none.
  private static let threadMilliseconds: Int64 = 600_000

  /// The number of the thread that a message is in, in its room.
  func thread(of message: WorkloadMessage) -> Int? {
    guard options.hasOpenFacts else { return nil }
    let count = threadCount(size: rooms.size(of: message.room))
    guard count > 0 else { return nil }
    let part = UInt64(message.at.milliseconds / Self.threadMilliseconds)
    var draws = Draws(options.seed, .inThread, UInt64(message.room), part)
    return draws.isBelow(options.open.threadShare) ? draws.rank(of: count) : nil
  }

  /// The role that a message mentions.
  func role(of message: WorkloadMessage, number: Int) -> String? {
    guard options.hasOpenFacts, Self.roleRooms.contains(rooms.size(of: message.room)) else {
      return nil
    }
    var draws = Draws(options.seed, .role, UInt64(number))
    guard draws.isBelow(options.open.roleMentionShare) else { return nil }
    return Self.roles[draws.rank(of: Self.roles.count)]
  }

  /// Sets what only open rules have of a message.
  func addOpenFacts(to value: inout Message, _ message: WorkloadMessage, number: Int) {
    if let thread = thread(of: message) {
      value.conversation = Self.threadID(thread, ofRoom: message.room)
    }
    if let role = role(of: message, number: number) { value.mentionsRoles = [Identifier(role)] }
    value.replyToUser = message.replyTo.map(Self.userID)
    if options.traffic.hasText {
      var bytes: [UInt8] = []
      MessageText(self).append(message, number: number, to: &bytes)
      value.text = String(decoding: bytes, as: UTF8.self)
    }
  }
}
