internal import PushRules
internal import QuietTime

/// When each suppressed member of a conversation would get a push of one class of message, if time
/// alone went on.
///
/// That instant stays the same until it comes, or until something of the member is changed: before
/// it nothing pushes, whatever else turns. So it is worked out once for each time somebody becomes
/// suppressed, and messages in between only add what there is.
///
/// SAFETY: its memory is its own, and as long as the conversation has members.
@safe final class HoldTable {
  /// Members with one outcome and one instant.
  struct Group {
    let at: Int64
    let code: UInt8
    var count = 0
    /// Their ranks, and some that are no longer of them.
    var ranks: [UInt32] = []
  }

  private(set) var groups: [Group] = []
  /// Of ``groups``, by instant and code.
  private var places: [Key: Int] = [:]
  private let messageClass: Int
  private let count: Int
  /// For each member the instant, in milliseconds; 0 for one who is not suppressed or never gets it.
  private let releases: UnsafeMutablePointer<Int64>
  /// The code of the suppressed outcome, where there is an instant.
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

  /// Notes that a member has to be looked at again.
  func note(_ rank: UInt32) {
    if noted.count > 2 * count + 64 { noted = Array(0..<UInt32(count)) }
    noted.append(rank)
  }

  /// The instant and the code of a member; nil for none.
  func release(of rank: Int) -> (at: Int64, code: UInt8)? {
    let at = unsafe releases[rank]
    return at == 0 ? nil : (at, unsafe codes[rank])
  }

  /// Brings the table up to now.
  ///
  /// - Complexity: O(members that were noted or whose instant has come).
  func refresh(_ conversation: TimelineConversation, _ timeline: FanoutTimeline, _ hold: HoldRules)
  {
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
    _ hold: HoldRules
  ) {
    let code = unsafe hold.rules.codes(messageClass)[Int(conversation.states[rank])]
    var at: Int64 = 0
    if HoldRules.isSuppressed(code) {
      // Still to come, so still the same, unless something was changed: then it was taken out.
      at = timeline.release(of: rank, messageClass, conversation, hold) ?? 0
    }
    if unsafe at == releases[rank], unsafe code == codes[rank] || at == 0 { return }
    takeOut(rank)
    guard at != 0 else { return }
    unsafe releases[rank] = at
    unsafe codes[rank] = code
    let key = Key(at: at, code: code)
    let place = places[key] ?? groups.count
    if place == groups.count {
      groups.append(Group(at: at, code: code))
      places[key] = place
    }
    groups[place].count += 1
    groups[place].ranks.append(UInt32(rank))
    if groups[place].ranks.count > 2 * count + 64 { thin(place) }
  }

  private func takeOut(_ rank: Int) {
    let at = unsafe releases[rank]
    guard at != 0 else { return }
    let key = Key(at: at, code: unsafe codes[rank])
    unsafe releases[rank] = 0
    guard let place = places[key] else { return }
    groups[place].count -= 1
    guard groups[place].count == 0 else { return }
    places[key] = nil
    let last = groups.removeLast()
    guard place < groups.count else { return }
    groups[place] = last
    places[Key(at: last.at, code: last.code)] = place
  }

  /// Drops the ranks of a group that are no longer of it, or in it twice.
  private func thin(_ place: Int) {
    let (at, code) = (groups[place].at, groups[place].code)
    groups[place].ranks = Set(groups[place].ranks).filter {
      unsafe releases[Int($0)] == at && codes[Int($0)] == code
    }
  }
}

/// The rules of a conversation, and what its members depend on as time goes on.
struct HoldRules {
  let rules: StateRules
  let states: ConversationStates
  let target: ConversationStates.Target

  private static let suppressed = (0..<UInt8(128)).map {
    Outcome(code: $0)?.action == .suppress
  }

  static func isSuppressed(_ code: UInt8) -> Bool { suppressed[Int(code)] }
}

extension FanoutTimeline {
  /// The first instant after now at which a message of a class pushes to a member, if time alone goes
  /// on; nil when it never does.
  ///
  /// - Complexity: O(1) for one whose schedule alone turns, between two levels, but for the first time
  ///   after a turn.
  func release(
    of rank: Int, _ messageClass: Int, _ conversation: TimelineConversation, _ hold: HoldRules
  ) -> Int64? {
    let world = world
    let user = world.tables.memberUsers[Int(hold.target.memberRow.start) + rank]
    let classBits = unsafe conversation.classes[rank]
    let member = MemberClass(bits: unsafe conversation.members[rank])
    var hasTurns = false
    switch world.tables.app.rules {
    case .easemob: hasTurns = classBits & UserClass.muteBit != 0 || member.isMuted
    case .rongcloud: world.tables.forEachTurn(of: user) { hasTurns = hasTurns || $0 > now }
    }
    if hasTurns { return releaseByTurns(user, rank, messageClass, hold) }
    // Only the schedule is left: the first of its levels at which the message pushes.
    let schedule = unsafe conversation.schedules[rank]
    var found: Int64?
    clock.forEachLater(schedule, world.tables) { second, bits in
      let state = Int(hold.rules.state(UserClass(bits: classBits | bits), member))
      guard unsafe hold.rules.codes(messageClass)[state] & 1 != 0 else { return true }
      found = second
      return false
    }
    guard let second = found, second <= Instant.maximumMilliseconds / 1000 else { return nil }
    return second * 1000
  }

  /// The same for a member with mutes or graces still to end, turn by turn.
  private func releaseByTurns(
    _ user: UInt32, _ rank: Int, _ messageClass: Int, _ hold: HoldRules
  ) -> Int64? {
    let tables = world.tables
    let special = hold.states.special(user, rank: rank, hold.target)
    let kind = Moment.place(of: hold.target.kind, tables.app.rules)
    let schedule = tables.scheduleTable.schedule(tables.schedules[Int(user)])
    var turns = [special.mutedUntil]
    tables.forEachTurn(of: user) { turns.append($0) }
    var at = now
    // Once every level of the schedule was of no use, only the other turns are left.
    var unseen = UnseenLevels(schedule, at: at / 1000)
    while true {
      let single = turns.filter { $0 > at }.min() ?? Int64.max
      var edge = Int64.max
      if !unseen.isEmpty, let second = schedule?.nextTransition(after: at / 1000),
        second <= Instant.maximumMilliseconds / 1000
      {
        edge = second * 1000
      }
      at = min(single, edge)
      if at > Instant.maximumMilliseconds { return nil }
      let state = hold.rules.state(
        tables.userClass(of: user, kind: kind, at: at), special.memberClass(at: at))
      if unsafe hold.rules.codes(messageClass)[Int(state)] & 1 != 0 { return at }
      if single == at { unseen = UnseenLevels(schedule, at: at / 1000) }
      unseen.remove(schedule?.level(at: at / 1000))
    }
  }
}
