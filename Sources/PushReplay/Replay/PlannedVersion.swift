internal import PushFanout
internal import PushFiles
internal import PushSupport
internal import Synchronization

/// A version of the settings, which is made when the first message needs it.
///
/// SAFETY: the version is stored once, under the lock of ``VersionPlanner``, and read under it or
/// after ``isMade`` was seen.
final class PlannedVersion: @unchecked Sendable {
  fileprivate let changes: [PresenceSessions.DeviceChange]
  /// For each worker, the changes since the version planned before that concern conversations which
  /// it decides messages to; nil if they are not known.
  let members: [[FanoutTimeline.MemberChange]]?
  private var version: FanoutVersion?
  private let isMade: Atomic<Bool>

  fileprivate init(
    _ changes: [PresenceSessions.DeviceChange], _ members: [[FanoutTimeline.MemberChange]]?,
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

/// Makes the versions that differ in who is online, one after the other, on the threads that decide,
/// so that the thread that reads the events does not spend its time on them.
final class VersionPlanner: Sendable {
  private struct State {
    /// In their order; those before ``next`` are made.
    var planned: [PlannedVersion] = []
    var next = 0
    var failure: FileProblem.Problem?
  }

  private let fanout: Fanout
  private let state = Lock(State())

  init(_ fanout: Fanout) { self.fanout = fanout }

  /// Plans the version that follows the last one planned.
  ///
  /// - Parameter members: see ``PlannedVersion/members``.
  /// - Throws: what the engine refused of a version that was planned before.
  func plan(
    _ changes: [PresenceSessions.DeviceChange], _ members: [[FanoutTimeline.MemberChange]]?
  ) throws(FileProblem.Problem) -> PlannedVersion {
    let planned = PlannedVersion(changes, members, made: nil)
    try state.withLock { (state) throws(FileProblem.Problem) in
      if let failure = state.failure { throw failure }
      state.planned.append(planned)
    }
    return planned
  }

  /// Makes everything that is planned.
  ///
  /// - Returns: the current version.
  /// - Throws: what the engine refused.
  func makeAll() throws(FileProblem.Problem) -> PlannedVersion {
    let failure = state.withLock { state in
      while makeNext(&state) {}
      return state.failure
    }
    if let failure { throw failure }
    return PlannedVersion([], nil, made: fanout.currentVersion)
  }

  /// A version. Those planned before it are made first.
  func version(of planned: PlannedVersion) -> FanoutVersion {
    if let made = planned.made { return made }
    return state.withLock { state in
      while planned.made == nil, makeNext(&state) {}
      return planned.made ?? fanout.currentVersion
    }
  }

  private func makeNext(_ state: inout State) -> Bool {
    guard state.next < state.planned.count else { return false }
    let planned = state.planned[state.next]
    do throws(FileProblem.Problem) {
      _ = try fanout.change(planned.changes)
    } catch {
      state.failure = error
    }
    planned.store(fanout.currentVersion)
    state.next += 1
    if state.next == state.planned.count || state.next == 1024 {
      state.planned.removeFirst(state.next)
      state.next = 0
    }
    return true
  }
}
