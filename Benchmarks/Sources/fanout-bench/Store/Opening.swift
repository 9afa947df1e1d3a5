import BenchSupport
import Foundation
import PushFanout
import PushModel
import PushStore

/// How long a large store takes to open: built from the database, by its snapshot, and by that and
/// the changes since.
struct Opening {
  let users: Int
  private var world: StoreWorld { StoreWorld(users: users, memberships: 5) }
  private static let changes = 10_000

  func measure(in folder: URL) throws {
    let path = folder.appending(path: "large").path
    let importing = try makeStore(path)
    let records = users * (1 + world.memberships)
    let rate = Double(records) / importing
    say(
      "import of \(records / 1_000_000) M records into a new store", "\(Int(rate)) records/s",
      must: ">= 200000", rate >= 200_000)
    var opened: SettingsStore?
    let building = try seconds { opened = try SettingsStore(path, .write) }
    guard let store = opened else { return }
    show("opening it without a snapshot: \(text(building)) s")
    // The one that it writes by itself comes first.
    try store.writeSnapshot()
    show("writing its snapshot: \(text(try seconds { try store.writeSnapshot() })) s")
    let expected = pushCounts(store)
    let times = try (0..<5).map { _ in try timeOfOpening(path, changes: 0, expected) }
    let median = times.sorted()[2]
    say(
      "opening by the snapshot, \(users / 1_000_000) M users, \(records / 1_000_000) M records",
      "\(text(median * 1000, digits: 0)) ms (\(times.map { text($0 * 1000, digits: 0) }))",
      must: "<= 1000", median <= 1)
    try change(store)
    let late = try timeOfOpening(path, changes: Self.changes, pushCounts(store))
    show("the same, \(Self.changes) changes later: \(text(late * 1000, digits: 0)) ms")
    try store.close()
    for name in ["", ".snapshot"] {
      let size = try FileManager.default.attributesOfItem(atPath: path + name)[.size] as? Int ?? 0
      show("size of large\(name): \(size / 1_000_000) MB")
    }
  }

  /// - Returns: seconds of the import alone.
  private func makeStore(_ path: String) throws -> Double {
    let settings = world.settings
    return try seconds { try StoreImport(path).run(settings, at: .zero, replacingApp: true) }
  }

  private func timeOfOpening(_ path: String, changes: Int, _ expected: [Int]) throws -> Double {
    var opened: SettingsStore?
    let time = try seconds { opened = try SettingsStore(path, .read) }
    guard let store = opened else { return time }
    require(store.opening == .snapshot(sequence: 1, changes: Int64(changes)), "\(store.opening)")
    require(pushCounts(store) == expected, "both engines decide alike")
    try store.close()
    return time
  }

  private func change(_ store: SettingsStore) throws {
    for number in 0..<Self.changes / 1000 {
      try store.write(at: .zero) { [users] write in
        for place in 0..<1000 {
          let id = BenchWorld.userID((number * 1000 + place) * 104_729 % users)
          try write.updateUser(id, .userLevel) { $0.level = .blocked }
        }
      }
    }
  }

  private func pushCounts(_ store: SettingsStore) -> [Int] {
    let now = Instant(milliseconds: BenchWorld.start)
    return stride(from: 0, to: world.groupCount, by: 997).map { group in
      store.fanout.decide(Message(id: "m", conversation: Identifier("g\(group)"), at: now))
        .pushCount
    }
  }
}
