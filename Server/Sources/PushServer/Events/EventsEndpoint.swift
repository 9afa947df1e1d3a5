internal import HTTPTypes
internal import NIOCore
internal import PushModel
internal import PushService
internal import PushStore
internal import PushStoreService

/// `GET /v1/events`: a page as NDJSON, or all that follows as server-sent events.
enum EventsEndpoint {
  /// - Parameter isEnding: whether the server is asked to end; a stream then ends too.
  static func answer(
    _ request: ServerRequest, _ app: OpenedApp, isEnding: @escaping @Sendable () -> Bool
  ) async throws -> Answer {
    let wantsStream =
      request.fields[.accept]?.split(separator: ",").contains {
        $0.split(separator: ";")[0].filter { $0 != " " }.lowercased() == "text/event-stream"
      } ?? false
    let limit = try request.number("limit", 1...100_000, default: 1000)
    let user = try request.parameter("user").map { Identifier($0) }
    let last = wantsStream ? request.fields[.lastEventID] : nil
    let after = try last ?? request.parameter("after") ?? "0"
    let cursor = try await onOtherThread { try self.cursor(after, app) }
    if wantsStream { return stream(app, cursor, user, isEnding) }
    let bytes = try await onOtherThread {
      try app.store.changes(after: cursor, of: user, limit: Int(limit)).flatMap { line($0) }
    }
    return Answer(Answer.ndjson, bytes)
  }

  /// `EPOCH:N`, or the cursor of an entry.
  private static func cursor(_ text: String, _ app: OpenedApp) throws -> FeedCursor {
    if let cursor = FeedCursor(text) { return cursor }
    let number = try SequenceNumber(text, app)
    guard let cursor = try app.store.reader.cursor(at: number.value) else {
      throw ServerFailure(
        .gone, "events_unknown",
        "the feed has no change \(text); read everything again, and follow from its end")
    }
    return cursor
  }

  private static func line(_ event: ChangeEvent) -> [UInt8] {
    ServiceJSON.event(ServiceEvent(event)) + [UInt8(ascii: "\n")]
  }

  private static func stream(
    _ app: OpenedApp, _ cursor: FeedCursor, _ user: Identifier?,
    _ isEnding: @escaping @Sendable () -> Bool
  ) -> Answer {
    var answer = Answer(
      "text/event-stream",
      .stream { writer in
        try await writer.write(ByteBuffer(string: ": push-fanout\n\n"))
        var cursor = cursor
        do {
          while true {
            let page = try await app.tail.next(after: cursor, of: user)
            if Task.isCancelled || isEnding() { return }
            cursor = page.end
            // Waits until the client has read enough; the feed keeps what it has not read.
            let isEmpty = page.text.readableBytes == 0
            try await writer.write(isEmpty ? ByteBuffer(string: ": \n\n") : page.text)
          }
        } catch let error as StoreError {
          let text = JSONText.quoted(ServerFailure(of: error).message)
          try await writer.write(
            ByteBuffer(string: "event: reset\ndata: {\"message\":\(text)}\n\n"))
        }
      })
    answer.fields[.cacheControl] = "no-store"
    answer.isFollowing = true
    return answer
  }
}

/// `EPOCH:N`: the number of a change, of a store.
struct SequenceNumber {
  let value: Int64

  /// - Throws: ``ServerFailure`` 400, or 409 for one of another store.
  init(_ text: String, _ app: OpenedApp) throws(ServerFailure) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let value = Int64(parts[1]), value >= 0 else {
      throw .badRequest("\(text) is not a number of a change, EPOCH:N")
    }
    guard parts[0] == app.epoch else {
      throw ServerFailure(
        .conflict, "other_epoch",
        "\(text) is of another store than this one, \(app.epoch); read everything again")
    }
    self.value = value
  }
}

enum Waiting {
  /// - Returns: what `body` returns, or false when it takes longer; it is then cancelled.
  static func until(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Bool
  ) async throws -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask { await body() }
      group.addTask {
        try? await Task.sleep(for: limit)
        return false
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
  }
}
