internal import AsyncHTTPClient
internal import Foundation
internal import Logging
internal import PushContent
internal import PushFanout
internal import PushModel
internal import PushService
internal import PushStore
internal import QuietTime
internal import ServiceLifecycle
internal import Synchronization

/// Keeps a copy of another server's settings, and serves decisions by it, until it is promoted.
struct Follower: Service {
  let state: ServerState
  let following: FollowState

  /// How long the primary may wait for a change, in milliseconds: at most so long the follower does
  /// not know that it has all.
  private static let wait = 1000
  /// How often the position is noted beside the store. What is followed twice does no harm.
  private static let noteInterval = Duration.milliseconds(500)

  func run() async throws {
    let options = state.options
    let client = Primary.client(authority: options.peerCa)
    do {
      let primary = try Primary(following.url, client, for: state)
      let copy = Copy(state: state, following: following, primary: primary)
      try await cancelWhenGracefulShutdown { try await copy.run() }
    } catch is CancellationError {
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
    await Sleep.untilShutdown()
    if let app = state.openedApp {
      try await onOtherThread { try app.store.close() }
    }
  }

  /// The copy, for as long as it follows.
  private final class Copy: Sendable {
    let state: ServerState
    let following: FollowState
    let primary: Primary
    private let lineage = Mutex(Lineage())
    private let notedAt = Mutex(ContinuousClock.now)

    init(state: ServerState, following: FollowState, primary: Primary) {
      self.state = state
      self.following = following
      self.primary = primary
    }

    private var store: String { state.options.store }

    /// Follows until it is cancelled or promoted.
    func run() async throws {
      if FileManager.default.fileExists(atPath: store) {
        guard let found = try Lineage.read(beside: store), found.follows != nil else {
          throw OptionError(
            "\(store) is no copy of \(primary.url), and is not replaced: move it away, with the "
              + "files beside it, or give another --store")
        }
        lineage.withLock { $0 = found }
        try await open()
      }
      var pause = Duration.milliseconds(100)
      while !Task.isCancelled, !following.isPromoted {
        do {
          try await follow()
          pause = .milliseconds(100)
        } catch let error as FollowError where error.isFinal {
          report(error)
          pause = .seconds(5)
        } catch is CancellationError {
          break
        } catch {
          report(error)
          pause = min(pause * 2, .seconds(5))
        }
        if !following.isPromoted { try? await Task.sleep(for: pause) }
      }
      try note(always: true)
    }

    private func report(_ error: any Error) {
      following.note("\(error)")
      state.logger.warning(
        "not following", metadata: ["primary": "\(primary.url)", "error": "\(error)"])
    }

    /// Takes changes until something fails.
    private func follow() async throws {
      if lineage.withLock({ $0.follows }) == nil { try await takeSnapshot() }
      while !Task.isCancelled, !following.isPromoted {
        let cursor = lineage.withLock { $0.cursor } ?? "0"
        let isFirst = following.lag == nil
        let asked = ContinuousClock.now
        guard
          let changes = try await primary.changes(after: cursor, wait: isFirst ? 0 : Follower.wait)
        else {
          try await takeSnapshot()
          continue
        }
        try await check(changes.epoch, changes.supersedes)
        try await apply(changes, asked: asked)
      }
    }

    /// - Throws: ``FollowError`` for a server that is not the one that was followed.
    private func check(_ epoch: String, _ supersedes: [String]) async throws {
      let known = lineage.withLock { $0 }
      if epoch == known.follows { return }
      if known.supersedes.contains(epoch) {
        throw FollowError(
          "\(primary.url) has the settings of \(epoch), which others have superseded; it is not "
            + "followed", isFinal: true)
      }
      guard let follows = known.follows, supersedes.contains(follows) else {
        throw FollowError(
          "\(primary.url) has other settings (\(epoch)) than those that are followed; to follow "
            + "them, move \(store) away", isFinal: true)
      }
      try await takeSnapshot()
      throw FollowError("\(primary.url) was promoted; its settings were copied again")
    }

    private func apply(_ changes: ChangesText, asked: ContinuousClock.Instant) async throws {
      let app = try state.app()
      if changes.entryCount > 0 {
        let (removals, records) = (changes.removals, changes.records)
        let batch =
          records.isEmpty
          ? nil
          : try app.service.batch(
            ndjson: records, unknownZones: .refuse
          ).batch
        let settings = batch?.settings ?? FanoutSettings(app: app.engine.app)
        // A promotion waits for this, and nothing is written after it.
        guard following.beginWriting() else { return }
        defer { following.endWriting() }
        try await app.store.write(at: WallClock.now) { write in
          try write.follow(
            removals, settings, content: batch?.content ?? ContentDirectory(),
            replacingApp: batch?.replacesApp ?? false)
        }
      }
      lineage.withLock { lineage in
        lineage.cursor = "\(changes.end)"
        for epoch in changes.supersedes where !lineage.supersedes.contains(epoch) {
          lineage.supersedes.append(epoch)
        }
      }
      let delay = changes.first.map {
        Double(WallClock.now.milliseconds - $0.milliseconds) / 1000
      }
      following.note(
        changes.end.sequence, count: changes.entryCount, delay: delay,
        // An answer without changes came when the time to wait was over.
        asked: changes.entryCount > 0 ? asked : .now)
      try note(always: false)
    }

    private func note(always: Bool) throws {
      let now = ContinuousClock.now
      let isDue = notedAt.withLock { notedAt in
        guard always || now - notedAt > Follower.noteInterval else { return false }
        notedAt = now
        return true
      }
      let current = lineage.withLock { $0 }
      guard isDue, current.follows != nil, following.beginWriting() else { return }
      defer { following.endWriting() }
      try current.write(beside: store)
    }

    /// Replaces the store by the primary's, and decides by the old one meanwhile.
    private func takeSnapshot() async throws {
      let part = store + ".part"
      let taken = try await primary.takeSnapshot(to: part)
      let known = lineage.withLock { $0 }
      if let epoch = taken.follows, known.supersedes.contains(epoch) {
        try? FileManager.default.removeItem(atPath: part)
        throw FollowError(
          "\(primary.url) has the settings of \(epoch), which others have superseded; it is not "
            + "followed", isFinal: true)
      }
      guard following.beginWriting() else {
        try? FileManager.default.removeItem(atPath: part)
        return
      }
      defer { following.endWriting() }
      if let app = state.openedApp {
        try await onOtherThread { try app.store.close() }
      }
      // Without its position the old store is no copy of anything.
      for suffix in ["", "-wal", "-shm", ".snapshot"] {
        try? FileManager.default.removeItem(atPath: store + suffix)
      }
      try taken.write(beside: store)
      try FileManager.default.moveItem(atPath: part, toPath: store)
      lineage.withLock { $0 = taken }
      following.noteSnapshot()
      try await open()
    }

    private func open() async throws {
      let options = state.options
      let (following, decisionLog) = (following, state.decisionLog)
      let known = lineage.withLock { $0 }
      let cursor = known.cursor.flatMap { FeedCursor($0) } ?? .start
      let app = try await onOtherThread {
        try OpenedApp(options, decisionLog: decisionLog, following: following)
      }
      state.open(app, known)
      // Not before: who waits for the change is answered by these settings.
      following.begin(.init(epoch: known.follows ?? "", sequence: cursor.sequence))
      state.logger.notice(
        "following",
        metadata: [
          "primary": "\(primary.url)", "epoch": "\(known.follows ?? "")",
          "sequence": "\(cursor.sequence)", "users": "\(app.engine.userCount)",
        ])
    }
  }
}
