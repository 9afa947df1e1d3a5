internal import PushModel
internal import PushSupport
internal import Synchronization

/// A ``MemberKey`` for each member of a conversation, kept between messages, in the order of users.
///
/// Each message reads all keys of a conversation of up to ``countedPerMessageLimit`` members.
/// Larger ones keep a few *tallies*: the numbers of members in each state, each for one interval.
/// The log of transitions leads from one tally to another. *Runs* of equal keys count a schedule's
/// members, so a transition costs as many steps as these have different bases.
///
/// Delivered changes of settings and *events* (a mute ends, a membership begins) change keys. The
/// first reader of a later version or instant applies them. For a reader of an earlier one, the
/// members concerned are resolved from its own tables.
///
/// Readers of the latest version and instant take no lock: they compare ``sequence`` before and
/// after.
///
/// SAFETY: the arrays have ``count`` keys and ``StateRules/stateCount`` numbers for each tally.
/// They are accessed atomically, written only under the lock of ``guarded``, and freed by `deinit`.
@safe final class CachedConversation: @unchecked Sendable {
  /// The largest number of members whose keys each message reads.
  static let countedPerMessageLimit = 512
  /// See ``ConversationCache/readFromTablesLimit``.
  static let readFromTablesLimit = 128
  static let tallyCount = 4
  /// How many cache lines of an entry each message reads.
  static let prefetchedLines = 4

  // Fields that every message reads come first, in these lines.

  /// Of ``target``.
  private let revisions: (row: UInt32, members: UInt32, app: UInt32)
  let isSmall: Bool
  /// Whether readers may use it: after it could be found, no change of settings was missed.
  let isOpen = Atomic<Bool>(false)
  /// Whether it was used since the cache last considered its eviction.
  let isUsed = Atomic<Bool>(true)
  /// The entry for another channel of the same conversation.
  let next = ConversationCache.AtomicSlot()
  let count: Int
  let keys: UnsafeMutablePointer<Atomic<UInt32>>
  /// Of ``target``'s rules; a pointer, as reading it counts no reference.
  let stateByBase: UnsafePointer<UInt8>

  /// Odd while keys, tallies or the fields below change.
  let sequence = Atomic<UInt>(0)
  /// How often keys or events were changed.
  let revision = Atomic<UInt>(0)
  /// The keys hold for versions from ``applied`` up to, not including, ``pendingFrom``.
  let applied: Atomic<UInt64>
  let pendingFrom = Atomic<UInt64>(.max)
  /// The half-open interval without events, in milliseconds since the epoch.
  let eventsFrom = Atomic<Int64>(.min)
  let eventsUntil = Atomic<Int64>(.max)
  let stateCount: Int
  /// The numbers of all tallies, stored before ``keys``; none in a small conversation.
  let tallies: UnsafeMutablePointer<Atomic<UInt32>>
  /// The size of ``tallies`` and ``keys``.
  private let arrayBytes: Int
  /// The half-open interval of each tally; empty for an unused one.
  let tallyBounds: InlineArray<8, Atomic<Int64>> = InlineArray { _ in Atomic(0) }

  let target: ConversationTarget
  let guarded: Lock<Guarded>

  /// The index in the cache's list.
  // SAFETY: accessed under the cache's lock.
  nonisolated(unsafe) var position = 0
  /// The most bytes that it takes, with everything made on demand.
  // SAFETY: written once, before other threads can find it.
  nonisolated(unsafe) private(set) var byteLimit = 0

  /// For conversations whose members are all scanned for changes of presence: the
  /// ``OnlineUsers/revision`` of the last scan, and the presence codes then, 32 in a word.
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

  func setByteLimit(eventCount: Int) {
    let arrays = PageMemory.size(of: arrayBytes)
    let events = eventCount * (MemoryLayout<EventLog.Event>.stride + MemoryLayout<UInt32>.stride)
    unsafe byteLimit = 640 + arrays + count * (isSmall ? 2 : 8) + events
  }

  @inline(__always)
  func isOf(_ target: borrowing ConversationTarget) -> Bool {
    revisions.row == target.row.revision && revisions.members == target.memberRow.revision
      && revisions.app == target.appRevision
  }

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
