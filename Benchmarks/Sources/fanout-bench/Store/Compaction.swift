import BenchSupport
import Foundation
import PushFanout
import PushModel
import PushStore
import Synchronization

/// How long a large feed takes to compact, and how long writes wait meanwhile.
struct Compaction {
  let entries: Int
  private static let users = 100_000
  /// So many are kept of the entries: a hundredth.
  private var kept: Int { max(1, entries / 100) }

  func measure(in folder: URL) throws {
    let path = folder.appending(path: "feed").path
    let store = try SettingsStore(path, .create)
    let filling = try seconds { try fill(store) }
    let size = try store.reader.statistics().feedBytes ?? 0
    show("a feed of \(entries) entries, \(size / 1_000_000) MB, written in \(text(filling)) s")
    var (removed, time) = (0, 0.0)
    let waits = try WaitingWriter(store).waits {
      time = try seconds { removed = try store.compact(FeedRetention(entries: kept), at: .zero) }
    }
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
  private struct State {
    var isStopped = false
    /// Seconds.
    var waits: [Double] = []
    var error: (any Error)?
  }

  private let store: SettingsStore
  private let state = Mutex(State())

  init(_ store: SettingsStore) { self.store = store }

  /// Writes until the body has ended, which begins after the first write, so that the shortest
  /// compaction has one to delay.
  ///
  /// - Returns: seconds, ascending.
  func waits(during body: () throws -> Void) throws -> [Double] {
    let hasBegun = DispatchSemaphore(value: 0)
    let threads = Threads([
      { [self] in
        repeat {
          write()
          hasBegun.signal()
          Thread.sleep(forTimeInterval: 0.001)
        } while !state.withLock { $0.isStopped }
      }
    ])
    hasBegun.wait()
    let result = Result { try body() }
    state.withLock { $0.isStopped = true }
    threads.wait()
    try result.get()
    return try state.withLock {
      if let error = $0.error { throw error }
      return $0.waits.sorted()
    }
  }

  private func write() {
    let number = state.withLock { Int64($0.waits.count) }
    let until = Instant(milliseconds: BenchWorld.start - 1 - number)
    do {
      let wait = try seconds {
        try store.write(at: .zero) { write in
          try write.updateUser("waiting", .userMute) { $0.mutedUntil = until }
        }
      }
      state.withLock { $0.waits.append(wait) }
    } catch {
      state.withLock { $0.error = error }
    }
  }
}
