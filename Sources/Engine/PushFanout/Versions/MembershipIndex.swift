internal import Algorithms
internal import CPushKernels
internal import PushSupport
internal import Synchronization

/// The conversations of each user, whose keys and cached states a user's change affects.
///
/// The first change builds an array. Later memberships are kept beside it until it is rebuilt;
/// ended ones stay, at the cost of vain look-ups.
///
/// - Memory: once built, 4 bytes per listed membership, 8 with ranks, and 4 per user.
final class MembershipIndex: Sendable {
  /// The index as built.
  ///
  /// SAFETY: `init` writes the numbers, and `deinit` frees them. They are pointers, as threads
  /// would count references to an array.
  @safe private final class Built: @unchecked Sendable {
    let userCount: Int
    /// By user, the end of the memberships.
    let ends: UnsafeMutablePointer<UInt32>
    /// By membership, the conversation, and the user's rank if requested.
    let entries: UnsafeMutablePointer<UInt32>
    private let numberCount: Int
    /// Numbers in ``entries`` per membership.
    let stride: Int
    /// The listed conversations, ascending, and whether there are others.
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
      // Each start advances until it is the end.
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

    var count: Int { numberCount / stride }

    var byteCount: Int { (userCount + 1 + numberCount + conversations.count) * 4 }

    /// Whether a conversation's memberships are listed, in O(log conversations).
    func lists(_ conversation: UInt32) -> Bool {
      let first = conversations.partitioningIndex { $0 >= conversation }
      return first < conversations.count && conversations[first] == conversation
    }

    /// Within ``entries``.
    @inline(__always)
    func range(of user: UInt32) -> Range<Int> {
      guard Int(user) < userCount else { return 0..<0 }
      let start = unsafe user == 0 ? 0 : Int(ends[Int(user) - 1])
      return unsafe start * stride..<Int(ends[Int(user)]) * stride
    }
  }

  /// Calls `body` with each membership: a user's on one thread, by conversation.
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
    /// Nil until built.
    var built: Built?
    var added: [UInt32: [UInt32]] = [:]
    var addedCount = 0
  }

  /// Makes several look-ups, mostly without the lock.
  struct Reader {
    private let built: Built?
    private let index: MembershipIndex

    fileprivate init(_ index: MembershipIndex) {
      self.index = index
      built = index.state.withLock { $0.built }
    }

    /// False if the conversation was too small; O(log conversations).
    func lists(_ conversation: UInt32) -> Bool { built?.lists(conversation) ?? false }

    func prefetch(_ user: UInt32) {
      guard let built, Int(user) < built.userCount else { return }
      unsafe pk_prefetch(built.ends + Int(user))
    }

    func prefetchConversations(of user: UInt32) {
      guard let built else { return }
      unsafe pk_prefetch(built.entries + built.range(of: user).lowerBound)
    }

    /// Calls `body` with each conversation of a user, threads included.
    ///
    /// - Returns: false if the index is not built, or was discarded since.
    /// - Complexity: O(the user's memberships).
    func forEachConversation(of user: UInt32, _ body: (UInt32) -> Void) -> Bool {
      forEachEntry(of: user) { conversation, _ in body(conversation) }
    }

    /// The same with the user's rank as built, where to look first.
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

  var byteCount: Int {
    state.withLock { state in
      (state.built?.byteCount ?? 0) + state.addedCount * 16
    }
  }

  var reader: Reader { Reader(self) }

  /// Builds the index of conversations above a size, unless it exists.
  ///
  /// - Complexity: O(memberships), on several threads.
  func build(
    _ tables: Tables, above minimumSize: Int = -1, hasRanks: Bool = false, threads: Int
  ) {
    state.withLock { state in
      if state.built != nil { return }
      state.built = Built(tables, above: minimumSize, hasRanks: hasRanks, threads: threads)
    }
  }

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

/// Each user's conversations: all for changes of settings, large ones for presence.
final class Memberships: Sendable {
  let all = MembershipIndex()
  /// With ranks.
  let large = MembershipIndex()

  var byteCount: Int { all.byteCount + large.byteCount }

  func add(_ user: UInt32, to conversation: UInt32) {
    all.add(user, to: conversation)
    large.add(user, to: conversation)
  }
}
