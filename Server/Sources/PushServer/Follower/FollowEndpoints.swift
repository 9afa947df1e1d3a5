internal import HTTPTypes
internal import PushFanout
internal import PushModel
internal import PushStore

/// What followers ask a primary.
enum FollowEndpoints {
  /// A copy that is behind by more entries is better replaced.
  private static let entryLimit: Int64 = 100_000

  /// `GET /v1/changes?after=CURSOR&wait=MILLISECONDS`: what a copy has to change; waits for a change
  /// that long.
  static func changes(
    _ request: ServerRequest, _ app: OpenedApp, _ lineage: Lineage
  ) async throws -> Answer {
    let text = try request.required("after")
    guard let cursor = FeedCursor(text) else {
      throw ServerFailure.badRequest("after=\(text) is no cursor of a change feed")
    }
    let wait = try request.number("wait", 0...60_000, default: 0)
    if wait > 0 {
      _ = try await Waiting.until(.milliseconds(wait)) {
        await app.store.waitUntilVisible(cursor.sequence + 1)
      }
    }
    let changes = try await onOtherThread {
      try app.store.reader.changes(since: cursor, limit: entryLimit)
    }
    guard let changes else {
      throw ServerFailure(
        .gone, "reset", "the changes cannot be followed one by one; take a new /v1/snapshot")
    }
    var answer = Answer(
      Answer.ndjson,
      ChangesText.encoded(
        changes, epoch: app.storeEpoch, supersedes: lineage.supersedes, app.engine.app.rules))
    answer.fields[.cacheControl] = "no-store"
    return answer
  }

  /// `GET /v1/role`: what a server is.
  static func role(_ app: OpenedApp, _ lineage: Lineage, isFollower: Bool) -> Answer {
    let list = lineage.supersedes.map { JSONText.quoted($0) }.joined(separator: ",")
    let role = isFollower ? "follower" : "primary"
    return Answer(
      Answer.json,
      "{\"epoch\":\(JSONText.quoted(app.epoch)),\"role\":\"\(role)\",\"supersedes\":[\(list)]}\n"
        .utf8)
  }
}
