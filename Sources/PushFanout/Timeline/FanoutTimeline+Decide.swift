public import PushModel

/// A message prepared for deciding on a timeline.
struct TimelineMessage {
  let target: ConversationStates.Target
  let plan: MessagePlan
  /// The rank of the sender, who is not a recipient; -1 for none.
  let sender: Int
  /// The ranks of members mentioned by name whose outcome differs from others' in the same state,
  /// sorted without duplicates.
  let named: [Int]
}

extension FanoutTimeline {
  /// The number of a message's recipients by outcome.
  ///
  /// A message to a conversation whose id never appeared has no recipients.
  ///
  /// - Complexity: O(changes since the conversation's last message + states + mentions log members).
  public func counts(_ message: Message) -> FanoutCounts {
    move(to: message.at.milliseconds)
    guard let index = engineVersion.tables.conversationIDs.index(of: message.conversation) else {
      return FanoutCounts()
    }
    let states = ConversationStates(version: engineVersion, threads: 1)
    let target = states.target(index, channel: message.channel)
    let conversation = conversation(target, states)
    return counts(conversation, plan(message, target))
  }

  /// Prepares a message for deciding.
  func plan(_ message: Message, _ target: ConversationStates.Target) -> TimelineMessage {
    // Not copied: copying the tables retains a dozen objects.
    let engineVersion = engineVersion
    let plan = MessagePlan(message, target, engineVersion.tables)
    var sender = -1
    if let id = message.sender, let user = engineVersion.tables.userIDs.index(of: id),
      let rank = engineVersion.tables.rank(of: user, in: target.memberRow)
    {
      sender = rank
    }
    var named: [Int] = []
    if plan.uniform == nil, plan.namedClass != plan.messageClass, let mentions = plan.mentions {
      mentions.forEachUser(in: engineVersion.tables) { user in
        guard let rank = engineVersion.tables.rank(of: user, in: target.memberRow), rank != sender
        else {
          return
        }
        named.append(rank)
      }
      if named.count > 1 { named = Set(named).sorted() }
    }
    return TimelineMessage(target: target, plan: plan, sender: sender, named: named)
  }

  func counts(_ conversation: TimelineConversation, _ message: TimelineMessage) -> FanoutCounts {
    var counts = FanoutCounts()
    let rules = message.target.rules
    let codes = unsafe codes(message)
    for state in 1..<rules.stateCount {
      let count = unsafe conversation.histogram[state]
      if count > 0 { counts.add(unsafe codes[state], Int(count)) }
    }
    if message.sender >= 0 {
      counts.add(unsafe codes[Int(conversation.states[message.sender])], -1)
    }
    let namedCodes = unsafe rules.codes(message.plan.namedClass)
    for rank in message.named {
      let state = unsafe Int(conversation.states[rank])
      counts.add(unsafe codes[state], -1)
      counts.add(unsafe namedCodes[state], 1)
    }
    if let filter = message.plan.filter {
      forEachFiltered(conversation, message, filter) { _, code in
        counts.add(code, -1)
        counts.add(Outcome(.suppress, .filtered).code, 1)
      }
    }
    counts.removeNobody()
    return counts
  }

  func codes(_ message: TimelineMessage) -> UnsafePointer<UInt8> {
    if let uniform = message.plan.uniform {
      return unsafe engineVersion.tables.rules.codes(ofAll: uniform)
    }
    return unsafe message.target.rules.codes(message.plan.messageClass)
  }

  /// Calls `body` with the rank and code of each recipient whose push the message's filter admits
  /// to no device (E-50).
  func forEachFiltered(
    _ conversation: TimelineConversation, _ message: TimelineMessage, _ filter: DeviceFilter,
    _ body: (Int, UInt8) -> Void
  ) {
    let codes = unsafe codes(message)
    let namedCodes = unsafe message.target.rules.codes(message.plan.namedClass)
    var named = message.named[...]
    for rank in 0..<conversation.count where rank != message.sender {
      let state = unsafe Int(conversation.states[rank])
      var code = unsafe codes[state]
      if named.first == rank {
        named.removeFirst()
        code = unsafe namedCodes[state]
      }
      if code & 1 != 0, !lets(filter, rank, message.target) { body(rank, code) }
    }
  }

  /// Whether a filter admits any device of a member that gets a push.
  func lets(
    _ filter: DeviceFilter, _ rank: Int, _ target: ConversationStates.Target
  ) -> Bool {
    let user = engineVersion.tables.memberUsers[Int(target.memberRow.start) + rank]
    return !engineVersion.tables.targets(of: user, .push, filter, at: now).isEmpty
  }
}
