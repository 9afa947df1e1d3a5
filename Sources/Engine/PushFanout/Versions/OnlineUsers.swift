package import PushModel

/// Users' presence, two bits each, beside a version.
///
/// A timeline changes it without copying pages or changing keys. At a message, large kept
/// conversations learn of changes from a list; others examine all members.
///
/// SAFETY: one thread at a time uses it; the array has ``wordCount`` words, which `deinit` frees.
@safe final class OnlineUsers: @unchecked Sendable {
  /// The largest conversation examined whole, in members.
  package static let scannedSize = 1024

  @safe @exclusivity(unchecked) private var wordCount = 0
  /// By user, whether online; above it, whether ever named.
  @exclusivity(unchecked) private var bits: UnsafeMutablePointer<UInt64>
  /// Counts changes.
  @safe @exclusivity(unchecked) private(set) var revision = 0
  @safe @exclusivity(unchecked) var changed = ChangedMembers()
  @safe @exclusivity(unchecked) var memberships: MembershipIndex.Reader?

  init() { unsafe bits = .allocate(capacity: 0) }

  deinit { unsafe bits.deallocate() }

  /// 0, 2 or 3.
  @inline(__always)
  func code(of user: UInt32) -> UInt64 {
    let word = Int(user >> 5)
    return unsafe word < wordCount ? bits[word] >> UInt64(user & 31 * 2) & 3 : 0
  }

  /// Whether a user is online. Only then can the key of a user without listed devices differ from
  /// the stored one.
  @inline(__always)
  func contains(_ user: UInt32) -> Bool { code(of: user) & 1 != 0 }

  func presence(of user: UInt32) -> UserPresence {
    let code = code(of: user)
    if code == 0 { return .none }
    return code & 1 != 0 ? .foreground : .loggedOut
  }

  func set(_ user: UInt32, isOnline: Bool) {
    let word = Int(user >> 5)
    if word >= wordCount { grow(to: max(word + 1, 2 * wordCount)) }
    let shift = UInt64(user & 31 * 2)
    unsafe bits[word] = bits[word] & ~(3 << shift) | (isOnline ? 3 : 2) << shift
    revision += 1
  }

  /// The members whose two bits differ from `known`, which is updated.
  func findChanges(
    in members: PagedTable<UInt32>, _ range: Range<Int>, _ known: inout [UInt64]
  ) -> [(user: UInt32, rank: UInt32)] {
    var changes: [(user: UInt32, rank: UInt32)] = []
    let (bits, limit) = unsafe (bits, UInt32(wordCount * 32))
    unsafe known.withUnsafeMutableBufferPointer { (known) -> Void in
      unsafe members.forEachChunk(range) {
        (offset, users) -> Void in
        for index in 0..<users.count {
          let (user, rank) = unsafe (users[index], offset + index)
          let code =
            unsafe user < limit ? bits[Int(user >> 5)] >> UInt64(user & 31 * 2) & 3 : 0
          let shift = UInt64(rank & 31 * 2)
          let difference = unsafe known[rank >> 5] >> shift & 3 ^ code
          if difference == 0 { continue }
          unsafe known[rank >> 5] ^= difference << shift
          changes.append((user, UInt32(rank)))
        }
      }
    }
    return changes
  }

  private func grow(to count: Int) {
    let new = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
    unsafe new.initialize(repeating: 0, count: count)
    unsafe new.update(from: bits, count: wordCount)
    unsafe bits.deallocate()
    unsafe bits = new
    wordCount = count
  }
}

/// A user came online anywhere, or went offline everywhere.
package struct UserPresenceChange: Sendable {
  package var user: UserIndex
  package var isOnline: Bool

  package init(user: UserIndex, isOnline: Bool) {
    self.user = user
    self.isOnline = isOnline
  }
}

/// The changed members of kept conversations.
struct ChangedMembers {
  /// Above this many changes all are delivered, as those of silent conversations accumulate.
  private static let limit = 1 << 16

  /// A bit per kept conversation.
  private var kept: [UInt64] = []
  /// By conversation, its last change's position plus 1; 0 for none.
  private var lasts: [UInt32] = []
  /// A user, the rank to look at first, and the ``lasts`` before.
  private var changes: [(user: UInt32, rank: UInt32, before: UInt32)] = []
  /// Kept for its memory.
  private var taken: [(user: UInt32, rank: UInt32)] = []

  var isFull: Bool { changes.count > Self.limit }

  mutating func keep(_ conversation: UInt32) {
    let index = Int(conversation)
    if index >= lasts.count {
      let words = max(index / 64 + 1, 2 * kept.count)
      kept += Array(repeating: 0, count: words - kept.count)
      lasts += Array(repeating: 0, count: words * 64 - lasts.count)
    }
    kept[index / 64] |= 1 << UInt64(index % 64)
  }

  @inline(__always)
  mutating func add(_ user: UInt32, to conversation: UInt32, at rank: UInt32) {
    let index = Int(conversation)
    guard index < lasts.count, kept[index / 64] >> UInt64(index % 64) & 1 != 0 else { return }
    changes.append((user, rank, lasts[index]))
    lasts[index] = UInt32(changes.count)
  }

  @inline(__always)
  func hasAny(of conversation: UInt32) -> Bool {
    Int(conversation) < lasts.count && lasts[Int(conversation)] > 0
  }

  /// The changed members, possibly repeated.
  mutating func take(_ conversation: UInt32) -> [(user: UInt32, rank: UInt32)] {
    taken.removeAll(keepingCapacity: true)
    var last = lasts[Int(conversation)]
    while last > 0 {
      let change = changes[Int(last) - 1]
      taken.append((change.user, change.rank))
      last = change.before
    }
    lasts[Int(conversation)] = 0
    return taken
  }

  mutating func takeAll(
    _ body: (_ conversation: UInt32, _ users: [(user: UInt32, rank: UInt32)]) -> Void
  ) {
    for conversation in lasts.indices where lasts[conversation] > 0 {
      body(UInt32(conversation), take(UInt32(conversation)))
    }
    changes.removeAll(keepingCapacity: true)
  }
}
