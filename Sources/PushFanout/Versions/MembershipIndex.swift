internal import CPushKernels
internal import PushSupport
internal import Synchronization

/// The conversations of each user, so that a change of a user's settings reaches the words and the
/// cached states of these conversations only.
///
/// Built by the first change of a user's settings, from the tables: an array of conversations'
/// indices, by user. Later memberships are kept beside it until they are so many that it is rebuilt.
/// Ended memberships stay listed, which costs a look-up without a result.
///
/// - Memory: 4 bytes per membership and 4 per user, once built.
final class MembershipIndex: Sendable {
  /// The memberships as of when the index was built.
  private final class Built: Sendable {
    /// For each user, the end of the user's conversations.
    let ends: [UInt32]
    let conversations: [UInt32]

    init(ends: [UInt32], conversations: [UInt32]) {
      self.ends = ends
      self.conversations = conversations
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

    /// Prefetches what says where a user's conversations are.
    func prefetch(_ user: UInt32) {
      guard let built, Int(user) < built.ends.count else { return }
      unsafe built.ends.withUnsafeBufferPointer { ends in
        guard let start = ends.baseAddress else { return }
        unsafe pk_prefetch(start + Int(user))
      }
    }

    /// Calls `body` with each conversation of a user, threads for which the user has settings among
    /// them.
    ///
    /// - Returns: whether all were found; not if the index is not built, or was discarded since.
    /// - Complexity: O(the user's memberships).
    func forEachConversation(of user: UInt32, _ body: (UInt32) -> Void) -> Bool {
      guard let built else { return false }
      if Int(user) < built.ends.count {
        let start = user == 0 ? 0 : Int(built.ends[Int(user) - 1])
        for entry in start..<Int(built.ends[Int(user)]) { body(built.conversations[entry]) }
      }
      guard index.hasAdded.load(ordering: .acquiring) else { return true }
      let added = index.state.withLock { $0.built === built ? $0.added[user] ?? [] : nil }
      added?.forEach(body)
      return added != nil
    }
  }

  private let state = Lock(State())
  /// Whether a membership was ever added after building.
  private let hasAdded = Atomic<Bool>(false)

  /// The bytes that it takes.
  var byteCount: Int {
    state.withLock { state in
      let built = state.built.map { ($0.ends.count + $0.conversations.count) * 4 } ?? 0
      return built + state.addedCount * 16
    }
  }

  /// For look-ups in a row.
  var reader: Reader { Reader(self) }

  /// Builds the index, unless it exists.
  ///
  /// - Complexity: O(memberships) the first time.
  func build(_ tables: Tables) {
    state.withLock { state in
      if state.built != nil { return }
      var ends = [UInt32](repeating: 0, count: tables.userCount + 1)
      for conversation in 0..<tables.conversations.count {
        tables.memberUsers.forEachStretchRank(tables.conversations[conversation].range) {
          ends[Int($1) + 1] += 1
        }
      }
      for user in 1..<ends.count { ends[user] += ends[user - 1] }
      var conversations = [UInt32](repeating: 0, count: Int(ends[ends.count - 1]))
      // Each start advances with each conversation and finally is the end.
      for conversation in 0..<tables.conversations.count {
        tables.memberUsers.forEachStretchRank(tables.conversations[conversation].range) {
          let user = Int($1)
          conversations[Int(ends[user])] = UInt32(conversation)
          ends[user] += 1
        }
      }
      ends.removeLast()
      state.built = Built(ends: ends, conversations: conversations)
    }
  }

  /// Adds a membership that began after the index was built.
  func add(_ user: UInt32, to conversation: UInt32) {
    state.withLock { state in
      guard let built = state.built else { return }
      state.added[user, default: []].append(conversation)
      state.addedCount += 1
      hasAdded.store(true, ordering: .releasing)
      if state.addedCount > max(1 << 16, built.conversations.count / 8) { state = State() }
    }
  }
}
