import BenchSupport
import Foundation
import PushFanout
import PushModel
import PushStore

/// How long a large feed takes to compact, and how long writes wait meanwhile.
struct Compaction {
  let entries: Int
  private static let users = 100_000
  /// So many are kept of the entries: a hundredth.
  private var kept: Int { max(1, entries / 100) }

  func measure(in folder: URL) throws {
    let path = folder.appending(path: "feed").path
    let store = try SettingsStore(path, .create)
    let filling = try elapsed { try fill(store) }
    let size = try store.reader.statistics().feedBytes ?? 0
    show("a feed of \(entries) entries, \(size / 1_000_000) MB, written in \(text(filling)) s")
    let writer = WaitingWriter(store)
    writer.start()
    var removed = 0
    let time = try elapsed {
      removed = try store.compact(FeedRetention(entries: kept), at: .zero)
    }
    let waits = try writer.stop()
    require(removed >= entries - kept, "\(removed) entries were removed")
    show(
      "compaction of \(removed) of \(entries) entries: \(text(time)) s, \(waits.count) writes "
        + "meanwhile, the median one waited \(text(waits[waits.count / 2] * 1000)) ms")
    let longest = waits.last ?? 0
    say(
      "the longest that a write waited for it", "\(text(longest * 1000, digits: 0)) ms",
      must: "<= 2000", longest <= 2)
    try store.close()
    for ending in ["", ".snapshot"] { try? FileManager.default.removeItem(atPath: path + ending) }
  }

  private func fill(_ store: SettingsStore) throws {
    let piece = 10_000
    for start in stride(from: 0, to: entries, by: piece) {
      try store.write(at: .zero) { [entries] write in
        for number in start..<min(start + piece, entries) {
          // Entries that follow each other are of users who do not.
          let id = BenchWorld.userID(number * 7919 % Self.users)
          let until = Instant(milliseconds: BenchWorld.start + Int64(number))
          try write.updateUser(id, .userMute) { $0.mutedUntil = until }
        }
      }
    }
  }
}

/// Writes one setting after the other, and notes how long each took.
private final class WaitingWriter: Sendable {
  private let store: SettingsStore
  private let isDone = DispatchSemaphore(value: 0)
  private let result = Shared()

  /// SAFETY: under the lock.
  private final class Shared: @unchecked Sendable {
    private let lock = NSLock()
    private var isStopped = false
    private var waits: [Double] = []
    private var error: (any Error)?

    func stop() { lock.withLock { isStopped = true } }
    var goesOn: Bool { lock.withLock { !isStopped } }
    func add(_ wait: Double) { lock.withLock { waits.append(wait) } }
    func fail(_ error: any Error) { lock.withLock { self.error = error } }
    func get() throws -> [Double] {
      try lock.withLock {
        if let error { throw error }
        return waits
      }
    }
  }

  init(_ store: SettingsStore) { self.store = store }

  /// Returns after the first write, so that the shortest compaction has one to delay.
  func start() {
    let hasBegun = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [self] in
      var number: Int64 = 0
      repeat {
        number += 1
        let until = Instant(milliseconds: BenchWorld.start - number)
        do {
          result.add(
            try elapsed {
              try store.write(at: .zero) { write in
                try write.updateUser("waiting", .userMute) { $0.mutedUntil = until }
              }
            })
        } catch { result.fail(error) }
        if number == 1 { hasBegun.signal() }
        Thread.sleep(forTimeInterval: 0.001)
      } while result.goesOn
      isDone.signal()
    }
    hasBegun.wait()
  }

  /// Seconds, ascending.
  func stop() throws -> [Double] {
    result.stop()
    isDone.wait()
    return try result.get().sorted()
  }
}
