internal import PushSupport
internal import Synchronization

/// The conversations of each user, so that a change of a user's settings reaches the words and the
/// cached states of these conversations only.
///
/// Built by the first change of a user's settings, from the tables: an array of conversations' indices, by user. Later
/// memberships are kept beside it until they are so many that it is rebuilt. Ended memberships
/// stay listed, which costs a look-up without a result.
///
/// - Memory: 4 bytes per membership and 4 per user, once built.
final class MembershipIndex: Sendable {
  private struct State {
    /// For each user, the end of the user's conversations; empty until built.
    var ends: [UInt32] = []
    var conversations: [UInt32] = []
    var added: [UInt32: [UInt32]] = [:]
    var addedCount = 0
    var isBuilt = false
  }

  private let state = Lock(State())

  /// The bytes that it takes.
  var byteCount: Int {
    state.withLock { ($0.ends.count + $0.conversations.count) * 4 + $0.addedCount * 16 }
  }

  /// Calls `body` with each conversation of a user, threads for which the user has settings among
  /// them.
  ///
  /// - Returns: whether the index is built; otherwise `body` was not called.
  /// - Complexity: O(the user's memberships).
  func forEachConversation(of user: UInt32, _ body: (UInt32) -> Void) -> Bool {
    state.withLock { state in
      guard state.isBuilt else { return false }
      if Int(user) < state.ends.count {
        let start = user == 0 ? 0 : Int(state.ends[Int(user) - 1])
        for index in start..<Int(state.ends[Int(user)]) { body(state.conversations[index]) }
      }
      if let added = state.added[user] { added.forEach(body) }
      return true
    }
  }

  /// Builds the index, unless it exists.
  ///
  /// - Complexity: O(memberships) the first time.
  func build(_ tables: borrowing Tables) {
    state.withLock { state in
      if state.isBuilt { return }
      state = State()
      state.isBuilt = true
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
      state.ends = ends
      state.conversations = conversations
    }
  }

  /// Adds a membership that began after the index was built.
  func add(_ user: UInt32, to conversation: UInt32) {
    state.withLock { state in
      guard state.isBuilt else { return }
      state.added[user, default: []].append(conversation)
      state.addedCount += 1
      if state.addedCount > max(1 << 16, state.conversations.count / 8) { state = State() }
    }
  }
}
