internal import NIOCore
internal import PushService

/// `POST /v1/presence`: heartbeats of devices, one a line (O-30). They are not stored.
enum PresenceEndpoint {
  /// So many refused lines are named.
  private static let listLimit = 100

  /// - Parameter note: is told how many heartbeats were noted, and how many refused.
  static func answer(
    _ request: ServerRequest, _ app: OpenedApp, _ note: (_ applied: Int, _ refused: Int) -> Void
  ) throws -> Answer {
    let (applied, refused) = try app.service.setPresence(ndjson: Array(buffer: request.body))
    note(applied, refused.count)
    if applied == 0, let first = refused.first { throw first }
    let named = refused.prefix(listLimit).map { ServerFailure($0).object }.joined(separator: ",")
    let text = "{\"applied\":\(applied),\"refused\":\(refused.count),\"errors\":[\(named)]}\n"
    return Answer(Answer.json, text.utf8)
  }
}
