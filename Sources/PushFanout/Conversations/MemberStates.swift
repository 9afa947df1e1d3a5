internal import CPushKernels
internal import PushSupport
internal import Synchronization

/// The state of each member of a conversation at an interval without transitions, in the order of
/// users: one byte each.
///
/// Any thread may read it. Bitmaps of who gets a push, one for each class of message, are made on
/// first use.
///
/// SAFETY: the bytes are written by `init`, read only from then on, and freed by `deinit`.
@safe final class MemberStates: @unchecked Sendable {
  let revision: UInt
  /// The half-open interval in which they hold, in milliseconds since the epoch.
  let from: Int64
  let until: Int64
  let count: Int
  let bytes: UnsafeMutablePointer<UInt8>
  private let bitmaps: InlineArray<16, Atomic<UInt>> = InlineArray { _ in Atomic(0) }

  init(
    _ conversation: CachedConversation, _ quiet: ScheduleLevels, _ revision: UInt, threads: Int
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
    _ ranks: Range<Int>, _ conversation: CachedConversation, _ quiet: ScheduleLevels
  ) {
    let levels = quiet.levels
    let stateByBase = unsafe conversation.stateByBase
    let (words, bytes) = unsafe (conversation.words, bytes)
    for rank in ranks {
      let word = MemberWord(bits: unsafe words[rank].load(ordering: .relaxed))
      unsafe bytes[rank] = unsafe word.state(levels, stateByBase)
    }
  }

  deinit {
    for slot in 0..<16 { AtomicLazy.release(bitmaps[slot], as: Bitmap.self) }
    unsafe bytes.deallocate()
  }

  /// The members who get a push, by the codes of a class of message.
  func pushes(_ messageClass: Int, codes: UnsafePointer<UInt8>) -> Bitmap {
    let slot = messageClass % 16
    if let bitmap = AtomicLazy.load(bitmaps[slot], as: Bitmap.self),
      bitmap.messageClass == messageClass
    {
      return bitmap
    }
    let bitmap = unsafe Bitmap(messageClass, self, codes: codes)
    let stored = AtomicLazy.store(bitmap, in: bitmaps[slot])
    return stored.messageClass == messageClass ? stored : bitmap
  }
}

/// One bit per member: whether the member gets a push.
///
/// SAFETY: the words are written by `init`, read only from then on, and freed by `deinit`.
@safe final class Bitmap: @unchecked Sendable {
  let messageClass: Int
  let words: UnsafeMutablePointer<UInt64>
  let wordCount: Int

  init(_ messageClass: Int, _ states: MemberStates, codes: UnsafePointer<UInt8>) {
    self.messageClass = messageClass
    wordCount = (states.count + 63) / 64
    unsafe words = .allocate(capacity: max(wordCount, 1))
    unsafe pk_bits(codes, states.bytes, words, states.count)
  }

  deinit { unsafe words.deallocate() }
}
