internal import QuietTime
internal import Synchronization

/// The memory of a ``FanoutResult``: the number of members in each state, and the states of members
/// that the message names.
///
/// SAFETY: written only by the thread that decides into the result, while uniquely referenced; the
/// ``ownStates``, made on demand, is set atomically.
@safe final class AnswerStorage: @unchecked Sendable {
  /// 256 numbers.
  let histogram: UnsafeMutablePointer<UInt32>
  /// The ranks to look up, and the states found.
  @exclusivity(unchecked) private(set) var ranks: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) private(set) var states: UnsafeMutablePointer<UInt8>
  @safe @exclusivity(unchecked) private(set) var rankCount = 0
  @safe @exclusivity(unchecked) private var capacity = 8
  /// The version and the conversation of the last message, which often are those of the next too.
  @safe @exclusivity(unchecked) var version: EngineVersion?
  @safe @exclusivity(unchecked) var conversation: CachedConversation? {
    didSet {
      conversationAddress =
        conversation.map { unsafe UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    }
  }
  /// The address of ``conversation``; 0 for none.
  @safe @exclusivity(unchecked) private(set) var conversationAddress: UInt = 0
  @safe @exclusivity(unchecked) var quiet: ScheduleLevels? {
    didSet {
      from = quiet?.from ?? 0
      until = quiet?.until ?? 0
      calendar = quiet?.calendar ?? 0
      scheduleCount = quiet?.count ?? 0
    }
  }
  /// What ``quiet`` holds for, so that looking counts no reference.
  @safe @exclusivity(unchecked) private var from: Int64 = 0
  @safe @exclusivity(unchecked) private var until: Int64 = 0
  @safe @exclusivity(unchecked) private var calendar = 0
  @safe @exclusivity(unchecked) private var scheduleCount = 0
  /// The address of the states of all members, if the conversation has moved on since; 0 until
  /// asked for.
  let ownStates = Atomic<UInt>(0)

  init() {
    unsafe histogram = .allocate(capacity: 256)
    unsafe histogram.initialize(repeating: 0, count: 256)
    unsafe ranks = .allocate(capacity: capacity)
    unsafe states = .allocate(capacity: capacity)
  }

  deinit {
    AtomicLazy.release(ownStates, as: MemberStates.self)
    unsafe histogram.deallocate()
    unsafe ranks.deallocate()
    unsafe states.deallocate()
  }

  /// The reader of an instant, if ``quiet`` holds for it and for the version.
  @inline(__always)
  func reader(at now: Int64, _ version: EngineVersion) -> ConversationReader? {
    guard from <= now, now < until, calendar == version.tables.calendarID,
      scheduleCount >= version.tables.scheduleTable.count, let quiet
    else { return nil }
    return ConversationReader(version: version, now: now, quiet: quiet)
  }

  /// Begins another message.
  func reset() {
    rankCount = 0
    if ownStates.load(ordering: .relaxed) != 0 {
      AtomicLazy.release(ownStates, as: MemberStates.self)
    }
  }

  /// Adds a rank to look up.
  func add(_ rank: Int) {
    if rankCount == capacity { grow() }
    unsafe ranks[rankCount] = UInt32(rank)
    rankCount += 1
  }

  private func grow() {
    let (oldRanks, oldStates) = unsafe (ranks, states)
    capacity *= 2
    unsafe ranks = .allocate(capacity: capacity)
    unsafe states = .allocate(capacity: capacity)
    unsafe ranks.update(from: oldRanks, count: rankCount)
    unsafe oldRanks.deallocate()
    unsafe oldStates.deallocate()
  }

  /// Sorts the ranks and removes duplicates.
  func sortRanks() {
    guard rankCount > 1 else { return }
    var all = unsafe UnsafeMutableBufferPointer(start: ranks, count: rankCount)
    unsafe all.sort()
    var kept = 1
    for index in 1..<rankCount where unsafe ranks[index] != ranks[kept - 1] {
      unsafe ranks[kept] = unsafe ranks[index]
      kept += 1
    }
    rankCount = kept
  }
}
