/// Which rates worlds are made by. The same options and rates give the same bytes in every version.
public enum WorkloadRates: Int, CaseIterable, Sendable {
  /// The first: each fact by itself. Members of a room live anywhere, every day is like the other,
  /// and senders are connected by chance only.
  case first = 1
  /// The second, as people live: members share zones, writers are awake and connected, days and
  /// weekends differ, settings change.
  case people = 2
}
