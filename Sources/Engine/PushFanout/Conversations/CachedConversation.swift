internal import PushModel
internal import PushSupport
internal import Synchronization

/// What decides the members of a conversation, kept between messages: a ``MemberKey`` for each, in
/// the order of users.
///
/// A message needs the number of members in each state, and the states of its sender and of those
/// it mentions. In a conversation of up to ``countedPerMessageLimit`` members the keys are read for
/// each message. For larger ones a few *tallies* are kept, the numbers for as many instants. The
/// log of transitions leads from one instant to another; the members of a schedule are counted by *runs*
/// of equal keys, so that a transition costs as many steps as the schedule's members have
/// different bases, however many members there are.
///
/// Keys change when a change of settings that was delivered is applied, and at *events*: a mute
/// ends, a membership begins. Both are applied by the first reader of a later version or instant.
/// For a reader of an earlier one the members concerned are resolved from its own tables.
///
/// Readers of the latest version and instant take no lock: they compare ``sequence``, which is odd
/// during a change, before and after reading.
///
/// SAFETY: the arrays have ``count`` keys and, for each tally, ``StateRules/stateCount`` numbers.
/// They are accessed atomically, written only under the lock of ``guarded``, and freed by
/// `deinit`.
@safe final class CachedConversation: @unchecked Sendable {
  /// Up to this many members, the keys are read for each message, unless tests ask for another
  /// limit.
  static let countedPerMessageLimit = 512
  /// See ``ConversationCache/readFromTablesLimit``.
  static let readFromTablesLimit = 128
  static let tallyCount = 4
  /// How many cache lines of an entry a message reads.
  static let prefetchedLines = 4

  // What every message reads is in the first lines.

  /// The revisions of ``target``.
  private let revisions: (row: UInt32, members: UInt32, app: UInt32)
  let isSmall: Bool
  /// Whether readers may use it: whether it was certain, after it could be found, that no change of
  /// settings was missed.
  let isOpen = Atomic<Bool>(false)
  /// Whether it was used since the cache last looked for what to evict.
  let isUsed = Atomic<Bool>(true)
  /// The cache's entry for another channel of the same conversation.
  let next = ConversationCache.AtomicSlot()
  let count: Int
  let keys: UnsafeMutablePointer<Atomic<UInt32>>
  /// Tables of ``target``'s rules, as pointers: no reference is counted to read them.
  let stateByBase: UnsafePointer<UInt8>

  /// Odd while keys, tallies or the numbers below are being changed.
  let sequence = Atomic<UInt>(0)
  /// How often keys, or what their members' events are, were changed.
  let revision = Atomic<UInt>(0)
  /// The version of the keys: they hold from it until the version ``pendingFrom``.
  let applied: Atomic<UInt64>
  let pendingFrom = Atomic<UInt64>(.max)
  /// The half-open interval in which no member has an event, in milliseconds since the epoch.
  let eventsFrom = Atomic<Int64>(.min)
  let eventsUntil = Atomic<Int64>(.max)
  let stateCount: Int
  /// The numbers of all tallies, in front of ``keys``; none in a small conversation.
  let tallies: UnsafeMutablePointer<Atomic<UInt32>>
  /// The size of both arrays.
  private let arrayBytes: Int
  /// For each tally, the half-open interval for which it holds; empty for an unused one.
  let tallyBounds: InlineArray<8, Atomic<Int64>> = InlineArray { _ in Atomic(0) }

  let target: ConversationTarget
  let guarded: Lock<Guarded>

  /// Where the cache lists it.
  // SAFETY: accessed under the cache's lock.
  nonisolated(unsafe) var position = 0
  /// The bytes that it takes at most, with everything that is made on demand.
  // SAFETY: written once, before other threads can find it.
  nonisolated(unsafe) private(set) var byteLimit = 0

  /// Of a conversation whose members are all looked at for changes of presence: the
  /// ``OnlineUsers/revision`` when they were last, and their codes then, 32 in a word.
  // SAFETY: accessed by the one thread of a timeline.
  @safe nonisolated(unsafe) var scansPresence = false
  @safe nonisolated(unsafe) var seenPresence = 0
  @safe nonisolated(unsafe) var presence: [UInt64] = []

  /// What is accessed under the lock.
  struct Guarded: ~Copyable {
    var changes: PendingChanges
    var events = EventLog()
    var tallies: Tallies
    /// The members' states as last asked for as a whole.
    var states: MemberStates?
    /// Who is told of keys that change.
    var observer: (any KeyObserver)?
  }

  init(_ target: ConversationTarget, number: UInt64, isSmall: Bool) {
    self.isSmall = isSmall
    self.target = target
    revisions = (target.row.revision, target.memberRow.revision, target.appRevision)
    count = Int(target.memberRow.count)
    unsafe stateByBase = target.rules.statesByBase
    stateCount = target.rules.stateCount
    applied = Atomic(number)
    guarded = Lock(
      Guarded(
        changes: PendingChanges(number), tallies: Tallies(count: isSmall ? 0 : Self.tallyCount)))
    let numbers = isSmall ? 0 : stateCount * Self.tallyCount
    arrayBytes = (numbers + max(count, 1)) * MemoryLayout<Atomic<UInt32>>.stride
    unsafe tallies = PageMemory.shared.allocate(arrayBytes)
      .bindMemory(to: Atomic<UInt32>.self, capacity: numbers + max(count, 1))
    unsafe keys = tallies + numbers
    for index in 0..<numbers { unsafe (tallies + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe PageMemory.shared.free(tallies, arrayBytes) }

  /// Computes ``byteLimit``.
  func setByteLimit(eventCount: Int) {
    let arrays = PageMemory.size(of: arrayBytes)
    let events = eventCount * (MemoryLayout<EventLog.Event>.stride + MemoryLayout<UInt32>.stride)
    unsafe byteLimit = 640 + arrays + count * (isSmall ? 2 : 8) + events
  }

  /// Whether it was built for the same members and settings of the conversation and the app.
  @inline(__always)
  func isOf(_ target: borrowing ConversationTarget) -> Bool {
    revisions.row == target.row.revision && revisions.members == target.memberRow.revision
      && revisions.app == target.appRevision
  }

  @inline(__always)
  func key(_ rank: Int) -> MemberKey {
    MemberKey(bits: unsafe keys[rank].load(ordering: .relaxed))
  }

  /// Takes in changes of members that a version makes, before it is published, or of their presence.
  func deliver(_ subjects: some Sequence<PendingChanges.Subject>, number: UInt64) {
    guarded.withLock { guarded in
      guarded.changes.add(subjects, number, limit: max(64, count))
      setPendingFrom(guarded)
    }
  }

  func setPendingFrom(_ guarded: borrowing Guarded) {
    pendingFrom.store(guarded.changes.first, ordering: .sequentiallyConsistent)
  }
}

/// Takes in that keys of a conversation change.
protocol KeyObserver: AnyObject, Sendable {
  /// Called under the conversation's lock.
  func note(_ rank: Int, from before: MemberKey, to after: MemberKey)
}
