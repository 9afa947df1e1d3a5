public import PushModel

/// The recipients who get a push, in the order of users, read from the result's bitmap.
public struct PushSet: Sequence, Sendable {
  let result: FanoutResult
  let bitmap: Bitmap?

  public func makeIterator() -> Iterator { Iterator(self) }

  /// Iterates over the set bits.
  public struct Iterator: IteratorProtocol {
    private let result: FanoutResult
    private let bitmap: Bitmap?
    private var word: UInt64 = 0
    private var wordIndex = -1
    private var correction = 0

    init(_ set: PushSet) {
      result = set.result
      bitmap = set.bitmap
    }

    public mutating func next() -> UserIndex? {
      guard let bitmap else { return nil }
      while word == 0 {
        wordIndex += 1
        guard wordIndex < bitmap.wordCount else { return nil }
        word = unsafe bitmap.words[wordIndex]
        correctWord()
      }
      let bit = word.trailingZeroBitCount
      word &= word &- 1
      return result.member(at: wordIndex &* 64 &+ bit)
    }

    /// Applies the message's corrections to the word.
    private mutating func correctWord() {
      if result.sender >> 6 == wordIndex { word &= ~(1 << UInt64(result.sender & 63)) }
      while correction < result.corrections.count {
        let (rank, code) = (
          result.corrections[correction].rank, result.corrections[correction].code
        )
        guard Int(rank) / 64 == wordIndex else { return }
        let mask: UInt64 = 1 << UInt64(rank % 64)
        word = word & ~mask | (code & 1 == 0 ? 0 : mask)
        correction += 1
      }
    }
  }

  /// The ids of the recipients who get a push.
  ///
  /// - Complexity: O(1); an id is created when it is read.
  public var ids: LazyMapSequence<PushSet, Identifier> {
    let result = result
    return lazy.map { result.id(of: $0) }
  }
}

extension FanoutResult {
  /// Who gets a push.
  ///
  /// - Complexity: O(1); O(members) the first time for a class of message and states. Iteration is
  ///   O(members / 64 + pushes).
  public var pushes: PushSet {
    guard let states = memberStates() else { return PushSet(result: self, bitmap: nil) }
    let bitmap = unsafe codes.withTable { codes -> Bitmap in
      if let messageClass { return unsafe states.pushes(messageClass, codes: codes) }
      return unsafe Bitmap(-1, states, codes: codes)
    }
    return PushSet(result: self, bitmap: bitmap)
  }
}
