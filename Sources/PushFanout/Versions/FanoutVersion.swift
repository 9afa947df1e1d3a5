package import PushModel

/// An immutable version of an engine's settings.
public struct FanoutVersion: Sendable {
  let engineVersion: EngineVersion

  /// The number of the update that published it, from 1.
  public var number: UInt64 { engineVersion.number }

  /// The number of memberships that begin within a range of instants.
  ///
  /// - Complexity: O(memberships).
  package func joinCount(in range: ClosedRange<Instant>) -> Int {
    let tables = engineVersion.tables
    var count = 0
    for conversation in 0..<tables.conversations.count {
      tables.forEachMember(of: UInt32(conversation)) { _, member in
        guard member.packed.hasSince else { return }
        if range.contains(Instant(milliseconds: member.since)) { count += 1 }
      }
    }
    return count
  }
}

extension Fanout {
  /// The current version of the settings, for a ``FanoutTimeline``.
  ///
  /// Its pages stay in memory as long as the value exists.
  public var currentVersion: FanoutVersion { FanoutVersion(engineVersion: current) }
}
