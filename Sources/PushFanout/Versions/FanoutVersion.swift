package import PushRules

/// One version of an engine's settings, which stays as it is.
public struct FanoutVersion: Sendable {
  let engineVersion: EngineVersion

  /// Counts the updates of the settings, from 1.
  public var number: UInt64 { engineVersion.number }

  /// How many memberships begin in a range of instants.
  ///
  /// - Complexity: O(memberships).
  package func joinCount(in range: ClosedRange<Instant>) -> Int {
    let tables = engineVersion.tables
    var count = 0
    for conversation in 0..<tables.conversations.count {
      for slot in tables.conversations[conversation].range {
        let packed = PackedMember(bits: tables.packedMembers[slot])
        guard packed.hasSince else { continue }
        let since = tables.since(packed, Tables.key(UInt32(conversation), tables.memberUsers[slot]))
        if range.lowerBound.milliseconds <= since, since <= range.upperBound.milliseconds {
          count += 1
        }
      }
    }
    return count
  }
}

extension Fanout {
  /// The settings as they are now, for a ``FanoutTimeline``.
  ///
  /// Holding it keeps its pages in memory.
  public var currentVersion: FanoutVersion { FanoutVersion(engineVersion: current) }
}
