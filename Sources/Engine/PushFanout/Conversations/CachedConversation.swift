internal import PushModel
internal import PushSupport
internal import Synchronization

/// The ``MemberKey`` of each member, kept between messages, in the order of users.
///
/// Each message reads all keys of a conversation of up to ``countedPerMessageLimit`` members.
/// Larger ones keep *tallies*: numbers of members by state, each for one interval. Transitions lead
/// from one tally to another. *Runs* count equal keys, so a transition costs as many steps as its
/// schedule has bases.
///
/// Changes of settings and *events* (a mute ends, a membership begins) are applied by the first
/// reader of a later version or instant. For earlier ones, the members concerned are resolved from
/// the reader's tables.
///
/// Readers of the latest version and instant take no lock: they compare ``sequence`` before and
/// after.
///
/// SAFETY: the arrays have ``count`` keys and ``stateCapacity`` numbers for each tally.
/// They are accessed atomically, written only under the lock of ``guarded``, and freed by `deinit`.
@safe final class CachedConversation: @unchecked Sendable {
  /// Up to this many members, each message reads all keys.
  static let countedPerMessageLimit = 512
  /// See ``ConversationCache/readFromTablesLimit``. HowItDecides says why the limits differ.
  static let readFromTablesLimit = 128
  static let tallyCount = 4
  /// How many cache lines of an entry each message reads.
  static let prefetchedLines = 4

  // Every message reads the first lines.

  /// Of ``target``.
  private let revisions: (row: UInt32, members: UInt32, app: UInt32)
  let isSmall: Bool
  /// Whether it is certain that no change was missed, so that readers may use it.
  let isOpen = Atomic<Bool>(false)
  /// Whether it was used since eviction last passed it.
  let isUsed = Atomic<Bool>(true)
  /// The same conversation's entry for another channel.
  let next = ConversationCache.AtomicSlot()
  let count: Int
  let keys: UnsafeMutablePointer<Atomic<UInt32>>
  /// A pointer, as reading it counts no reference.
  let stateByBase: UnsafePointer<UInt8>

  /// Odd during a change of keys, tallies or the fields below.
  let sequence = Atomic<UInt>(0)
  /// How often keys or events were changed.
  let revision = Atomic<UInt>(0)
  /// The keys hold up to ``pendingFrom``, exclusively.
  let applied: Atomic<UInt64>
  let pendingFrom = Atomic<UInt64>(.max)
  /// Half-open interval without events, in milliseconds since the epoch.
  let eventsFrom = Atomic<Int64>(.min)
  let eventsUntil = Atomic<Int64>(.max)
  let stateCapacity: Int
  private let ruleSet: EngineRules
  /// Of all tallies, before ``keys``; none in a small conversation.
  let tallies: UnsafeMutablePointer<Atomic<UInt32>>
  /// The size of ``tallies`` and ``keys``.
  private let arrayBytes: Int
  /// A half-open interval for each tally; empty if unused.
  let tallyBounds: InlineArray<8, Atomic<Int64>> = InlineArray { _ in Atomic(0) }

  let target: ConversationTarget
  let guarded: Lock<Guarded>

  /// The index in the cache's list.
  // SAFETY: accessed under the cache's lock.
  nonisolated(unsafe) var position = 0
  /// The most bytes that it takes, with everything made on demand.
  // SAFETY: written once, before other threads can find it.
  nonisolated(unsafe) private(set) var byteLimit = 0

  /// The ``OnlineUsers/revision`` of the last scan of all members, if they are scanned, and their
  /// presence then, 32 codes in a word.
  // SAFETY: accessed by the one thread of a timeline.
  @safe nonisolated(unsafe) var scansPresence = false
  @safe nonisolated(unsafe) var seenPresence = 0
  @safe nonisolated(unsafe) var presence: [UInt64] = []

  /// Fields accessed under the lock.
  struct Guarded: ~Copyable {
    var changes: PendingChanges
    var events = EventLog()
    var tallies: Tallies
    /// All members' states as last asked for.
    var states: MemberStates?
    /// Notified of keys that change.
    var observer: (any KeyObserver)?
  }

  init(_ target: ConversationTarget, number: UInt64, isSmall: Bool) {
    self.isSmall = isSmall
    self.target = target
    revisions = (target.row.revision, target.memberRow.revision, target.appRevision)
    count = Int(target.memberRow.count)
    unsafe stateByBase = target.rules.statesByBase
    stateCapacity = target.rules.stateCapacity
    ruleSet = target.rules.ruleSet
    applied = Atomic(number)
    guarded = Lock(
      Guarded(
        changes: PendingChanges(number), tallies: Tallies(count: isSmall ? 0 : Self.tallyCount)))
    let numbers = isSmall ? 0 : stateCapacity * Self.tallyCount
    arrayBytes = (numbers + max(count, 1)) * MemoryLayout<Atomic<UInt32>>.stride
    unsafe tallies = PageMemory.shared.allocate(arrayBytes)
      .bindMemory(to: Atomic<UInt32>.self, capacity: numbers + max(count, 1))
    unsafe keys = tallies + numbers
    for index in 0..<numbers { unsafe (tallies + index).initialize(to: Atomic(0)) }
  }

  deinit { unsafe PageMemory.shared.free(tallies, arrayBytes) }

  func setByteLimit(eventCount: Int) {
    let arrays = PageMemory.size(of: arrayBytes)
    let events = eventCount * EventLog.bytesPerEvent
    unsafe byteLimit = 640 + arrays + count * (isSmall ? 2 : 8) + events
  }

  @inline(__always)
  func isOf(_ target: borrowing ConversationTarget) -> Bool {
    revisions.row == target.row.revision && revisions.members == target.memberRow.revision
      && revisions.app == target.appRevision
  }

  /// See ``StateTables/stateCount``.
  @inline(__always)
  var stateCount: Int { ruleSet.stateCount(of: stateCapacity) }

  @inline(__always)
  func key(_ rank: Int) -> MemberKey {
    MemberKey(bits: unsafe keys[rank].load(ordering: .relaxed))
  }

  /// Settings are delivered before their version is published.
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

/// Observes a conversation's keys.
protocol KeyObserver: AnyObject, Sendable {
  /// Called under the conversation's lock.
  func note(_ rank: Int, from before: MemberKey, to after: MemberKey)
}
