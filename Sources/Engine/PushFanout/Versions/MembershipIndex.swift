internal import Algorithms
internal import CPushKernels
internal import PushSupport
internal import Synchronization

/// The conversations of each user, so that a change of a user's settings reaches the keys and the
/// cached states of these conversations only.
///
/// Built by the first change of a user's settings, from the tables: an array of conversations'
/// indices, by user. Later memberships are kept beside it until they are so many that it is rebuilt.
/// Ended memberships stay listed, which costs a look-up without a result.
///
/// - Memory: 4 bytes per membership that is listed, 8 with ranks, and 4 per user, once built.
final class MembershipIndex: Sendable {
  /// The memberships as of when the index was built.
  ///
  /// SAFETY: the numbers are written by `init`, only read from then on, and freed by `deinit`. They
  /// are pointers, as threads would count references to one array.
  @safe private final class Built: @unchecked Sendable {
    let userCount: Int
    /// For each user, the end of the user's memberships.
    let ends: UnsafeMutablePointer<UInt32>
    /// For each membership, the conversation, and the user's rank in it if it was asked for.
    let entries: UnsafeMutablePointer<UInt32>
    private let numberCount: Int
    /// How many numbers of ``entries`` a membership has.
    let stride: Int
    /// The conversations whose memberships are listed, ascending, and whether they are not all.
    private let conversations: [UInt32]
    let isPart: Bool

    init(_ tables: Tables, above minimumSize: Int, hasRanks: Bool, threads: Int) {
      userCount = tables.userCount
      stride = hasRanks ? 2 : 1
      let conversations = (0..<UInt32(tables.conversations.count)).filter {
        tables.conversations[Int($0)].count > minimumSize
      }
      self.conversations = conversations
      isPart = minimumSize >= 0
      unsafe ends = Self.allocate(userCount + 1)
      unsafe ends.initialize(repeating: 0, count: userCount + 1)
      nonisolated(unsafe) let ends = unsafe ends
      MembershipIndex.forEachMember(of: conversations, tables, threads: threads) { user, _, _ in
        unsafe ends[Int(user) + 1] += 1
      }
      for user in 0..<userCount { unsafe ends[user + 1] += ends[user] }
      numberCount = unsafe Int(ends[userCount]) * stride
      unsafe entries = Self.allocate(numberCount)
      nonisolated(unsafe) let entries = unsafe entries
      let stride = stride
      // Each start advances with each conversation and finally is the end.
      MembershipIndex.forEachMember(of: conversations, tables, threads: threads) {
        user, conversation, rank in
        let position = unsafe Int(ends[Int(user)]) * stride
        unsafe entries[position] = conversation
        if hasRanks { unsafe entries[position + 1] = rank }
        unsafe ends[Int(user)] += 1
      }
    }

    deinit {
      unsafe PageMemory.shared.free(ends, (userCount + 1) * 4)
      unsafe PageMemory.shared.free(entries, numberCount * 4)
    }

    private static func allocate(_ count: Int) -> UnsafeMutablePointer<UInt32> {
      unsafe PageMemory.shared.allocate(count * 4).bindMemory(to: UInt32.self, capacity: count)
    }

    /// The number of memberships.
    var count: Int { numberCount / stride }

    var byteCount: Int { (userCount + 1 + numberCount + conversations.count) * 4 }

    /// Whether the memberships in a conversation are listed.
    ///
    /// - Complexity: O(log conversations).
    func lists(_ conversation: UInt32) -> Bool {
      let first = conversations.partitioningIndex { $0 >= conversation }
      return first < conversations.count && conversations[first] == conversation
    }

    /// Where a user's memberships are in ``entries``.
    @inline(__always)
    func range(of user: UInt32) -> Range<Int> {
      guard Int(user) < userCount else { return 0..<0 }
      let start = unsafe user == 0 ? 0 : Int(ends[Int(user) - 1])
      return unsafe start * stride..<Int(ends[Int(user)]) * stride
    }
  }

  /// Calls `body` with each membership in conversations, those of a user on one thread and by
  /// conversation.
  private static func forEachMember(
    of conversations: [UInt32], _ tables: Tables, threads: Int,
    _ body: @Sendable (_ user: UInt32, _ conversation: UInt32, _ rank: UInt32) -> Void
  ) {
    let share = tables.userCount / threads + 1
    Parallel.perform(threads, threads: threads) { thread in
      let users = UInt32(thread * share)..<UInt32((thread + 1) * share)
      for conversation in conversations {
        let range = tables.conversations[Int(conversation)].range
        tables.memberUsers.forEachChunkElement(range) { rank, user in
          if users.contains(user) { body(user, conversation, UInt32(rank)) }
        }
      }
    }
  }

  private struct State {
    /// nil until built.
    var built: Built?
    var added: [UInt32: [UInt32]] = [:]
    var addedCount = 0
  }

  /// The memberships known at an instant, and those added since: what several look-ups in a row
  /// use, so that they need no lock.
  struct Reader {
    private let built: Built?
    private let index: MembershipIndex

    fileprivate init(_ index: MembershipIndex) {
      self.index = index
      built = index.state.withLock { $0.built }
    }

    /// Whether the memberships in a conversation are listed: not if it had too few members.
    ///
    /// - Complexity: O(log conversations).
    func lists(_ conversation: UInt32) -> Bool { built?.lists(conversation) ?? false }

    /// Prefetches what says where a user's conversations are.
    func prefetch(_ user: UInt32) {
      guard let built, Int(user) < built.userCount else { return }
      unsafe pk_prefetch(built.ends + Int(user))
    }

    /// Prefetches a user's conversations.
    func prefetchConversations(of user: UInt32) {
      guard let built else { return }
      unsafe pk_prefetch(built.entries + built.range(of: user).lowerBound)
    }

    /// Calls `body` with each conversation of a user, threads for which the user has settings among
    /// them.
    ///
    /// - Returns: whether all were found; not if the index is not built, or was discarded since.
    /// - Complexity: O(the user's memberships).
    func forEachConversation(of user: UInt32, _ body: (UInt32) -> Void) -> Bool {
      forEachEntry(of: user) { conversation, _ in body(conversation) }
    }

    /// The same with the user's rank when the index was built: where to look first.
    @inline(__always)
    func forEachEntry(of user: UInt32, _ body: (UInt32, _ rank: UInt32) -> Void) -> Bool {
      guard let built else { return false }
      let (range, hasRanks) = (built.range(of: user), built.stride > 1)
      var position = range.lowerBound
      while position < range.upperBound {
        body(unsafe built.entries[position], hasRanks ? unsafe built.entries[position + 1] : 0)
        position += built.stride
      }
      guard index.hasAdded.load(ordering: .acquiring) else { return true }
      let added = index.state.withLock { $0.built === built ? $0.added[user] ?? [] : nil }
      added?.forEach { body($0, 0) }
      return added != nil
    }
  }

  private let state = Lock(State())
  /// Whether a membership was ever added after building.
  private let hasAdded = Atomic<Bool>(false)

  /// The bytes that it takes.
  var byteCount: Int {
    state.withLock { state in
      (state.built?.byteCount ?? 0) + state.addedCount * 16
    }
  }

  /// For look-ups in a row.
  var reader: Reader { Reader(self) }

  /// Builds the index, unless it exists.
  ///
  /// - Parameters:
  ///   - above: conversations of up to so many members are left out.
  ///   - hasRanks: whether it says where the members stand.
  /// - Complexity: O(memberships) the first time, on several threads.
  func build(
    _ tables: Tables, above minimumSize: Int = -1, hasRanks: Bool = false, threads: Int
  ) {
    state.withLock { state in
      if state.built != nil { return }
      state.built = Built(tables, above: minimumSize, hasRanks: hasRanks, threads: threads)
    }
  }

  /// Adds a membership that began after the index was built.
  func add(_ user: UInt32, to conversation: UInt32) {
    state.withLock { state in
      guard let built = state.built, !built.isPart || built.lists(conversation) else { return }
      state.added[user, default: []].append(conversation)
      state.addedCount += 1
      hasAdded.store(true, ordering: .releasing)
      if state.addedCount > max(1 << 16, built.count / 8) { state = State() }
    }
  }
}

/// The conversations of each user: all of them for changes of settings, and the large ones for those
/// of presence.
final class Memberships: Sendable {
  let all = MembershipIndex()
  /// With ranks.
  let large = MembershipIndex()

  /// The bytes that they take.
  var byteCount: Int { all.byteCount + large.byteCount }

  /// Adds a membership that began after they were built.
  func add(_ user: UInt32, to conversation: UInt32) {
    all.add(user, to: conversation)
    large.add(user, to: conversation)
  }
}
