internal import PushFanout
internal import PushModel
internal import PushService
internal import PushStore
internal import PushStoreService
internal import Synchronization

/// The settings of an app, open.
final class OpenedApp: Sendable {
  let store: SettingsStore
  let service: FanoutService
  let engine: Fanout
  /// Those of the app's record, which may replace them while there are no other settings.
  var rules: RuleSet { engine.app.rules }
  /// Distinguishes the numbers of this store's changes from those of another.
  let epoch: String
  let workspaces = WorkspacePool()
  let idempotency = IdempotencyKeys()
  /// When the engine was last told the time, in milliseconds since 1970.
  private let advanced = Atomic<Int64>(0)

  /// Opens a store and prepares the largest part of what first decisions need.
  init(_ path: String, creates: Bool, engineThreads: Int) throws {
    store = try SettingsStore(path, creates ? .create : .write, threads: engineThreads)
    service = try FanoutService(StoreBackend(store))
    engine = service.engine
    epoch = try store.reader.identity
    warmUp()
  }

  /// How long conversations are prepared at most before the server is ready.
  private static let warmUpTime = Duration.milliseconds(500)

  private func warmUp() {
    let now = WallClock.now
    advance(to: now)
    let begin = ContinuousClock.now
    for id in engine.currentVersion.largestConversations(256)
    where ContinuousClock.now - begin < Self.warmUpTime {
      engine.warmUp([id], at: now)
    }
  }

  /// Prepares an instant: quiet hours that begin and end.
  func advance(to now: Instant) {
    engine.advance(to: now)
    workspaces.removeAll()
    advanced.store(now.milliseconds, ordering: .relaxed)
  }

  /// How old the last ``advance(to:)`` is, in milliseconds.
  func staleness(at now: Instant) -> Int64 {
    now.milliseconds - advanced.load(ordering: .relaxed)
  }

  /// The number of the last change that decisions are by, with the epoch.
  var settingsNumber: String { "\(epoch):\(store.visibleSequence)" }
}
