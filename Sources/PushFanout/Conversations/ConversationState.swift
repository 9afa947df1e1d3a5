internal import PushModel
internal import Synchronization

/// The states of a conversation's members in an interval of time: one byte per member, in the order
/// of users.
///
/// Everything that a decision needs beside the message itself: the number of members in each state
/// and, for each class of message, a bitmap of who gets a push. Both are computed on first use.
///
/// SAFETY: a ConversationState is mutated only while uniquely referenced (by
/// ``ConversationStates``). While it is shared only the lazily computed summaries are added,
/// through atomic references.
@safe final class ConversationState: @unchecked Sendable {
  /// What the states were computed from.
  struct Source: Equatable {
    var conversation: UInt32
    /// The message's channel, in ultra groups.
    var channel: Identifier
    var revision: UInt32
    var parentRevision: UInt32
    var appRevision: UInt32
    /// The epoch of ``UserClasses``.
    var epoch: UInt64
    /// Whether the users' classes come from the version's ``UserClasses`` or were computed one by
    /// one.
    var usesUserClasses: Bool

    /// Whether the members and the conversation's settings are the same.
    func isSameMembership(_ other: Source) -> Bool {
      conversation == other.conversation && channel == other.channel
        && revision == other.revision && parentRevision == other.parentRevision
        && appRevision == other.appRevision
    }
  }

  /// A member's overrides, from which the member's class follows at any instant.
  struct MemberOverrides {
    var rank: UInt32
    /// The class while the user is a member and not muted.
    var member: MemberClass
    /// Milliseconds, 0 for none.
    var since: Int64
    var mutedUntil: Int64

    func memberClass(at now: Int64) -> MemberClass {
      if since > now { return .absent }
      return MemberClass(bits: member.bits | (mutedUntil > now ? MemberClass.muteBit : 0))
    }
  }

  /// An instant at which a member's overrides take effect or expire.
  struct Event {
    var at: Int64
    var rank: UInt32
  }

  /// What the states were computed from, and the interval in which they are valid.
  struct Validity {
    var source: Source
    /// How many entries of the ``UserClasses`` log have been applied.
    var logCount = 0
    /// The half-open interval ``from`` ..< ``until`` in which the value is valid, in milliseconds
    /// since the epoch.
    var from: Int64 = 0
    var until: Int64 = 0
  }

  var validity: Validity
  /// The members with overrides, and the revision of the list; nil when the list is missing or
  /// stale.
  var overrides: [MemberOverrides] = []
  var overrideRevision: UInt32?
  /// The instants at which overrides take effect or expire, earliest first, and how many of them
  /// have passed.
  var events: [Event] = []
  var eventCount = 0

  private(set) var count: Int
  private let capacity: Int
  let bytes: UnsafeMutablePointer<UInt8>
  private let pool: BufferPool
  /// The addresses of the lazily computed summaries, 0 until then.
  let histogram = Atomic<UInt>(0)
  let bitmaps: InlineArray<16, Atomic<UInt>>
  /// Whether any summary may have been computed.
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

  /// Resets the object for another conversation whose states are not cached.
  ///
  /// - Precondition: this is uniquely referenced, and `count` is within its capacity.
  func reset(count: Int) {
    forget()
    self.count = count
    if !overrides.isEmpty { overrides = [] }
    overrideRevision = nil
    if !events.isEmpty { events = [] }
    eventCount = 0
  }

  private func forget() {
    guard isAsked.exchange(false, ordering: .relaxed) else { return }
    AtomicLazy.release(histogram, as: Histogram.self)
    for slot in 0..<16 { AtomicLazy.release(bitmaps[slot], as: Bitmap.self) }
  }

  /// A copy without the lazily computed summaries.
  func copied() -> ConversationState {
    let copy = ConversationState(validity.source, count: count, pool: pool)
    unsafe copy.bytes.update(from: bytes, count: count)
    copy.validity = validity
    copy.overrides = overrides
    copy.overrideRevision = overrideRevision
    copy.events = events
    copy.eventCount = eventCount
    return copy
  }

  /// The bytes that it counts for in a cache, without events.
  var byteCount: Int { count + count / 8 + 512 }

  /// The number of members in each state.
  var counts: Histogram {
    if let counts = AtomicLazy.load(histogram, as: Histogram.self) { return counts }
    isAsked.store(true, ordering: .relaxed)
    return AtomicLazy.store(
      unsafe Histogram(UnsafeBufferPointer(start: bytes, count: count)), in: histogram)
  }

  /// The members who get a push, by the codes of a class of message.
  func pushes(_ messageClass: Int, codes: UnsafePointer<UInt8>) -> Bitmap {
    let slot = messageClass % 16
    if let bitmap = AtomicLazy.load(bitmaps[slot], as: Bitmap.self),
      bitmap.messageClass == messageClass
    {
      return bitmap
    }
    let bitmap = unsafe Bitmap(
      messageClass, UnsafeBufferPointer(start: bytes, count: count), codes: codes)
    isAsked.store(true, ordering: .relaxed)
    let stored = AtomicLazy.store(bitmap, in: bitmaps[slot])
    return stored.messageClass == messageClass ? stored : bitmap
  }

  /// Sets the state of one member and updates the summaries.
  ///
  /// - Precondition: this is uniquely referenced.
  func set(_ rank: Int, _ state: UInt8, _ rules: StateRules) {
    let before = unsafe bytes[rank]
    guard state != before else { return }
    unsafe bytes[rank] = state
    AtomicLazy.load(histogram, as: Histogram.self)?.move(from: before, to: state)
    for slot in 0..<16 {
      guard let bitmap = AtomicLazy.load(bitmaps[slot], as: Bitmap.self) else { continue }
      bitmap.set(rank, unsafe rules.codes(bitmap.messageClass)[Int(state)] & 1)
    }
  }
}
