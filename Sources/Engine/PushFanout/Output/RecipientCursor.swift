internal import Algorithms
internal import CPushKernels
public import PushModel

/// Iterates over recipients in the order of users, without counting references.
///
/// It finds 64 members at a time by bits. Ids are prefetched when users are found, and what they
/// lead to once they have arrived.
///
/// SAFETY: reads what the result's ``AnswerStorage`` retains; the caller retains that, and decides
/// nothing into it.
@safe struct RecipientCursor {
  enum Selection {
    case recipients
    case pushes
  }

  /// What is read of each recipient and prefetched.
  enum Content: Int {
    case users
    case ids
    case devices
  }

  /// A user's index and outcome code.
  struct Recipient: BitwiseCopyable {
    var index: UInt32 = 0
    /// Only for ``Selection/recipients``.
    var code: UInt8 = 0
  }

  /// About how many users to find at a time.
  private static var batch: Int { 24 }
  private static var mask: Int { 127 }

  private let selection: Selection
  private let content: Content
  private let states: UnsafePointer<UInt8>
  private let codes: UnsafePointer<UInt8>
  /// Tells by its lowest bit whether a state is selected.
  private let selected: UnsafePointer<UInt8>
  private let corrections: UnsafeBufferPointer<AnswerStorage.Correction>
  private let sender: Int
  private let memberUsers: PagedTable<UInt32>
  private let firstSlot: Int
  private let ids: IDReader
  private let devices: DeviceReader

  /// The next member and the end.
  private var rank: Int
  private let end: Int
  private var correction = 0
  /// How many users were found, were prefetched further, may be read, and were read.
  private var foundCount = 0
  private var loadingCount = 0
  private var readableCount = 0
  private var readCount = 0
  /// A ring of the users found.
  // Accessed only by mutating methods: others would copy it.
  private var ring = InlineArray<128, Recipient>(repeating: Recipient())

  /// - Complexity: as for ``FanoutResult/memberStates()``.
  init(
    _ result: borrowing FanoutResult, _ selection: Selection, _ content: Content,
    in ranks: Range<Int>
  ) {
    self.selection = selection
    self.content = content
    let states = unsafe result.memberStates()
    unsafe self.states = unsafe states ?? StateTables.isMember
    unsafe codes = result.codes
    unsafe selected = selection == .pushes ? result.codes : StateTables.isMember
    unsafe corrections = result.corrections
    sender = result.sender
    memberUsers = result.memberUsers
    firstSlot = Int(result.row.start)
    ids = result.ids
    devices = content == .devices ? result.deviceReader : DeviceReader()
    rank = ranks.lowerBound
    end = unsafe states == nil ? ranks.lowerBound : ranks.upperBound
    if rank > 0 {
      correction = unsafe corrections.partitioningIndex { Int($0.rank) >= ranks.lowerBound }
    }
  }

  @inline(__always)
  mutating func next() -> Recipient? {
    if readCount == readableCount, !advance() { return nil }
    let recipient = unsafe ring[unchecked: readCount & Self.mask]
    readCount &+= 1
    return recipient
  }

  // MARK: Ahead

  /// Finds users, and prefetches for earlier ones.
  ///
  /// - Returns: whether there are users to read.
  @inline(never)
  private mutating func advance() -> Bool {
    if content == .users {
      find()
      readableCount = foundCount
      return readableCount > readCount
    }
    repeat {
      readableCount = loadingCount
      if content == .devices || ids.hasLong { loadNext() }
      loadingCount = foundCount
      find()
    } while readableCount == readCount && foundCount > readCount
    return readableCount > readCount
  }

  private mutating func find() {
    let enough = foundCount + Self.batch
    while foundCount < enough, foundCount - readCount <= 64, rank < end {
      let count = min(64, end - rank)
      var word: UInt64 = 0
      unsafe pk_bits(selected, states + rank, &word, count)
      if 0 <= sender - rank, sender - rank < count { word &= ~(1 << UInt64(sender - rank)) }
      let first = correction
      correct(&word, count)
      let before = foundCount
      if word != 0 { append(word, count) }
      if selection == .recipients {
        for index in first..<correction { unsafe setCode(corrections[index], word, before) }
      }
      rank += count
    }
  }

  @inline(__always)
  private mutating func correct(_ word: inout UInt64, _ count: Int) {
    while unsafe correction < corrections.count {
      let next = unsafe corrections[correction]
      let bit = Int(next.rank) - rank
      if bit >= count { return }
      let isSelected = selection == .pushes ? next.code & 1 != 0 : next.code != 0
      word = word & ~(1 << UInt64(bit)) | (isSelected ? 1 << UInt64(bit) : 0)
      correction += 1
    }
  }

  private mutating func setCode(
    _ correction: AnswerStorage.Correction, _ word: UInt64, _ before: Int
  ) {
    let bit: UInt64 = 1 << UInt64(Int(correction.rank) - rank)
    guard word & bit != 0 else { return }
    var ring = ring.mutableSpan
    ring[(before + (word & (bit - 1)).nonzeroBitCount) & Self.mask].code = correction.code
  }

  private mutating func append(_ bits: UInt64, _ count: Int) {
    // Copies, as the compiler cannot tell that the ring does not alias them.
    let (ids, devices, content, selection) = (ids, devices, content, selection)
    let (memberUsers, slot) = (memberUsers, firstSlot + rank)
    let (states, codes) = unsafe (states + rank, codes)
    let chunk = unsafe memberUsers.chunk(from: slot, limit: count)
    var ring = ring.mutableSpan
    var (word, found) = (bits, foundCount)
    while word != 0 {
      let bit = word.trailingZeroBitCount
      word &= word &- 1
      let user = bit < chunk.count ? unsafe chunk[bit] : memberUsers[slot + bit]
      let code = selection == .recipients ? unsafe codes[Int(states[bit])] : 0
      unsafe ring[unchecked: found & Self.mask] = Recipient(index: user, code: code)
      found &+= 1
      if content != .users { ids.prefetch(user) }
      if content == .devices { devices.prefetch(user) }
    }
    foundCount = found
  }

  private mutating func loadNext() {
    let (ids, devices, content) = (ids, devices, content)
    for index in loadingCount..<foundCount {
      let user = unsafe ring[unchecked: index & Self.mask].index
      if ids.hasLong { ids.prefetchCharacters(user) }
      if content == .devices { devices.prefetchRecords(user) }
    }
  }
}

extension FanoutResult {
  /// Usable while the result is retained.
  var deviceReader: DeviceReader { storage.version?.deviceReader ?? DeviceReader() }

  /// Calls `body` with index, UTF-8 id and code of each recipient among ranks, in the order of
  /// users.
  ///
  /// - Complexity: O(ranks), beside that of ``memberStates()``.
  package func forEachRecipient(
    in ranks: Range<Int>, withDevices: Bool = false,
    _ body: (UInt32, UnsafeRawBufferPointer, UInt8) throws -> Void
  ) rethrows {
    defer { withExtendedLifetime(storage) {} }
    var cursor = RecipientCursor(self, .recipients, withDevices ? .devices : .ids, in: ranks)
    while let recipient = cursor.next() {
      try unsafe body(recipient.index, ids.characters(recipient.index), recipient.code)
    }
  }

  /// Calls `body` with the UTF-8 id of each recipient of a push among ranks, in the order of users.
  package func forEachPush(in ranks: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
    defer { withExtendedLifetime(storage) {} }
    var cursor = RecipientCursor(self, .pushes, .ids, in: ranks)
    while let recipient = cursor.next() { unsafe body(ids.characters(recipient.index)) }
  }

  package func hasPush(in ranks: Range<Int>) -> Bool {
    defer { withExtendedLifetime(storage) {} }
    var cursor = RecipientCursor(self, .pushes, .users, in: ranks)
    return cursor.next() != nil
  }

  /// Calls `body` with each recipient's index and outcome, in the order of users.
  ///
  /// - Complexity: O(members).
  public func forEachRecipient(
    _ body: (UserIndex, Outcome) throws -> Void
  ) rethrows {
    defer { withExtendedLifetime(storage) {} }
    var cursor = RecipientCursor(self, .recipients, .users, in: 0..<memberCount)
    while let recipient = cursor.next() {
      if let outcome = Outcome(code: recipient.code) {
        try body(UserIndex(recipient.index), outcome)
      }
    }
  }
}
