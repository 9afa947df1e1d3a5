internal import HTTPTypes
internal import Logging
internal import NIOCore
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

  /// Counts a request whose head was read.
  func begin(_ head: HTTPRequest) -> Exchange {
    let request = ServerRequest(head)
    let endpoint = Endpoint(request)
    // A body whose length is not announced may be the largest.
    let size = request.contentLength ?? (endpoint.hasBody ? state.options.bytesInFlight : 0)
    let held = max(0, min(size, state.options.bodyLimit))
    state.metrics.begin(bytes: held)
    return Exchange(self, request, endpoint, heldBytes: held)
  }

  /// Counts a response that was written, or whose client left, and logs it.
  func end(_ exchange: Exchange) {
    let duration = ContinuousClock.now - exchange.began
    let status = exchange.status
    if exchange.isFollowing { state.metrics.changeRequests(by: 1) }
    state.metrics.end(exchange.endpoint.name, status: status, bytes: exchange.heldBytes, duration)
    // Neither the address nor the body, which may have ids and words.
    state.logger.log(
      level: status < 500 ? .debug : .warning, "request", metadata: metadata(exchange, duration))
    if let trace = exchange.trace {
      let name = exchange.endpoint.name.rawValue
      state.exporter?.add(
        .init(trace, .server, name, app: state.name, status: status, duration), of: trace)
    }
  }

  private func metadata(_ exchange: Exchange, _ duration: Duration) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "endpoint": "\(exchange.endpoint.name.rawValue)", "status": "\(exchange.status)",
      "microseconds": "\(Int64(duration / .microseconds(1)))",
      "request": "\(requestID(exchange.request) ?? "")",
    ]
    if let trace = exchange.trace {
      metadata["trace"] = "\(trace.trace)"
      metadata["span"] = "\(trace.span)"
    }
    return metadata
  }

  /// The head of a response.
  func head(of answer: Answer, to request: ServerRequest) -> HTTPResponse {
    var head = HTTPResponse(status: answer.status, headerFields: answer.fields)
    head.headerFields.append(HTTPField(name: .date, value: state.httpDate))
    head.headerFields.append(HTTPField(name: .xContentTypeOptions, value: "nosniff"))
    if let id = requestID(request) {
      head.headerFields.append(HTTPField(name: .requestID, value: id))
    }
    if answer.closes { head.headerFields[.connection] = "close" }
    if case .bytes(let bytes) = answer.body, answer.status != .notModified {
      head.headerFields.append(HTTPField(name: .contentLength, value: "\(bytes.readableBytes)"))
    }
    return head
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

  /// Checks a request by its head, before its body is read.
  ///
  /// - Returns: who makes it; `anonymous` where no key is needed.
  func admit(_ request: ServerRequest, _ endpoint: Endpoint) throws(ServerFailure) -> Caller {
    try checkLoad(endpoint)
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
    case .live, .ready: return .anonymous
    default: break
    }
    guard endpoint.scope == .admin ? servesAdmin : servesClients else {
      throw ServerFailure(.notFound, "not_found", "\(request.path) is served by another listener")
    }
    var caller = Caller.anonymous
    switch endpoint.route {
    case .openapi, .page: break
    default: caller = try state.access.caller(request.fields, needs: endpoint.scope)
    }
    let types = endpoint.bodyTypes
    if !types.isEmpty { try request.checkBody(upTo: state.options.bodyLimit, types: types) }
    return caller
  }

  /// Answers a request that was admitted, and whose body was read, or says what will.
  func reply(_ request: ServerRequest, _ endpoint: Endpoint, _ caller: Caller) throws -> Reply {
    switch endpoint.route {
    case .live: return .answer(Answer(Answer.text, "ok\n".utf8))
    case .ready:
      guard let reason = state.reasonNotReady else {
        return .answer(Answer(Answer.text, ("ok\n" + state.unknownZonesText).utf8))
      }
      throw ServerFailure(.serviceUnavailable, "not_ready", reason, fields: [.retryAfter: "1"])
    case .openapi: return .answer(OpenAPIDocument.answer)
    case .page:
      let page = state.page
      return .task { try await page.answer(request) }
    case .metrics:
      return .answer(
        Answer("text/plain; version=0.0.4; charset=utf-8", state.metricsText.utf8))
    case .reload:
      try state.reloadKeys()
      return .answer(Answer(Answer.json, "{}\n".utf8))
    default:
      let app = try state.app()
      if case .decide = endpoint.route, try request.parameter("at-least") == nil {
        return try DecideEndpoint.reply(request, app, state.metrics)
      }
      if case .settings = endpoint.route {
        try state.checkWritable()
        return try SettingsEndpoint.reply(request, app, caller) { [state] written in
          state.metrics.wrote(written.operations)
          state.audit.note(
            caller.name, requestID(request) ?? "", operations: written.operations,
            sequence: written.sequence)
        }
      }
      return .task { try await answer(request, endpoint, caller, app) }
    }
  }

  private func answer(
    _ request: ServerRequest, _ endpoint: Endpoint, _ caller: Caller, _ app: OpenedApp
  ) async throws -> Answer {
    switch endpoint.route {
    case .decide:
      let app = try await waited(request, app)
      return try await DecideEndpoint.reply(request, app, state.metrics).made()
    case .explain:
      let app = try await waited(request, app)
      return try QuestionEndpoints.explain(request, app)
    case .nextChange:
      let app = try await waited(request, app)
      return try QuestionEndpoints.nextChange(request, app)
    case .members(let conversation):
      let app = try await waited(request, app)
      return try await EventsEndpoint.onOtherThread {
        try QuestionEndpoints.members(request, of: conversation, app)
      }
    case .events:
      try state.checkFeed()
      return try await EventsEndpoint.answer(request, app) { [state] in state.isEndingNow }
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
    guard let id = request.fields.text(.requestID), (1...128).contains(id.utf8.count),
      id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return id
  }

  func failure(_ error: any Error, _ endpoint: Endpoint) -> ServerFailure {
    let failure = ServerFailure(of: error)
    if failure.status.code >= 500, failure.status != .serviceUnavailable {
      state.logger.error(
        "request failed",
        metadata: ["endpoint": "\(endpoint.name.rawValue)", "error": "\(error)"])
    }
    return failure
  }
}
