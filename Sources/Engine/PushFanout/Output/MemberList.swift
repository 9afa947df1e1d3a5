public import PushModel

/// The members of a result's conversation, as of its version, which this retains.
package struct MemberList: Sendable {
  private let version: EngineVersion
  private let row: ConversationRow
  /// ``FanoutResult/membershipVersion``.
  package let membershipVersion: UInt64

  fileprivate init(_ version: EngineVersion, _ target: ConversationTarget) {
    self.version = version
    row = target.memberRow
    membershipVersion = target.membershipVersion
  }

  package var count: Int { Int(row.count) }

  /// Appends the users' indices in the order of ranks.
  ///
  /// - Complexity: O(members).
  package func append(to users: inout [UInt32]) {
    unsafe version.tables.memberUsers.forEachChunk(row.range) { _, chunk in
      unsafe users.append(contentsOf: chunk)
    }
  }
}

extension FanoutResult {
  package var memberList: MemberList? {
    guard memberCount > 0, let engineVersion, let target else { return nil }
    return MemberList(engineVersion, target)
  }
}

/// The members that ranks stand for.
extension FanoutResult {
  /// The engine's ``Fanout/epoch``; 0 for an empty result.
  public var epoch: UInt64 { engineVersion?.epoch ?? 0 }

  /// Within one engine (``epoch``), results with equal membership versions have the same members at
  /// the same ranks. 0 for a conversation without members.
  ///
  /// It changes with the members and the conversation's own settings, and has no order. A thread
  /// has its parent's.
  public var membershipVersion: UInt64 {
    memberCount > 0 ? target?.membershipVersion ?? 0 : 0
  }

  /// Writes the indices of the members' users, ascending, in the order of ranks.
  ///
  /// - Precondition: `output` has room for ``memberCount`` indices.
  /// - Complexity: O(members), at the speed of memory.
  public func writeUsers(into output: inout MutableSpan<UInt32>) {
    precondition(output.count >= memberCount, "output is too small")
    guard memberCount > 0 else { return }
    defer { withExtendedLifetime(storage) {} }
    unsafe output.withUnsafeMutableBufferPointer { output in
      guard let start = output.baseAddress else { return }
      unsafe memberUsers.forEachChunk(row.range) { (offset, users) -> Void in
        guard let from = users.baseAddress else { return }
        unsafe (start + offset).update(from: from, count: users.count)
      }
    }
  }

  /// Calls `body` with each member, recipient or not, and the member's UTF-8 id, in the order of
  /// ranks. The bytes are the engine's own.
  ///
  /// - Complexity: O(members).
  public func forEachMember(_ body: (_ user: UserIndex, _ id: RawSpan) -> Void) {
    guard memberCount > 0 else { return }
    defer { withExtendedLifetime(storage) {} }
    memberUsers.forEachChunkElement(row.range) { _, user in
      unsafe body(UserIndex(user), RawSpan(_unsafeBytes: ids.characters(user)))
    }
  }
}
