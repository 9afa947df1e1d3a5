internal import PushModel
internal import QuietTime

/// The instant at which each suppressed member of a conversation would get a push of one class of
/// message, if no settings changed.
///
/// The instant remains valid until it is reached or the member's settings change: no earlier
/// transition leads to a push. So it is computed once each time a member becomes suppressed, and
/// messages in between only add up groups.
///
/// SAFETY: it owns its buffers, which have one element per member.
@safe final class DeferredPushTable {
  /// The members with the same outcome and instant.
  struct Group {
    let at: Int64
    let code: UInt8
    var count = 0
    /// Their ranks, and ranks of members that have left the group.
    var ranks: [UInt32] = []
  }

  private(set) var groups: [Group] = []
  /// The indices of ``groups``, by instant and code.
  private var groupIndices: [Key: Int] = [:]
  private let messageClass: Int
  private let count: Int
  /// Each member's instant, in milliseconds; 0 if the member is not suppressed or never gets a
  /// push.
  private let releases: UnsafeMutablePointer<Int64>
  /// The code of the suppressed outcome, for members with an instant.
  private let codes: UnsafeMutablePointer<UInt8>
  private var noted: [UInt32]
  private var earliest = Int64.max

  private struct Key: Hashable {
    let at: Int64
    let code: UInt8
  }

  init(messageClass: Int, count: Int) {
    self.messageClass = messageClass
    self.count = count
    unsafe releases = .allocate(capacity: max(count, 1))
    unsafe releases.initialize(repeating: 0, count: count)
    unsafe codes = .allocate(capacity: max(count, 1))
    unsafe codes.initialize(repeating: 0, count: count)
    noted = Array(0..<UInt32(count))
  }

  deinit {
    unsafe releases.deallocate()
    unsafe codes.deallocate()
  }

  var byteCount: Int { count * 17 }

  /// Marks a member for recomputation.
  func note(_ rank: UInt32) {
    if noted.count > 2 * count + 64 { noted = Array(0..<UInt32(count)) }
    noted.append(rank)
  }

  /// A member's instant and code; nil if there is none.
  func release(of rank: Int) -> (at: Int64, code: UInt8)? {
    let at = unsafe releases[rank]
    return at == 0 ? nil : (at, unsafe codes[rank])
  }

  /// Updates the table to the timeline's instant.
  ///
  /// - Complexity: O(members that were marked or whose instant has been reached).
  func refresh(
    _ conversation: TimelineConversation, _ timeline: FanoutTimeline, _ hold: DeferralRules
  ) {
    if earliest <= timeline.now {
      for group in groups where group.at <= timeline.now { noted += group.ranks }
    }
    guard !noted.isEmpty else { return }
    for rank in noted { lookAgain(Int(rank), conversation, timeline, hold) }
    noted.removeAll(keepingCapacity: noted.count < 4096)
    earliest = groups.reduce(Int64.max) { min($0, $1.at) }
  }

  private func lookAgain(
    _ rank: Int, _ conversation: TimelineConversation, _ timeline: FanoutTimeline,
    _ hold: DeferralRules
  ) {
    let code = unsafe hold.rules.codes(messageClass)[Int(conversation.states[rank])]
    var at: Int64 = 0
    if DeferralRules.isSuppressed(code) {
      // An instant in the future is still valid, unless settings changed: then the member was
      // removed.
      at = timeline.release(of: rank, messageClass, conversation, hold) ?? 0
    }
    if unsafe at == releases[rank], unsafe code == codes[rank] || at == 0 { return }
    takeOut(rank)
    guard at != 0 else { return }
    unsafe releases[rank] = at
    unsafe codes[rank] = code
    let key = Key(at: at, code: code)
    let index = groupIndices[key] ?? groups.count
    if index == groups.count {
      groups.append(Group(at: at, code: code))
      groupIndices[key] = index
    }
    groups[index].count += 1
    groups[index].ranks.append(UInt32(rank))
    if groups[index].ranks.count > 2 * count + 64 { thin(index) }
  }

  private func takeOut(_ rank: Int) {
    let at = unsafe releases[rank]
    guard at != 0 else { return }
    let key = Key(at: at, code: unsafe codes[rank])
    unsafe releases[rank] = 0
    guard let index = groupIndices[key] else { return }
    groups[index].count -= 1
    guard groups[index].count == 0 else { return }
    groupIndices[key] = nil
    let last = groups.removeLast()
    guard index < groups.count else { return }
    groups[index] = last
    groupIndices[Key(at: last.at, code: last.code)] = index
  }

  /// Removes stale and duplicate ranks from a group.
  private func thin(_ index: Int) {
    let (at, code) = (groups[index].at, groups[index].code)
    groups[index].ranks = Set(groups[index].ranks).filter {
      unsafe releases[Int($0)] == at && codes[Int($0)] == code
    }
  }
}

/// What the instants of deferred pushes depend on: the conversation's rules and members.
struct DeferralRules {
  let rules: StateRules
  let states: ConversationStates
  let target: ConversationStates.Target

  private static let suppressed = (0..<UInt8(128)).map {
    Outcome(code: $0)?.action == .suppress
  }

  static func isSuppressed(_ code: UInt8) -> Bool { suppressed[Int(code)] }
}

extension FanoutTimeline {
  /// The first later instant at which a message of a class pushes to a member, if no settings
  /// change; nil if it never does.
  ///
  /// - Complexity: O(1) for a member with only a schedule of two levels, except the first time after
  ///   a transition.
  func release(
    of rank: Int, _ messageClass: Int, _ conversation: TimelineConversation, _ hold: DeferralRules
  ) -> Int64? {
    let engineVersion = engineVersion
    let user = engineVersion.tables.memberUsers[Int(hold.target.memberRow.start) + rank]
    let classBits = unsafe conversation.classes[rank]
    let member = MemberClass(bits: unsafe conversation.members[rank])
    let hasTransitions = engineVersion.tables.hasTransitions(
      of: user, UserClass(bits: classBits), member, after: now)
    if hasTransitions { return releaseByTransitions(user, rank, messageClass, hold) }
    // Only the schedule remains: the first of its levels at which the message pushes.
    let schedule = unsafe conversation.schedules[rank]
    var found: Int64?
    clock.forEachLaterLevel(of: schedule, engineVersion.tables) { second, bits in
      let state = Int(hold.rules.state(UserClass(bits: classBits | bits), member))
      guard unsafe hold.rules.codes(messageClass)[state] & 1 != 0 else { return true }
      found = second
      return false
    }
    guard let second = found, second <= Instant.maximumMilliseconds / 1000 else { return nil }
    return second * 1000
  }

  /// The same for a member with mutes or graces that have not ended, transition by transition.
  private func releaseByTransitions(
    _ user: UInt32, _ rank: Int, _ messageClass: Int, _ hold: DeferralRules
  ) -> Int64? {
    let tables = engineVersion.tables
    let overrides = hold.states.overrides(of: user, rank: rank, hold.target)
    let kind = UserClasses.tableIndex(for: hold.target.kind, tables.app.rules)
    let schedule = tables.scheduleTable.schedule(tables.schedules[Int(user)])
    var transitions = [overrides.mutedUntil]
    tables.forEachTransition(of: user) { transitions.append($0) }
    var at = now
    // Once no level of the schedule brought a push, only the other transitions can.
    var unseen = UnseenLevels(schedule, at: at / 1000)
    while true {
      let single = transitions.filter { $0 > at }.min() ?? Int64.max
      var edge = Int64.max
      if !unseen.isEmpty, let second = schedule?.nextTransition(after: at / 1000),
        second <= Instant.maximumMilliseconds / 1000
      {
        edge = second * 1000
      }
      at = min(single, edge)
      if at > Instant.maximumMilliseconds { return nil }
      let state = hold.rules.state(
        tables.userClass(of: user, kind: kind, at: at), overrides.memberClass(at: at))
      if unsafe hold.rules.codes(messageClass)[Int(state)] & 1 != 0 { return at }
      if single == at { unseen = UnseenLevels(schedule, at: at / 1000) }
      unseen.remove(schedule?.level(at: at / 1000))
    }
  }
}
