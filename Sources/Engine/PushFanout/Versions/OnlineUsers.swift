package import PushModel

/// The presence of users, in addition to the settings of a version: two bits for each user.
///
/// A timeline changes it between messages. It is not part of the tables, so a change copies no page
/// and keys stay as they are. Kept conversations learn of changes when they get a message: of a
/// large one the changes are listed, of others all members are examined.
///
/// SAFETY: used by one thread at a time; the array has ``wordCount`` words, and is freed by `deinit`.
@safe final class OnlineUsers: @unchecked Sendable {
  /// In conversations of up to so many members all of them are looked at for each message.
  package static let scannedSize = 1024

  @safe @exclusivity(unchecked) private var wordCount = 0
  /// For each user whether the user is online, and above it whether the user was ever named.
  @exclusivity(unchecked) private var bits: UnsafeMutablePointer<UInt64>
  /// How often anything changed.
  @safe @exclusivity(unchecked) private(set) var revision = 0
  @safe @exclusivity(unchecked) var changed = ChangedMembers()
  @safe @exclusivity(unchecked) var memberships: MembershipIndex.Reader?

  init() { unsafe bits = .allocate(capacity: 0) }

  deinit { unsafe bits.deallocate() }

  /// The two bits of a user: 0, 2 or 3.
  @inline(__always)
  func code(of user: UInt32) -> UInt64 {
    let word = Int(user >> 5)
    return unsafe word < wordCount ? bits[word] >> UInt64(user & 31 * 2) & 3 : 0
  }

  /// Whether a user is online. Only then can the key of a user without listed devices be another
  /// than the one in the tables.
  @inline(__always)
  func contains(_ user: UInt32) -> Bool { code(of: user) & 1 != 0 }

  /// What device a user has.
  func presence(of user: UInt32) -> UserPresence {
    let code = code(of: user)
    if code == 0 { return .none }
    return code & 1 != 0 ? .foreground : .loggedOut
  }

  /// Sets whether a user is online.
  func set(_ user: UInt32, isOnline: Bool) {
    let word = Int(user >> 5)
    if word >= wordCount { grow(to: max(word + 1, 2 * wordCount)) }
    let shift = UInt64(user & 31 * 2)
    unsafe bits[word] = bits[word] & ~(3 << shift) | (isOnline ? 3 : 2) << shift
    revision += 1
  }

  /// The members whose bits are not the known ones, which become those of now.
  ///
  /// - Parameter known: two bits for each member.
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

/// That a user came online anywhere, or went offline everywhere.
package struct UserPresenceChange: Sendable {
  package var user: UserIndex
  package var isOnline: Bool

  package init(user: UserIndex, isOnline: Bool) {
    self.user = user
    self.isOnline = isOnline
  }
}

/// The members of each kept conversation whose presence has changed.
struct ChangedMembers {
  /// Above this many changes, all are delivered: those of a conversation without messages would
  /// accumulate.
  private static let limit = 1 << 16

  /// A bit for each conversation that is kept.
  private var kept: [UInt64] = []
  /// By conversation: the position behind the last change of a member in ``changes``, 0 for none.
  private var lasts: [UInt32] = []
  /// A user, the user's rank to look at first, and what ``lasts`` was before.
  private var changes: [(user: UInt32, rank: UInt32, before: UInt32)] = []
  /// What was taken last.
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

  /// The members who changed, possibly more than once each.
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
