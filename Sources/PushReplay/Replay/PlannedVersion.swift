internal import Dispatch
internal import Glibc
internal import PushFanout
internal import PushFiles
internal import PushSupport
internal import Synchronization

/// A version of the settings, which is made ahead of the first message that needs it, or for it.
///
/// SAFETY: the version is stored once, under the lock of ``VersionPlanner``, and read under it or
/// after ``isMade`` was seen.
final class PlannedVersion: @unchecked Sendable {
  fileprivate let changes: [PresenceSessions.DeviceChange]
  /// The changes since the version planned before that concern conversations which workers decide
  /// messages to; nil if they are not known.
  let members: [PresenceSessions.WaitingMember]?
  private var version: FanoutVersion?
  private let isMade: Atomic<Bool>

  fileprivate init(
    _ changes: [PresenceSessions.DeviceChange], _ members: [PresenceSessions.WaitingMember]?,
    made: FanoutVersion?
  ) {
    self.changes = changes
    self.members = members
    version = made
    isMade = Atomic(made != nil)
  }

  /// The version; nil until it is made.
  fileprivate var made: FanoutVersion? { isMade.load(ordering: .acquiring) ? version : nil }

  fileprivate func store(_ made: FanoutVersion) {
    version = made
    isMade.store(true, ordering: .releasing)
  }
}

/// Makes the versions that differ in who is online, one after the other, on a thread of its own, so
/// that neither the thread that reads the events nor those that decide spend their time on them.
final class VersionPlanner: Sendable {
  private struct State {
    /// In their order; those before ``next`` are made, or being made.
    var planned: [PlannedVersion] = []
    var next = 0
    /// Whether the queue works, or will.
    var isWorking = false
    var failure: FileProblem.Problem?
  }

  private let fanout: Fanout
  private let state = Lock(State())
  /// Held by the thread that makes a version.
  private let making = Lock(())
  private let queue = DispatchQueue(label: "push-fanout.versions", qos: .userInitiated)

  init(_ fanout: Fanout) { self.fanout = fanout }

  /// Plans the version that follows the last one planned.
  ///
  /// - Parameter members: see ``PlannedVersion/members``.
  /// - Throws: what the engine refused of a version that was planned before.
  func plan(
    _ changes: [PresenceSessions.DeviceChange], _ members: [PresenceSessions.WaitingMember]?
  ) throws(FileProblem.Problem) -> PlannedVersion {
    let planned = PlannedVersion(changes, members, made: nil)
    let begins = try state.withLock { (state) throws(FileProblem.Problem) in
      if let failure = state.failure { throw failure }
      state.planned.append(planned)
      defer { state.isWorking = true }
      return !state.isWorking
    }
    if begins { queue.async { self.work() } }
    return planned
  }

  /// Makes everything that is planned.
  ///
  /// - Returns: the current version.
  /// - Throws: what the engine refused.
  func makeAll() throws(FileProblem.Problem) -> PlannedVersion {
    makePlanned()
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return PlannedVersion([], nil, made: fanout.currentVersion)
  }

  /// A version. Those planned before it are made first.
  func version(of planned: PlannedVersion) -> FanoutVersion {
    while true {
      if let made = planned.made { return made }
      // A thread that slept on the lock would wake up after several more versions were made.
      if making.withLockIfAvailable({ _ in makeNext() }) == nil { sched_yield() }
    }
  }

  private func work() {
    repeat {
      makePlanned()
    } while !state.withLock { state in
      state.isWorking = state.next < state.planned.count
      return !state.isWorking
    }
  }

  private func makePlanned() {
    while making.withLock({ _ in makeNext() }) {}
  }

  /// Makes the next version that is planned.
  ///
  /// - Precondition: the lock of ``making`` is held.
  /// - Returns: whether there was one.
  @discardableResult
  private func makeNext() -> Bool {
    let next = state.withLock { state -> PlannedVersion? in
      if state.next == state.planned.count || state.next >= 1024 {
        state.planned.removeFirst(state.next)
        state.next = 0
      }
      guard state.next < state.planned.count else { return nil }
      defer { state.next += 1 }
      return state.planned[state.next]
    }
    guard let next else { return false }
    do throws(FileProblem.Problem) {
      _ = try fanout.change(next.changes)
    } catch {
      state.withLock { $0.failure = error }
    }
    next.store(fanout.currentVersion)
    return true
  }
}
