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
  let storeEpoch: String
  /// What the store follows; nil for a primary.
  let following: FollowState?
  /// Where decided messages are noted; nil for nowhere.
  let decisionLog: DecisionLog?
  let workspaces = WorkspacePool()
  let idempotency = IdempotencyKeys()
  /// What followers of events read.
  let tail: FeedTail
  /// When the engine was last told the time, by a clock that is not set.
  private let advanced = Mutex(ContinuousClock.now)

  /// Opens the store of an app and prepares the largest part of what first decisions need.
  init(
    _ options: ServerOptions, decisionLog: DecisionLog? = nil, following: FollowState? = nil
  ) throws {
    self.decisionLog = decisionLog
    self.following = following
    store = try SettingsStore(
      options.store, options.create && following == nil ? .create : .write,
      threads: options.engineThreads ?? Fanout.coreCount,
      commitInterval: .milliseconds(options.commitInterval),
      unknownZones: options.unknownZones)
    // The right to write is this process's: no other is sending any.
    SnapshotEndpoint.removeCopies(of: store.path)
    tail = FeedTail(store)
    service = try FanoutService(StoreBackend(store))
    engine = service.engine
    storeEpoch = try store.reader.identity
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
    advanced.withLock { $0 = .now }
  }

  /// How long ago the last ``advance(to:)`` was.
  var staleness: Duration { ContinuousClock.now - advanced.withLock { $0 } }

  /// The number of the last change that decisions are by, with the epoch.
  var settingsNumber: String { "\(epoch):\(visibleSequence)" }

  /// The epoch of the numbers of changes: of a follower that of the server it follows.
  var epoch: String { following?.position?.epoch ?? storeEpoch }

  /// The last change that decisions are by.
  var visibleSequence: Int64 { following?.position?.sequence ?? store.visibleSequence }

  /// Waits until decisions are by a change.
  ///
  /// - Returns: false when the task is cancelled, or the store closed, before.
  func waitUntilVisible(_ sequence: Int64) async -> Bool {
    if let following, following.position != nil { return await following.wait(sequence) }
    return await store.waitUntilVisible(sequence)
  }
}
