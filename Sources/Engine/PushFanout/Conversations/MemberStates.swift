internal import PushSupport
internal import Synchronization

/// A byte with the state of each member in an interval without transitions, in the order of users.
///
/// SAFETY: the bytes are written by `init`, read only from then on, and freed by `deinit`.
@safe final class MemberStates: @unchecked Sendable {
  let revision: UInt
  /// The half-open interval, in milliseconds since the epoch.
  let from: Int64
  let until: Int64
  let count: Int
  let bytes: UnsafeMutablePointer<UInt8>

  init(
    _ conversation: CachedConversation, _ quiet: SchedulePhases, _ revision: UInt, threads: Int
  ) {
    self.revision = revision
    from = quiet.from
    until = quiet.until
    count = conversation.count
    unsafe bytes = .allocate(capacity: max(count, 1))
    let size = CachedConversation.pieceSize
    let isParallel = threads > 1 && count >= CachedConversation.parallelSize
    Parallel.perform(isParallel ? (count + size - 1) / size : 1, threads: threads) { piece in
      let ranks = isParallel ? piece * size..<min((piece + 1) * size, count) : 0..<count
      fill(ranks, conversation, quiet)
    }
  }

  private func fill(
    _ ranks: Range<Int>, _ conversation: CachedConversation, _ quiet: SchedulePhases
  ) {
    let phases = quiet.phases
    let stateByBase = unsafe conversation.stateByBase
    let (keys, bytes) = unsafe (conversation.keys, bytes)
    for rank in ranks {
      let key = MemberKey(bits: unsafe keys[rank].load(ordering: .relaxed))
      unsafe bytes[rank] = unsafe key.state(phases, stateByBase)
    }
  }

  deinit { unsafe bytes.deallocate() }
}
