internal import CPushKernels
public import PushRules
internal import PushSupport

/// Who gets a push for one message, and why not.
///
/// The answer is what holds for everybody in the same state, shared with other messages to the
/// conversation, and corrections for the few that the message itself singles out: its sender, and
/// those it names. Nothing is counted or listed before it is asked for.
///
/// A result stays right and usable however the settings change afterwards: it holds the version it
/// was decided on.
///
/// - Memory: 0.5 kB and 8 bytes a correction, beside what it shares.
public struct FanoutResult: Sendable {
  /// A member for whom the message comes to something else than for others in the same state.
  struct Correction {
    var rank: UInt32
    var code: UInt8
  }

  var world: World?
  var row = ConversationRow()
  var state: ConversationState?
  /// Memory for the states of small conversations.
  var small: ConversationState?
  /// States are below this.
  var stateCount = 0
  /// The outcome's code by state.
  var codes = Codes()
  /// By which the pushes of a state are kept; nil when the codes are this message's alone.
  var messageClass: Int?
  /// The rank of the message's sender, who is no recipient; -1 for none.
  var sender = -1
  /// Of others, sorted by rank, each rank once.
  var corrections: [Correction] = []
  var instant: Int64 = 0
  var threads = 1
  var filter: DeviceFilter?

  /// A table of codes: one of the rules', which the world keeps, or the message's own.
  ///
  /// SAFETY: the address is that of 256 bytes which live as long as the rules of ``world``.
  @safe struct Codes: @unchecked Sendable {
    private var shared: UnsafePointer<UInt8>?
    private(set) var own: [UInt8] = []

    init() { unsafe shared = nil }

    mutating func set(_ table: UnsafePointer<UInt8>) {
      unsafe shared = table
      if !own.isEmpty { own = [] }
    }

    /// Makes a table of the message's own of this one.
    mutating func change(_ body: (inout UInt8) -> Void) {
      own = (0..<256).map { self[$0] }
      unsafe shared = nil
      for place in 0..<256 { body(&own[place]) }
    }

    subscript(state: Int) -> UInt8 {
      @inline(__always) get {
        if let shared = unsafe shared { return unsafe shared[state] }
        return own.isEmpty ? 0 : own[state]
      }
    }

    @inline(__always)
    func withTable<Value>(_ body: (UnsafePointer<UInt8>) throws -> Value) rethrows -> Value? {
      if let shared = unsafe shared { return try unsafe body(shared) }
      return try unsafe own.withUnsafeBufferPointer { table in
        guard let table = table.baseAddress else { return nil }
        return try unsafe body(table)
      }
    }
  }

  /// A result of nobody, to be filled by ``Fanout/decide(_:into:)``.
  public init() {}

  /// The version of the settings it was decided on; 0 for a result of nobody.
  public var version: UInt64 { world?.version ?? 0 }

  // MARK: Counts

  /// How often each outcome occurs.
  ///
  /// - Complexity: O(states + corrections), after the first message of a state O(members).
  public var counts: FanoutCounts {
    var counts = FanoutCounts()
    guard let state else { return counts }
    if state.count <= ConversationStates.smallSize {
      for rank in 0..<state.count { counts.add(code(in: state, UInt32(rank)), 1) }
    } else {
      let histogram = state.counts
      for place in 1..<stateCount { counts.add(codes[place], Int(histogram.counts[place])) }
    }
    if sender >= 0 { counts.add(code(in: state, UInt32(sender)), -1) }
    for correction in corrections {
      counts.add(code(in: state, correction.rank), -1)
      counts.add(correction.code, 1)
    }
    counts.removeNobody()
    return counts
  }

  /// How many recipients there are.
  ///
  /// - Complexity: as for ``counts``.
  public var recipientCount: Int { counts.recipientCount }

  /// How many get a push.
  ///
  /// - Complexity: as for ``counts``, with less work.
  public var pushCount: Int {
    guard let state else { return 0 }
    var count = 0
    if state.count <= ConversationStates.smallSize {
      for rank in 0..<state.count { count &+= Int(code(in: state, UInt32(rank)) & 1) }
    } else {
      let histogram = state.counts
      // The lowest bit of a code is "push": added, not asked.
      for place in 1..<stateCount {
        count &+= Int(histogram.counts[place]) &* Int(codes[place] & 1)
      }
    }
    if sender >= 0 { count -= Int(code(in: state, UInt32(sender)) & 1) }
    for correction in corrections {
      count += Int(correction.code & 1) - Int(code(in: state, correction.rank) & 1)
    }
    return count
  }

  // MARK: One member

  /// The outcome for a user; nil for somebody who is no recipient.
  ///
  /// - Complexity: O(log members).
  public func outcome(of user: Identifier) -> Outcome? {
    world?.tables.userIDs.place(of: user).flatMap { outcome(of: UserIndex($0)) }
  }

  /// The outcome for a user; nil for somebody who is no recipient.
  ///
  /// - Complexity: O(log members).
  public func outcome(of user: UserIndex) -> Outcome? {
    guard let rank = world?.tables.rank(of: user.rawValue, in: row) else { return nil }
    return Outcome(code: code(of: rank))
  }

  /// The devices that a push or local notification goes to, in the order they are listed; empty for
  /// somebody who gets none.
  ///
  /// - Complexity: O(log members + devices).
  public func devices(of user: UserIndex) -> [Identifier] {
    targets(of: user).map(\.id)
  }

  func code(of rank: Int) -> UInt8 {
    guard let state, rank != sender else { return 0 }
    var low = 0
    var high = corrections.count
    while low < high {
      let middle = (low + high) / 2
      if Int(corrections[middle].rank) < rank { low = middle + 1 } else { high = middle }
    }
    if low < corrections.count, Int(corrections[low].rank) == rank { return corrections[low].code }
    return code(in: state, UInt32(rank))
  }

  private func code(in state: ConversationState, _ rank: UInt32) -> UInt8 {
    codes[Int(unsafe state.bytes[Int(rank)])]
  }

  // MARK: All members

  /// How many members the conversation has, whether they are recipients or not.
  public var memberCount: Int { state?.count ?? 0 }

  /// The member at a place in the order of users.
  ///
  /// - Precondition: 0 ..< ``memberCount``.
  public func member(at rank: Int) -> UserIndex {
    precondition(0 <= rank && rank < memberCount)
    guard let world else { return UserIndex(0) }
    return UserIndex(world.tables.memberUsers[Int(row.start) + rank])
  }

  /// The id of a user.
  ///
  /// - Precondition: the index came from this result.
  public func id(of user: UserIndex) -> Identifier {
    guard let world else { return "" }
    return world.tables.userIDs[user.rawValue]
  }

  /// Writes a byte for each member, in the order of users: the `Outcome.code`, or 0 for a member
  /// who is no recipient.
  ///
  /// - Precondition: `output` has room for ``memberCount`` bytes.
  /// - Complexity: O(members), without allocating.
  public func writeCodes(into output: inout MutableSpan<UInt8>) {
    guard let state else { return }
    precondition(output.count >= state.count)
    unsafe output.withUnsafeMutableBufferPointer { output in
      guard let output = output.baseAddress else { return }
      // Some 30 members a nanosecond: less work than waking a thread, for all but the largest.
      let size = 1 << 18
      guard threads > 1, state.count > size else {
        return unsafe writeCodes(0..<state.count, to: output)
      }
      // SAFETY: pieces write different bytes.
      nonisolated(unsafe) let start = unsafe output
      Parallel.perform((state.count + size - 1) / size, threads: threads) { piece in
        let ranks = piece * size..<min((piece + 1) * size, state.count)
        unsafe writeCodes(ranks, to: start + ranks.lowerBound)
      }
    }
  }

  /// The codes of members in a range of ranks.
  package func writeCodes(_ ranks: Range<Int>, to output: UnsafeMutablePointer<UInt8>) {
    guard let state else { return }
    _ = unsafe codes.withTable { codes in
      unsafe pk_map(codes, state.bytes + ranks.lowerBound, output, ranks.count)
    }
    if ranks.contains(sender) { unsafe output[sender - ranks.lowerBound] = 0 }
    for correction in corrections where ranks.contains(Int(correction.rank)) {
      unsafe output[Int(correction.rank) - ranks.lowerBound] = correction.code
    }
  }

  /// Calls `body` with each recipient's index and outcome, in the order of users.
  ///
  /// - Complexity: O(members).
  public func forEachRecipient(
    _ body: (UserIndex, Outcome) throws -> Void
  ) rethrows {
    try unsafe forEachRecipient(in: 0..<memberCount) { (user, _, code) throws -> Void in
      if let outcome = Outcome(code: code) { try body(UserIndex(user), outcome) }
    }
  }

  /// Calls `body` with the index, the characters of the id and the code of each recipient in a range
  /// of ranks.
  package func forEachRecipient(
    in ranks: Range<Int>, _ body: (UInt32, UnsafeRawBufferPointer, UInt8) throws -> Void
  ) rethrows {
    guard let world, let state else { return }
    var next = 0
    while next < corrections.count, Int(corrections[next].rank) < ranks.lowerBound { next += 1 }
    for rank in ranks {
      var code = codes[Int(unsafe state.bytes[rank])]
      if next < corrections.count, Int(corrections[next].rank) == rank {
        code = corrections[next].code
        next += 1
      }
      if code == 0 || rank == sender { continue }
      let user = world.tables.memberUsers[Int(row.start) + rank]
      try unsafe body(user, world.tables.userIDs.characters(user), code)
    }
  }
}

extension Tables {
  /// The devices that a push or local notification goes to.
  func targets(
    of user: UInt32, _ action: Action, _ filter: DeviceFilter?, at now: Int64
  ) -> [Device] {
    let devices = effectiveDevices(of: user)
    let isPast = { (device: Device) in
      guard let since = device.backgroundSince?.milliseconds, since <= now else { return false }
      return now - since >= app.rongcloud.backgroundGraceSeconds * 1000
    }
    switch (action, app.rules) {
    case (.suppress, _): return []
    case (.local, _): return devices.filter { $0.state == .background && !isPast($0) }
    case (.push, .easemob):
      return devices.filter {
        ($0.state == .offline || $0.state == .loggedOut) && $0.hasToken
          && (filter?.lets($0) ?? true)
      }
    case (.push, .rongcloud):
      let phones = devices.filter {
        $0.kind == .mobile && $0.hasToken
          && ($0.state == .offline || ($0.state == .background && isPast($0)))
      }
      // with a desktop connected, only the last phone.
      let hasConnected = devices.contains {
        $0.state == .foreground || ($0.state == .background && !isPast($0))
      }
      return hasConnected ? phones.suffix(1) : phones
    }
  }
}
