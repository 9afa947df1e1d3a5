internal import PushModel

extension MessagePlan {
  /// Lines 1 and 2 of open rules' procedure, but for blocked senders.
  mutating func planOpen(
    _ message: borrowing Message, _ kind: ConversationKind, _ tables: borrowing Tables
  ) {
    if kind == .room { return uniform = Outcome(.suppress, .chatRoom) }  // O-4
    if message.silent ?? false { return uniform = Outcome(.suppress, .silentMessage) }
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    if age > tables.app.open.expireSeconds * 1000 {  // O-22
      return uniform = Outcome(.suppress, .expired)
    }
    let message = OpenMessage(message, tables)
    messageClass = message.messageClass.index
    namedClass = messageClass
    named = message
  }
}

extension Decider {
  /// Looks up whom the message names.
  func addNamed(
    _ message: OpenMessage, _ target: borrowing ConversationTarget, _ sender: Int,
    _ storage: AnswerStorage
  ) {
    message.forEachNamed(target, version.tables) { if $0 != sender { storage.add($0) } }
    storage.sortRanks()
  }

  /// Decides these members one by one, and those of ``OpenStates/others``. All are corrections, as an
  /// outcome that is the state's now may not be later.
  func correct(
    _ count: Int, _ message: OpenMessage, _ target: ConversationTarget,
    _ result: inout FanoutResult
  ) {
    let storage = result.storage
    let (resolver, now, sender) = (MemberResolver(version), result.instant, result.sender)
    func add(_ rank: Int, _ state: UInt8) {
      let code = resolver.openCode(ofRank: rank, message, target, at: now)
      storage.add(AnswerStorage.Correction(rank: UInt32(rank), code: code, state: state))
    }
    guard unsafe storage.histogram[Int(OpenStates.others)] > 0,
      let all = unsafe result.memberStates()
    else {
      for index in 0..<count { unsafe add(Int(storage.ranks[index]), storage.states[index]) }
      return
    }
    var next = 0
    for rank in 0..<result.memberCount where rank != sender {
      if unsafe next < count && Int(storage.ranks[next]) == rank {
        unsafe add(rank, storage.states[next])
        next += 1
      } else if unsafe all[rank] == OpenStates.others {
        add(rank, OpenStates.others)
      }
    }
  }
}

extension EngineVersion {
  /// What is decided for a message of certain classes, to a user with one offline device (O-43).
  ///
  /// - Parameter classes: nil for the class that a message has in the conversation.
  /// - Returns: nil if the user is no recipient.
  func openDecision(
    ofClasses classes: MessageClasses?, for user: UInt32, in conversation: Identifier, at: Instant
  ) -> Decision? {
    guard let index = tables.conversationIDs.index(of: conversation) else { return nil }
    let target = ConversationTarget(index, channel: "", tables)
    guard let rank = tables.rank(of: user, in: target.memberRow) else { return nil }
    let (resolver, now) = (MemberResolver(self), at.milliseconds)
    let overrides = resolver.overrides(of: user, rank: rank, target)
    if overrides.since > now || tables.isRefused(user) { return nil }
    if target.kind == .room { return Decision(Outcome(.suppress, .chatRoom), devices: []) }
    let member = resolver.openClass(of: user, overrides, at: now, reach: .device)
    let outcome = member.outcome(
      ofAll: classes ?? member.classes([]), tables.openQuiet(of: user, at: now), force: false)
    return Decision(outcome, devices: outcome.action == .push ? [Device.default.id] : [])
  }
}

extension MemberResolver {
  /// The code of a message for a member; 0 for no recipient.
  ///
  /// - Parameter reach: as for ``openClass(of:_:at:reach:)``.
  func openCode(
    ofRank rank: Int, _ message: OpenMessage, _ target: ConversationTarget, at now: Int64,
    reach: OpenMemberClass.Reach? = nil
  ) -> UInt8 {
    let row = target.memberRow
    let slot = Int(row.start) + rank
    let user = tables.memberUsers[slot]
    let record = tables.record(at: slot, target.members, row)
    let overrides = overrides(of: user, record, target)
    guard let classes = message.classes(for: user, record, tables) else {
      let isRecipient = overrides.since <= now && !tables.isRefused(user)
      return isRecipient ? Outcome(.suppress, .senderBlocked).code : 0
    }
    return openCode(
      of: user, overrides, classes, force: message.messageClass.force, at: now, reach: reach)
  }
}
