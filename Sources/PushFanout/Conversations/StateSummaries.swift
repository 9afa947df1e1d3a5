internal import CPushKernels

/// The number of members in each state.
///
/// SAFETY: mutated only while its ``ConversationState`` is uniquely referenced.
final class Histogram: @unchecked Sendable {
  private(set) var counts: InlineArray<256, UInt32>

  init(_ states: UnsafeBufferPointer<UInt8>) {
    // Four counters per state: with one, a run of equal states would wait for its own last store.
    var lanes = InlineArray<1024, UInt32>(repeating: 0)
    var index = 0
    while index + 4 <= states.count {
      for lane in 0..<4 {
        let state = unsafe states[index &+ lane]
        unsafe lanes[unchecked: lane &* 256 &+ Int(state)] &+= 1
      }
      index += 4
    }
    while index < states.count {
      lanes[Int(unsafe states[index])] &+= 1
      index += 1
    }
    counts = InlineArray { lanes[$0] &+ lanes[256 + $0] &+ lanes[512 + $0] &+ lanes[768 + $0] }
  }

  func move(from before: UInt8, to after: UInt8) {
    counts[Int(before)] -= 1
    counts[Int(after)] += 1
  }
}

/// One bit per member: whether the member gets a push.
///
/// SAFETY: mutated only while its ``ConversationState`` is uniquely referenced.
@safe final class Bitmap: @unchecked Sendable {
  let messageClass: Int
  let words: UnsafeMutablePointer<UInt64>
  let wordCount: Int

  init(
    _ messageClass: Int, _ states: UnsafeBufferPointer<UInt8>, codes: UnsafePointer<UInt8>
  ) {
    self.messageClass = messageClass
    let count = states.count
    wordCount = (count + 63) / 64
    unsafe words = .allocate(capacity: max(wordCount, 1))
    if let states = states.baseAddress { unsafe pk_bits(codes, states, words, count) }
  }

  deinit { unsafe words.deallocate() }

  func set(_ rank: Int, _ bit: UInt8) {
    let mask: UInt64 = 1 << UInt64(rank % 64)
    let word = unsafe words[rank / 64] & ~mask
    unsafe words[rank / 64] = word | (bit == 0 ? 0 : mask)
  }
}
