internal import PushModel
internal import QuietTime

/// Decides messages on one version.
struct Decider {
  let version: EngineVersion
  let threads: Int
  var tableUse = TableUse.whenSmallOrCold

  /// Which messages are decided from the tables, not by a cached conversation.
  enum TableUse {
    /// Messages to small conversations, and the first to any other.
    case whenSmallOrCold
    case small
    case none
  }

  @inline(__always)
  init(version: EngineVersion, threads: Int) {
    self.version = version
    self.threads = threads
  }

  /// Decides a message by its ids, unless it has more members than a limit.
  ///
  /// - Returns: whether it was decided.
  @discardableResult
  func decide(
    _ message: borrowing Message, _ cache: ConversationCache, memberLimit: Int = .max,
    into result: inout FanoutResult
  ) -> Bool {
    let lookup = MessageLookup(version)
    let (room, user) = lookup.hashes(message.conversation, message.sender)
    lookup.prefetchSlots(of: message.mentions)
    lookup.prefetchIDs(room, user, version.tables, cache)
    lookup.prefetchIDs(of: message.mentions)
    let conversation = lookup.conversation(message.conversation, room)
    let sender = lookup.sender(message.sender, user)
    lookup.prefetchEntry(
      conversation, sender, at: message.at.milliseconds, version.tables, cache)
    if memberLimit < .max, conversation != IDTable.unknown,
      version.tables.memberCount(conversation) > memberLimit
    {
      return false
    }
    decide(message, in: conversation, from: sender, cache, into: &result)
    return true
  }

  /// Decides messages in order, several at a time; `body` takes each index and result.
  func decide(
    _ messages: borrowing MessageList, _ indices: Range<Int>, _ cache: ConversationCache,
    into result: inout FanoutResult, _ body: (Int, borrowing FanoutResult) -> Void
  ) {
    var lookups = MessageLookups()
    var next = indices.lowerBound
    while next < indices.upperBound {
      let count = min(MessageLookups.count, indices.upperBound - next)
      let first = next
      lookups.find(messages, first..<first + count, version, cache)
      for offset in 0..<count {
        let index = first + offset
        let (conversation, sender) = (lookups.conversations[offset], lookups.senders[offset])
        messages.withMessage(index) { message in
          result.reset(message.at.milliseconds, threads: threads)
          if result.storage.version !== version { result.storage.version = version }
          decide(message, in: conversation, from: sender, cache, into: &result)
        }
        body(index, result)
      }
      next += count
    }
  }

  /// - Precondition: the result was reset for the message and has this version.
  /// - Complexity: O(states + mentions log members) for a cached conversation; O(members) for
  ///   another or a small one, or if a device filter is evaluated.
  /// - Parameters:
  ///   - conversation: ``IDTable/unknown`` for an id that never appeared.
  ///   - sender: ``IDTable/unknown`` for none.
  func decide(
    _ message: borrowing Message, in conversation: UInt32, from sender: UInt32,
    _ cache: ConversationCache, into result: inout FanoutResult
  ) {
    let storage = result.storage
    guard conversation != IDTable.unknown else {
      storage.conversation = nil
      return
    }
    let target = ConversationTarget(conversation, channel: message.channel, version.tables)
    let plan = MessagePlan(message, target, version.tables)
    result.row = target.memberRow
    result.conversation = conversation
    result.memberCount = Int(target.memberRow.count)
    result.memberUsers = version.tables.memberUsers
    result.ids = version.tables.userIDs.reader
    let isFromTables = mayReadTables(target, cache)
    if let online = version.online {
      online.deliver(to: target.members, cache, number: version.number)
    }
    let entry = unsafe isFromTables ? nil : cache.find(target, storage)
    if let entry = unsafe entry {
      let position = version.tables.position(of: sender)
      unsafe entry._withUnsafeGuaranteedRef { entry in
        version.online?.deliver(to: entry, version)
        entry.prefetchRead(of: position)
      }
    }
    findNamed(message, plan, target, from: sender, &result)
    if let uniform = plan.uniform {
      unsafe storage.codes = version.tables.codes(ofAll: uniform)
    } else {
      unsafe storage.codes = target.rules.codes(plan.messageClass)
    }
    let named = storage.rankCount
    if result.sender >= 0 { storage.add(result.sender) }
    unsafe read(target, message.at.milliseconds, isFromTables: isFromTables, entry, cache, &result)
    if result.sender >= 0 { result.senderState = unsafe storage.states[named] }
    result.stateCount = target.rules.stateCount
    correct(named: named, plan, target, &result)
    if let filter = plan.filter { apply(filter, &result) }
  }

  /// -1 for none.
  @inline(__always)
  func rank(of sender: UInt32, _ target: borrowing ConversationTarget) -> Int {
    sender == IDTable.unknown ? -1 : version.tables.rank(of: sender, in: target.memberRow) ?? -1
  }

  // MARK: States

  /// Counts members by state, and looks up those of the storage's ranks, from the tables or a cache
  /// entry.
  private func read(
    _ target: borrowing ConversationTarget, _ now: Int64, isFromTables: Bool,
    _ entry: Unmanaged<CachedConversation>?, _ cache: ConversationCache,
    _ result: inout FanoutResult
  ) {
    let storage = result.storage
    let reader = reader(at: now, storage)
    storage.isFromTables = false
    // States may have numbers by the end that they do not have yet.
    if target.rules.ruleSet.othersState != nil {
      unsafe storage.histogram.update(repeating: 0, count: OpenStates.stateCapacity)
    }
    if isFromTables, readTables(target, reader, storage) {
      if result.memberCount > cache.readFromTablesLimit { cache.noteUse(target.conversation) }
      storage.isFromTables = true
      result.stamp = ReadStamp(revision: 0, isExact: true)
      return
    }
    let found = unsafe isFromTables ? cache.find(target, storage) : entry
    if isFromTables, let online = version.online, let found = unsafe found {
      unsafe found._withUnsafeGuaranteedRef { online.deliver(to: $0, version) }
    }
    if let found = unsafe found,
      let stamp = unsafe found._withUnsafeGuaranteedRef({ $0.read(reader, into: storage) })
    {
      result.stamp = stamp
      return
    }
    let made = CachedConversation.build(
      target.ofStates, reader, threads: threads,
      countedPerMessageLimit: cache.countedPerMessageLimit)
    version.online?.keep(made, version)
    // First, as others move it to later versions once it is in the cache.
    guard let stamp = made.read(reader, into: storage) else {
      preconditionFailure("a conversation cannot be read at the instant that it was built for")
    }
    cache.store(made, number: version.number)
    storage.conversation = made
    result.stamp = stamp
  }

  @inline(__always)
  private func mayReadTables(
    _ target: borrowing ConversationTarget, _ cache: ConversationCache
  ) -> Bool {
    guard tableUse != .none, cache.readFromTablesLimit > 0, target.kind.hasStoredKeys else {
      return false
    }
    return target.memberRow.count <= cache.readFromTablesLimit
      || tableUse == .whenSmallOrCold && cache.isFirstUse(target.conversation)
  }

  private func reader(at now: Int64, _ storage: AnswerStorage) -> ConversationReader {
    if let reader = storage.reader(at: now, version) { return reader }
    let quiet = version.tables.calendar.phases(at: now, version.tables.scheduleTable)
    storage.quiet = quiet
    return ConversationReader(version: version, now: now, quiet: quiet)
  }

  /// E-50: a push that the filter admits to no device is filtered.
  private func apply(_ filter: DeviceFilter, _ result: inout FanoutResult) {
    let filtered = Outcome(.suppress, .filtered).code
    result.filter = filter
    guard let states = unsafe result.memberStates() else { return }
    let (codes, devices) = unsafe (result.codes, result.deviceReader)
    // Most members have the default device.
    let letsDefault = filter.lets(.default)
    func code(_ code: UInt8) -> UInt8 { code & 1 == 0 || letsDefault ? code : filtered }
    var corrections: [AnswerStorage.Correction] = []
    var named = 0
    for rank in 0..<result.memberCount where rank != result.sender {
      let state = unsafe states[rank]
      var own = unsafe codes[Int(state)]
      if unsafe named < result.corrections.count && result.corrections[named].rank == rank {
        own = unsafe result.corrections[named].code
        named += 1
      }
      if own & 1 != 0 {
        let user = version.tables.memberUsers[Int(result.row.start) + rank]
        if !devices.hasTarget(user, filter, at: result.instant) { own = filtered }
      }
      if own != code(unsafe codes[Int(state)]) {
        corrections.append(
          AnswerStorage.Correction(rank: UInt32(rank), code: own, state: state))
      }
    }
    result.storage.replace(corrections, code)
  }

  // MARK: One user

  /// - Parameter seenAt: the instant whose presence counts, by open rules; nil for the message's.
  /// - Returns: nil if the user is not a recipient.
  /// - Complexity: O(log members + devices).
  static func decide(
    _ message: Message, for user: UInt32, _ version: EngineVersion,
    presenceAt seenAt: Instant? = nil
  ) -> Outcome? {
    let tables = version.tables
    guard let conversation = tables.conversationIDs.index(of: message.conversation) else {
      return nil
    }
    let target = ConversationTarget(conversation, channel: message.channel, tables)
    guard let rank = tables.rank(of: user, in: target.memberRow),
      message.sender.flatMap({ tables.userIDs.index(of: $0) }) != user
    else { return nil }
    let now = message.at.milliseconds
    let resolver = MemberResolver(version)
    let member = resolver.overrides(of: user, rank: rank, target).memberClass(at: now)
    if member.isAbsent || tables.isRefused(user) { return nil }
    let plan = MessagePlan(message, target, tables)
    if let uniform = plan.uniform { return uniform }
    let outcome = resolver.outcome(
      ofRank: rank, user, member, message, plan, target, presenceAt: seenAt)
    guard outcome?.action == .push, let filter = plan.filter else { return outcome }
    let isAdmitted = version.deviceReader.hasTarget(user, filter, at: now)
    return isAdmitted ? outcome : Outcome(.suppress, .filtered)
  }
}
