package import PushRules

/// One version of an engine's settings, which stays as it is.
public struct FanoutVersion: Sendable {
  let world: World

  /// Counts the updates of the settings, from 1.
  public var number: UInt64 { world.version }

  /// How many memberships begin in a range of instants.
  ///
  /// - Complexity: O(memberships).
  package func joinCount(in range: ClosedRange<Instant>) -> Int {
    let tables = world.tables
    var count = 0
    for place in 0..<tables.conversations.count {
      for member in tables.conversations[place].range {
        let byte = MemberByte(bits: tables.memberBytes[member])
        guard byte.hasSince else { continue }
        let since = tables.since(byte, Tables.key(UInt32(place), tables.memberUsers[member]))
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
  public var currentVersion: FanoutVersion { FanoutVersion(world: current) }
}
