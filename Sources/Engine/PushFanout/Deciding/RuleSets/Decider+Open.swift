internal import PushModel

extension MessagePlan {
  /// Lines 1 and 2 of open rules' procedure, but for blocked senders.
  mutating func planOpen(
    _ message: borrowing Message, _ target: borrowing ConversationTarget,
    _ tables: borrowing Tables
  ) {
    if target.kind == .room { return uniform = Outcome(.suppress, .chatRoom) }  // O-4
    if message.silent ?? false { return uniform = Outcome(.suppress, .silentMessage) }
    let age = message.at.milliseconds - (message.sentAt ?? message.at).milliseconds
    if age > tables.app.open.expireMilliseconds {  // O-22
      return uniform = Outcome(.suppress, .expired)
    }
    let takesPlain =
      target.thread != IDTable.unknown && target.kind != .private
      && tables.app.open.threadPlain != .everyone
    messageClass = OpenMessageClass(message, takesPlain: takesPlain).index
    namedClass = messageClass
  }
}

extension Decider {
  /// Finds the sender and whom the message names.
  @inline(never)
  func findNamedOpen(
    _ message: borrowing Message, _ plan: borrowing MessagePlan,
    _ target: borrowing ConversationTarget, from sender: UInt32, _ result: inout FanoutResult
  ) {
    let open = OpenMessage(message, plan.messageClass, inThread: target.thread, version.tables)
    // In between, as names are prefetched.
    result.sender = rank(of: sender, target)
    open.name(target, version.tables, in: result.storage)
    result.storage.addNamed(except: result.sender)
  }

  /// Decides named members by their keys, and those of ``OpenStates/others`` one by one. All are
  /// corrections, as an outcome that is the state's now may not be later.
  func correct(
    _ count: Int, _ messageClass: Int, _ states: OpenStates, _ target: borrowing ConversationTarget,
    _ result: inout FanoutResult
  ) {
    let (storage, message) = (result.storage, OpenMessageClass(index: messageClass))
    let hasOthers = unsafe storage.histogram[Int(OpenStates.others)] > 0
    if count == 0, !hasOthers { return }
    guard let phases = storage.quiet?.phases else {
      preconditionFailure("an answer without phases")
    }
    let all = unsafe hasOthers ? result.memberStates() : nil
    var rank = 0
    /// Adds members of no state, below a rank.
    func addOthers(below end: Int) {
      guard let all = unsafe all else { return }
      while rank < end {
        if unsafe all[rank] == OpenStates.others, rank != result.sender {
          add(rank, OpenStates.others, message.named)
        }
        rank += 1
      }
      rank = end + 1
    }
    func add(_ rank: Int, _ state: UInt8, _ classes: NamedClasses, _ code: UInt8? = nil) {
      let code =
        code
        ?? MemberResolver(version).openCode(
          ofRank: rank, classes, force: message.force, target, at: result.instant)
      storage.add(AnswerStorage.Correction(rank: UInt32(rank), code: code, state: state))
    }
    var records =
      target.thread == IDTable.unknown ? nil : ThreadRecords(target.thread, version.tables)
    for index in 0..<count {
      let named = storage.named(index)
      addOthers(below: named.rank)
      let classes = named.classes.union(message.named)
      var own: MemberTraits?
      if classes.hasRecord {
        let slot = Int(target.memberRow.start) + named.rank
        let record = records?.record(of: version.tables.memberUsers[slot])
        if record?.mutedUntil ?? 0 > result.instant {
          add(named.rank, named.state, classes)
          continue
        }
        own = record.map { version.tables.policies.traits[Int($0.policyIndex)] }
      }
      add(
        named.rank, named.state, classes,
        states.code(named.key, phases, classes, force: message.force, own: own))
    }
    addOthers(below: result.memberCount)
  }
}

/// The records of a thread.
private struct ThreadRecords {
  private let tables: Tables
  private let thread: UInt32
  private var slots: Range<Int>
  private var cursor: OverrideCursor

  init(_ thread: UInt32, _ tables: Tables) {
    let row = tables.conversations[Int(thread)]
    (self.tables, self.thread, slots) = (tables, thread, row.range)
    cursor = OverrideCursor(tables, row)
  }

  /// - Precondition: users ascend from call to call.
  /// - Returns: nil for none.
  mutating func record(of user: UInt32) -> MemberRecord? {
    while let slot = slots.first, tables.memberUsers[slot] < user { slots.removeFirst() }
    guard let slot = slots.first, tables.memberUsers[slot] == user else { return nil }
    let packed = PackedMember(bits: tables.packedMembers[slot])
    return packed.isChanged
      ? tables.changedRecord(packed, of: user, thread) : cursor.record(packed, of: user)
  }
}

extension EngineVersion {
  /// What is decided for a message of certain classes, to a user with one offline device (O-43).
  ///
  /// - Parameters:
  ///   - classes: nil for those that a message has in the conversation (O-1).
  ///   - mention: whether that message mentions the user by name.
  /// - Returns: nil if the user is no recipient.
  func openDecision(
    ofClasses classes: MessageClasses?, mention: Bool, for user: UInt32,
    in conversation: Identifier, at: Instant
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
      ofAll: classes ?? member.classes(NamedClasses(mention ? .mentionsMe : [])),
      tables.openQuiet(of: user, at: now),
      force: false)
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
    let record = tables.record(at: slot, target.members, row)
    return openCode(
      ofRank: rank, message.classes(for: tables.memberUsers[slot], record, tables),
      force: message.messageClass.force, target, at: now, reach: reach)
  }

  /// The same for what a message says of the member.
  @inline(never)
  func openCode(
    ofRank rank: Int, _ named: NamedClasses, force: Bool, _ target: borrowing ConversationTarget,
    at now: Int64, reach: OpenMemberClass.Reach? = nil
  ) -> UInt8 {
    let user = tables.memberUsers[Int(target.memberRow.start) + rank]
    return openCode(
      of: user, overrides(of: user, rank: rank, copy target), named, force: force, at: now,
      reach: reach)
  }
}
