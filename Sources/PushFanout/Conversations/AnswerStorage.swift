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
  @safe @exclusivity(unchecked) var conversation: CachedConversation?
  @safe @exclusivity(unchecked) var quiet: ScheduleLevels?
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
