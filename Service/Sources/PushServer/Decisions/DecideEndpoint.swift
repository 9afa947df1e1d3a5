internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// `POST /v1/decide`
enum DecideEndpoint {
  /// So many bytes are sent at a time.
  private static let chunk = 256 * 1024
  /// A larger body is decided on another thread than that of its connections.
  private static let loopLimit = 64 * 1024

  static let types = ["application/x-ndjson", "application/json", "text/plain"]

  static func answer(
    _ request: ServerRequest, _ body: ByteBuffer, _ app: OpenedApp, _ metrics: ServerMetrics
  ) async throws -> Answer {
    let format = try AnswerFormat.of(request)
    let showsDevices = try request.parameter("devices") == "true"
    let number = app.settingsNumber
    let deciding = try Deciding(body, app, format, showsDevices: showsDevices)
    // What a client has sent decides how long it takes, and others wait on the same thread.
    let first =
      body.readableBytes <= loopLimit
      ? try deciding.next(chunk)
      : try await withTaskExecutorPreference(globalConcurrentExecutor) {
        try deciding.next(chunk)
      }
    // A body of this type is one message, and not a list in which others are decided.
    if request.mediaType == Answer.json, let failure = deciding.firstFailure { throw failure }
    var answer = Answer(format.mediaType, .bytes(first.bytes))
    answer.fields[.settings] = number
    if first.isLast {
      metrics.decided(deciding.messageCount, errors: deciding.errorCount)
      if deciding.messageCount == 1, deciding.errorCount == 0, format != .payloads {
        answer.fields[.membership] = "\(deciding.membershipVersion)"
      }
      return answer
    }
    answer.body = .stream { writer in
      try await writer.write(first.bytes)
      while true {
        let next = try await withTaskExecutorPreference(globalConcurrentExecutor) {
          try deciding.next(chunk)
        }
        try Task.checkCancellation()
        try await writer.write(next.bytes)
        if next.isLast { break }
      }
      metrics.decided(deciding.messageCount, errors: deciding.errorCount)
    }
    return answer
  }
}

extension HTTPField.Name {
  /// The last change that an answer is by, `EPOCH:N`.
  static let settings = HTTPField.Name("Push-Fanout-Settings")!
  /// The version of the membership that codes and bits are of.
  static let membership = HTTPField.Name("Push-Fanout-Membership")!
  /// The name of a request, for logs.
  static let requestID = HTTPField.Name("X-Request-Id")!
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
