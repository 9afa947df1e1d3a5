internal import PushRules
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
    /// Of ``UserClasses``.
    var epoch: UInt64
    /// Whether the users' classes are the moment's, or were worked out one by one.
    var usesUserClasses: Bool

    /// Whether the members, and what is set for the conversation, are the same.
    func isSameMembership(_ other: Source) -> Bool {
      conversation == other.conversation && channel == other.channel
        && revision == other.revision && parentRevision == other.parentRevision
        && appRevision == other.appRevision
    }
  }

  /// What decides the class of a member who has something kept beside, at any instant.
  struct MemberOverrides {
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
  var overrides: [MemberOverrides] = []
  var overrideRevision: UInt32?
  /// The instants at which their settings change by themselves, the earliest first, and how many of
  /// them have been.
  var events: [Event] = []
  var eventCount = 0

  private(set) var count: Int
  private let capacity: Int
  let bytes: UnsafeMutablePointer<UInt8>
  private let pool: BufferPool
  /// Addresses of what is filled in on demand, 0 at first.
  let histogram = Atomic<UInt>(0)
  let bitmaps: InlineArray<16, Atomic<UInt>>
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

  /// A copy of what is not filled in on demand.
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

  /// What it takes in a cache, but for events.
  var byteCount: Int { count + count / 8 + 512 }

  /// How many members are in each state.
  var counts: Histogram {
    if let counts = AtomicLazy.load(histogram, as: Histogram.self) { return counts }
    isAsked.store(true, ordering: .relaxed)
    return AtomicLazy.store(
      unsafe Histogram(UnsafeBufferPointer(start: bytes, count: count)), in: histogram)
  }

  /// Who gets a push, for codes that belong to a class of message.
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

  /// Puts one member into another state.
  ///
  /// - Precondition: nobody else holds this.
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
