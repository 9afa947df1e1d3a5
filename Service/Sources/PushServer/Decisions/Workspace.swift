internal import PushFanout
internal import PushFiles
internal import PushModel
internal import Synchronization

/// The memory that one request at a time decides in.
///
/// SAFETY: taken from the pool by one request, which gives it back.
final class Workspace: @unchecked Sendable {
  let reader: MessageReader
  var result = FanoutResult()

  init(_ rules: RuleSet) throws(FileProblem) {
    reader = try MessageReader([], name: "body", rules: rules)
  }
}

/// Workspaces that no request uses.
final class WorkspacePool: Sendable {
  private let spares = Mutex<[Workspace]>([])
  /// More are not kept: a request that is streamed keeps its own until the client has read it.
  private static let limit = 64

  func take(_ rules: RuleSet) throws(FileProblem) -> Workspace {
    if let spare = spares.withLock({ $0.popLast() }) { return spare }
    return try Workspace(rules)
  }

  func give(_ workspace: Workspace) {
    workspace.result = FanoutResult()
    spares.withLock { if $0.count < Self.limit { $0.append(workspace) } }
  }
}
