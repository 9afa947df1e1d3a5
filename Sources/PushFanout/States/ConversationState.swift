internal import CPushKernels
internal import PushRules
internal import PushSupport
internal import Synchronization

/// The state of every member of a conversation, for a stretch of time: a byte a member, in the order
/// of users.
///
/// Everything a message needs that is not about the message comes from here: how many members are
/// in each state, and, for each class of message, a bit a member that says who gets a push. Both are
/// counted when first asked for.
///
/// SAFETY: while several threads hold it nothing in it changes but what is filled in once, by atomic
/// references. Who changes it (``ConversationStates``) is the only one that holds it.
@safe final class ConversationState: @unchecked Sendable {
  /// What the state was worked out from.
  struct Source: Equatable {
    var conversation: UInt32
    /// The message's channel, in ultra groups.
    var channel: Identifier
    var revision: UInt32
    var parentRevision: UInt32
    var appRevision: UInt32
    /// Of ``Moment``.
    var epoch: UInt64
    /// Whether the users' classes are the moment's, or were worked out one by one.
    var usesMoment: Bool

    /// Whether the members, and what is set for the conversation, are the same.
    func isSameMembership(_ other: Source) -> Bool {
      conversation == other.conversation && channel == other.channel
        && revision == other.revision && parentRevision == other.parentRevision
        && appRevision == other.appRevision
    }
  }

  /// What decides the class of a member who has something kept beside, at any instant.
  struct Special {
    var rank: UInt32
    /// The class of one who is a member and not muted.
    var member: MemberClass
    /// Milliseconds, 0 for none.
    var since: Int64
    var mutedUntil: Int64

    func memberClass(at now: Int64) -> MemberClass {
      if since > now { return .absent }
      return MemberClass(bits: member.bits | (mutedUntil > now ? MemberClass.muteBit : 0))
    }
  }

  /// An instant at which a member's own settings change by themselves.
  struct Event {
    var at: Int64
    var rank: UInt32
  }

  /// What it was worked out from, and for how long it holds.
  struct Validity {
    var source: Source
    /// How much of the moment's log is in.
    var logCount = 0
    /// Valid from this instant on, until before the other; milliseconds.
    var from: Int64 = 0
    var until: Int64 = 0
  }

  var validity: Validity
  /// The members with something kept beside, and after which change of theirs; nil when the list is
  /// not, or no longer, what there is.
  var specials: [Special] = []
  var specialRevision: UInt32?
  /// The instants at which their settings change by themselves, the earliest first, and how many of
  /// them have been.
  var events: [Event] = []
  var eventCount = 0

  private(set) var count: Int
  private let capacity: Int
  let bytes: UnsafeMutablePointer<UInt8>
  private let pool: BufferPool
  /// Addresses of what is filled in on demand, 0 at first.
  private let histogram = Atomic<UInt>(0)
  private let bitmaps: InlineArray<16, Atomic<UInt>>
  /// Whether any of them may be there.
  private let isAsked = Atomic<Bool>(false)

  init(_ source: Source, count: Int, capacity: Int? = nil, pool: BufferPool) {
    validity = Validity(source: source)
    self.count = count
    self.capacity = capacity ?? count
    self.pool = pool
    unsafe bytes = pool.take(self.capacity)
    bitmaps = InlineArray { _ in Atomic(0) }
  }

  deinit {
    forget()
    unsafe pool.give(bytes, capacity)
  }

  /// Begins anew for another conversation, whose states are not kept.
  ///
  /// - Precondition: nobody else holds this, and it has room for so many members.
  func reset(count: Int) {
    forget()
    self.count = count
    if !specials.isEmpty { specials = [] }
    specialRevision = nil
    if !events.isEmpty { events = [] }
    eventCount = 0
  }

  private func forget() {
    guard isAsked.exchange(false, ordering: .relaxed) else { return }
    Lazily.release(histogram, as: Histogram.self)
    for slot in 0..<16 { Lazily.release(bitmaps[slot], as: Bitmap.self) }
  }

  /// A copy of what is not filled in on demand.
  func copied() -> ConversationState {
    let copy = ConversationState(validity.source, count: count, pool: pool)
    unsafe copy.bytes.update(from: bytes, count: count)
    copy.validity = validity
    copy.specials = specials
    copy.specialRevision = specialRevision
    copy.events = events
    copy.eventCount = eventCount
    return copy
  }

  /// What it takes in a cache, but for events.
  var byteCount: Int { count + count / 8 + 512 }

  /// How many members are in each state.
  var counts: Histogram {
    if let counts = Lazily.load(histogram, as: Histogram.self) { return counts }
    isAsked.store(true, ordering: .relaxed)
    return Lazily.store(
      unsafe Histogram(UnsafeBufferPointer(start: bytes, count: count)), in: histogram)
  }

  /// Who gets a push, for codes that belong to a class of message.
  func pushes(_ messageClass: Int, codes: UnsafePointer<UInt8>) -> Bitmap {
    let slot = messageClass % 16
    if let bitmap = Lazily.load(bitmaps[slot], as: Bitmap.self),
      bitmap.messageClass == messageClass
    {
      return bitmap
    }
    let bitmap = unsafe Bitmap(
      messageClass, UnsafeBufferPointer(start: bytes, count: count), codes: codes)
    isAsked.store(true, ordering: .relaxed)
    let stored = Lazily.store(bitmap, in: bitmaps[slot])
    return stored.messageClass == messageClass ? stored : bitmap
  }

  /// Puts one member into another state.
  ///
  /// - Precondition: nobody else holds this.
  func set(_ rank: Int, _ state: UInt8, _ rules: StateRules) {
    let before = unsafe bytes[rank]
    guard state != before else { return }
    unsafe bytes[rank] = state
    Lazily.load(histogram, as: Histogram.self)?.move(from: before, to: state)
    for slot in 0..<16 {
      guard let bitmap = Lazily.load(bitmaps[slot], as: Bitmap.self) else { continue }
      bitmap.set(rank, unsafe rules.codes(bitmap.messageClass)[Int(state)] & 1)
    }
  }
}

/// How many members are in each state.
///
/// SAFETY: changed only through the one holder of its ``ConversationState``.
final class Histogram: @unchecked Sendable {
  private(set) var counts: InlineArray<256, UInt32>

  init(_ states: UnsafeBufferPointer<UInt8>) {
    // Four counters a state: a run of equal states would otherwise wait for its own last write.
    var lanes = InlineArray<1024, UInt32>(repeating: 0)
    var place = 0
    while place + 4 <= states.count {
      for lane in 0..<4 {
        let state = unsafe states[place &+ lane]
        unsafe lanes[unchecked: lane &* 256 &+ Int(state)] &+= 1
      }
      place += 4
    }
    while place < states.count {
      lanes[Int(unsafe states[place])] &+= 1
      place += 1
    }
    counts = InlineArray { lanes[$0] &+ lanes[256 + $0] &+ lanes[512 + $0] &+ lanes[768 + $0] }
  }

  func move(from before: UInt8, to after: UInt8) {
    counts[Int(before)] -= 1
    counts[Int(after)] += 1
  }
}

/// A bit a member.
///
/// SAFETY: changed only through the one holder of its ``ConversationState``.
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

  func set(_ place: Int, _ bit: UInt8) {
    let mask: UInt64 = 1 << UInt64(place % 64)
    let word = unsafe words[place / 64] & ~mask
    unsafe words[place / 64] = word | (bit == 0 ? 0 : mask)
  }
}

/// Buffers that were used and will be again, so that working states out anew each minute asks the
/// system for nothing.
@safe final class BufferPool: Sendable {
  /// Addresses, by the power of two that they have room for.
  private let free = Lock<[[UInt]]>(Array(repeating: [], count: 40))
  private static let kept = 8

  func take(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    let size = Self.sizeClass(count)
    let address = free.withLock { $0[size].popLast() }
    if let address, let buffer = unsafe UnsafeMutablePointer<UInt8>(bitPattern: address) {
      return unsafe buffer
    }
    return .allocate(capacity: 1 << size)
  }

  func give(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) {
    let size = Self.sizeClass(count)
    let isKept = free.withLock { free in
      guard free[size].count < Self.kept else { return false }
      free[size].append(UInt(bitPattern: buffer))
      return true
    }
    if !isKept { unsafe buffer.deallocate() }
  }

  deinit {
    free.withLock { free in
      for address in free.joined() {
        unsafe UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate()
      }
    }
  }

  /// The exponent of the least power of two, of 64 or more, that is enough.
  private static func sizeClass(_ count: Int) -> Int {
    max(6, Int.bitWidth - max(count - 1, 1).leadingZeroBitCount)
  }
}
