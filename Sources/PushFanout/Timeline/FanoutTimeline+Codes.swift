internal import CPushKernels
package import PushModel

extension FanoutTimeline {
  /// Writes the outcome codes of all members of a message's conversation, 0 for members who are not
  /// recipients, in the order of ``members(of:)``.
  ///
  /// - Returns: the counts of outcomes, and a key of the list of members: the conversation (a
  ///   thread's parent) and the revision of its members.
  /// - Complexity: O(members), at the speed of memory unless a filter is evaluated.
  package func writeCodes(
    _ message: Message, into output: inout [UInt8]
  ) -> (counts: FanoutCounts, members: UInt64) {
    move(to: message.at.milliseconds)
    guard let index = engineVersion.tables.conversationIDs.index(of: message.conversation) else {
      output.removeAll(keepingCapacity: true)
      return (FanoutCounts(), .max)
    }
    let states = ConversationStates(version: engineVersion, threads: 1)
    let target = states.target(index, channel: message.channel)
    let conversation = conversation(target, states)
    let plan = plan(message, target)
    write(conversation, plan, into: &output)
    let members = UInt64(target.members) << 32 | UInt64(target.memberRow.revision)
    return (counts(conversation, plan), members)
  }

  private func write(
    _ conversation: TimelineConversation, _ message: TimelineMessage, into output: inout [UInt8]
  ) {
    let count = conversation.count
    let codes = unsafe codes(message)
    if output.count != count { output = [UInt8](repeating: 0, count: count) }
    unsafe output.withUnsafeMutableBufferPointer { (bytes) -> Void in
      if let start = bytes.baseAddress, count > 0 {
        unsafe pk_map(codes, conversation.states, start, count)
      }
    }
    let namedCodes = unsafe message.target.rules.codes(message.plan.namedClass)
    for rank in message.named {
      output[rank] = unsafe namedCodes[Int(conversation.states[rank])]
    }
    if let filter = message.plan.filter {
      let code = Outcome(.suppress, .filtered).code
      forEachFiltered(conversation, message, filter) { rank, _ in output[rank] = code }
    }
    if message.sender >= 0 { output[message.sender] = 0 }
  }

  /// The users that messages to a conversation go to (a thread's parent's members), ascending.
  ///
  /// - Complexity: O(members).
  package func members(of id: Identifier) -> [UserIndex] {
    guard let index = engineVersion.tables.conversationIDs.index(of: id) else { return [] }
    let states = ConversationStates(version: engineVersion, threads: 1)
    let row = states.target(index, channel: "").memberRow
    return row.range.map { UserIndex(engineVersion.tables.memberUsers[$0]) }
  }

  /// The number of user ids of this version.
  package var userCount: Int { engineVersion.tables.userCount }

  /// The id of a user of this version.
  package func id(of user: UserIndex) -> Identifier { engineVersion.tables.userIDs[user.rawValue] }

  /// The user with an id in this version; nil if there is none.
  package func user(_ id: Identifier) -> UserIndex? {
    engineVersion.tables.userIDs.index(of: id).map { UserIndex($0) }
  }
}
