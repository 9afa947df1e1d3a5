internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService
internal import PushStore

/// Answers the requests of one listener.
struct Responder: Sendable {
  let state: ServerState
  /// Whether metrics and administration are served here.
  let servesAdmin: Bool
  /// Whether everything else is.
  let servesClients: Bool

  func respond(
    _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
  ) async throws {
    let begin = ContinuousClock.now
    let parsed = ServerRequest(request)
    let endpoint = Endpoint(parsed)
    let trace = parsed.fields[.traceparent].flatMap { TraceContext(traceparent: $0) }
    if parsed.fields[.expect]?.lowercased() == "100-continue", endpoint.hasBody {
      try await writer.writeInformationalHead(HTTPResponse(status: .continue))
    }
    // A body whose length is not announced may be the largest.
    let size =
      parsed.fields[.contentLength].flatMap { Int($0) }
      ?? (endpoint.hasBody ? state.options.bytesInFlight : 0)
    let held = max(0, min(size, state.options.bodyLimit))
    state.metrics.begin(bytes: held)
    var status = 500
    defer {
      let duration = ContinuousClock.now - begin
      state.metrics.end(endpoint.name, status: status, bytes: held, duration)
      // Neither the address nor the body, which may have ids and words.
      state.logger.log(
        level: status < 500 ? .debug : .warning, "request",
        metadata: metadata(parsed, endpoint, trace, status: status, duration))
      if let trace {
        state.exporter?.add(
          .init(trace, endpoint.name, app: state.name, status: status, duration), of: trace)
      }
    }
    var answer: Answer
    do {
      try checkLoad(endpoint)
      answer = try await traced(trace) { try await self.answer(parsed, endpoint) }
    } catch let error as HTTPParserError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      answer = failure(error, endpoint).answer
    }
    status = answer.status.code
    var head = HTTPResponse(status: answer.status, headerFields: answer.fields)
    head.headerFields[.date] = state.httpDate
    head.headerFields[.xContentTypeOptions] = "nosniff"
    if let id = requestID(parsed) { head.headerFields[.requestID] = id }
    if answer.closes {
      head.headerFields[.connection] = "close"
      // The client may still be sending; it gets a second to read the answer.
      _ = channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }
    switch answer.body {
    case .bytes(let bytes):
      if answer.status != .notModified {
        head.headerFields[.contentLength] = "\(bytes.readableBytes)"
      }
      try await writer.write(response: head, body: ResponseBody(byteBuffer: bytes))
    case .stream(let stream):
      var body: any ResponseBodyWriter = try await writer.writeHead(head)
      // One that follows events mostly waits; it counts as a connection only.
      let isFollowing = endpoint.name == .events
      if isFollowing { state.metrics.changeRequests(by: -1) }
      defer { if isFollowing { state.metrics.changeRequests(by: 1) } }
      do {
        try await traced(trace) { try await stream(&body) }
      } catch {
        // What was sent is not whole, and the client has to notice.
        status = 500
        try await channel.close()
        throw error
      }
      try await body.finish(nil)
    }
  }

  /// Answers within a trace, if there is one.
  private func traced<Value>(
    _ trace: TraceContext?, _ body: () async throws -> Value
  ) async throws -> Value {
    guard let trace else { return try await body() }
    return try await TraceContext.$current.withValue(trace) { try await body() }
  }

  private func metadata(
    _ request: ServerRequest, _ endpoint: Endpoint, _ trace: TraceContext?, status: Int,
    _ duration: Duration
  ) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "endpoint": "\(endpoint.name.rawValue)", "status": "\(status)",
      "microseconds": "\(Int64(duration / .microseconds(1)))",
      "request": "\(requestID(request) ?? "")",
    ]
    if let trace {
      metadata["trace"] = "\(trace.trace)"
      metadata["span"] = "\(trace.span)"
    }
    return metadata
  }

  /// - Throws: ``ServerFailure`` 429 when too much is under way.
  private func checkLoad(_ endpoint: Endpoint) throws(ServerFailure) {
    guard !endpoint.isHealth else { return }
    let metrics = state.metrics
    guard metrics.requestsInFlight <= state.options.requestsInFlight,
      metrics.bytesInFlight <= state.options.bytesInFlight
    else {
      metrics.refuse()
      throw ServerFailure(
        .tooManyRequests, "overloaded", "too many requests are under way; try again",
        fields: [.retryAfter: "1"])
    }
  }

  private func answer(_ request: ServerRequest, _ endpoint: Endpoint) async throws -> Answer {
    if case .unknown = endpoint.route {
      throw ServerFailure(
        .notFound, "not_found", "there is nothing at \(request.path); see /v1/openapi.json")
    }
    guard request.method == endpoint.method else {
      throw ServerFailure(
        .methodNotAllowed, "method_not_allowed",
        "\(request.path) takes \(endpoint.method.rawValue), not \(request.method.rawValue)",
        fields: [.allow: endpoint.method.rawValue])
    }
    switch endpoint.route {
    case .live: return Answer(Answer.text, "ok\n".utf8)
    case .ready:
      guard let reason = state.reasonNotReady else { return Answer(Answer.text, "ok\n".utf8) }
      throw ServerFailure(.serviceUnavailable, "not_ready", reason, fields: [.retryAfter: "1"])
    default: break
    }
    guard endpoint.scope == .admin ? servesAdmin : servesClients else {
      throw ServerFailure(.notFound, "not_found", "\(request.path) is served by another listener")
    }
    if case .openapi = endpoint.route { return OpenAPIDocument.answer }
    if case .page = endpoint.route { return try await state.page.answer(request) }
    let caller = try state.access.caller(request.fields, needs: endpoint.scope)
    switch endpoint.route {
    case .metrics:
      return Answer("text/plain; version=0.0.4; charset=utf-8", state.metricsText.utf8)
    case .reload:
      try state.reloadKeys()
      return Answer(Answer.json, "{}\n".utf8)
    default: return try await answer(request, endpoint, caller, try state.app())
    }
  }

  private func answer(
    _ request: ServerRequest, _ endpoint: Endpoint, _ caller: Caller, _ app: OpenedApp
  ) async throws -> Answer {
    let limit = state.options.bodyLimit
    switch endpoint.route {
    case .decide:
      let body = try await request.body(upTo: limit, types: DecideEndpoint.types)
      let app = try await waited(request, app)
      return try await DecideEndpoint.answer(request, body, app, state.metrics)
    case .explain:
      let body = try await request.body(upTo: limit, types: [Answer.json])
      let app = try await waited(request, app)
      return try QuestionEndpoints.explain(request, body, app)
    case .nextChange:
      let app = try await waited(request, app)
      return try QuestionEndpoints.nextChange(request, app)
    case .members(let conversation):
      let app = try await waited(request, app)
      return try QuestionEndpoints.members(request, of: conversation, app)
    case .settings:
      try state.checkWritable()
      let body = try await request.body(upTo: limit, types: DecideEndpoint.types)
      let (answer, written) = try await SettingsEndpoint.answer(request, body, app, caller)
      if let written {
        state.metrics.wrote(written.operations)
        state.audit.note(
          caller.name, requestID(request) ?? "", operations: written.operations,
          sequence: written.sequence)
      }
      return answer
    case .events:
      try state.checkFeed()
      return try await EventsEndpoint.answer(request, app)
    case .changes:
      try state.checkFeed()
      return try await FollowEndpoints.changes(request, app, state.lineage)
    case .role: return FollowEndpoints.role(app, state.lineage, isFollower: state.isFollower)
    case .promote: return try await state.promote(caller.name)
    case .snapshot:
      try state.checkFeed()
      return try await SnapshotEndpoint.answer(app, state.lineage)
    default: throw ServerFailure(.notFound, "not_found", "there is nothing at \(request.path)")
    }
  }

  /// Waits for the change that `at-least` names.
  ///
  /// - Returns: the app that has it: a follower may have copied all settings again meanwhile.
  private func waited(_ request: ServerRequest, _ app: OpenedApp) async throws -> OpenedApp {
    guard let text = try request.parameter("at-least") else { return app }
    let number = try SequenceNumber(text, app)
    if app.visibleSequence >= number.value { return try state.app() }
    let seconds = state.options.atLeastTimeout
    let isThere = try await Waiting.until(.seconds(seconds)) {
      await app.waitUntilVisible(number.value)
    }
    guard isThere else {
      throw ServerFailure(
        .conflict, "not_yet",
        "change \(text) is not there after \(seconds) s, only \(app.settingsNumber); try again",
        fields: [.retryAfter: "1"])
    }
    return try state.app()
  }

  /// The name that a client gives its request, if it can stand in a log.
  private func requestID(_ request: ServerRequest) -> String? {
    guard let id = request.fields[.requestID], (1...128).contains(id.utf8.count),
      id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return id
  }

  private func failure(_ error: any Error, _ endpoint: Endpoint) -> ServerFailure {
    let failure = ServerFailure(of: error)
    if failure.status.code >= 500, failure.status != .serviceUnavailable {
      state.logger.error(
        "request failed",
        metadata: ["endpoint": "\(endpoint.name.rawValue)", "error": "\(error)"])
    }
    return failure
  }
}
