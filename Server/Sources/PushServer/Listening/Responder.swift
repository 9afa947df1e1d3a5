internal import HTTPTypes
internal import Logging
internal import NIOCore

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
    let (route, id) = Route.find(request.path)
    // A body whose length is not announced may be the largest.
    let size = request.contentLength ?? (route.hasBody(request) ? state.options.bytesInFlight : 0)
    let held = max(0, min(size, state.options.bodyLimit))
    state.metrics.begin(bytes: held)
    return Exchange(self, request, route, id, heldBytes: held)
  }

  /// Counts a response that was written, or whose client left, and logs it.
  func end(_ exchange: Exchange) {
    let duration = ContinuousClock.now - exchange.began
    let status = exchange.status
    if exchange.isFollowing { state.metrics.changeRequests(by: 1) }
    state.metrics.end(exchange.route, status: status, bytes: exchange.heldBytes, duration)
    // Neither the address nor the body, which may have ids and words.
    state.logger.log(
      level: status < 500 ? .debug : .warning, "request", metadata: metadata(exchange, duration))
    if let trace = exchange.trace {
      let name = exchange.route.name
      state.exporter?.add(
        .init(trace, .server, name, app: state.name, status: status, duration), of: trace)
    }
  }

  private func metadata(_ exchange: Exchange, _ duration: Duration) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      "endpoint": "\(exchange.route.name)", "status": "\(exchange.status)",
      "microseconds": "\(Int64(duration / .microseconds(1)))",
      "request": "\(exchange.request.id ?? "")",
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
    if let id = request.id {
      head.headerFields.append(HTTPField(name: .requestID, value: id))
    }
    if answer.closes { head.headerFields[.connection] = "close" }
    if case .bytes(let bytes) = answer.body, answer.status != .notModified {
      head.headerFields.append(HTTPField(name: .contentLength, value: "\(bytes.readableBytes)"))
    }
    return head
  }

  /// - Throws: ``ServerFailure`` 429 when too much is under way.
  private func checkLoad(_ route: Route) throws(ServerFailure) {
    guard !route.isHealth else { return }
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
  func admit(_ request: ServerRequest, _ route: Route) throws(ServerFailure) -> Caller {
    try checkLoad(route)
    if let method = route.method, request.method != method {
      throw ServerFailure(
        .methodNotAllowed, "method_not_allowed",
        "\(request.path) takes \(method.rawValue), not \(request.method.rawValue)",
        fields: [.allow: method.rawValue])
    }
    let isServed =
      switch route.access {
      case .everywhere: true
      case .clients: servesClients
      case .scope(let scope): scope == .admin ? servesAdmin : servesClients
      }
    guard isServed else {
      throw ServerFailure(.notFound, "not_found", "\(request.path) is served by another listener")
    }
    var caller = Caller.anonymous
    if case .scope(let scope) = route.access {
      caller = try state.access.caller(request.fields, needs: scope)
    }
    let types = route.bodyTypes(request)
    if !types.isEmpty { try request.checkBody(upTo: state.options.bodyLimit, types: types) }
    return caller
  }

  /// Answers a request that was admitted, and whose body was read, or says what will.
  func reply(_ exchange: Exchange) throws -> Reply {
    try exchange.route.answer(
      AdmittedRequest(
        request: exchange.request, id: exchange.id, caller: exchange.caller, state: state))
  }

  func failure(_ error: any Error, _ route: Route) -> ServerFailure {
    let failure = ServerFailure(of: error)
    if failure.status.code >= 500, failure.status != .serviceUnavailable {
      state.logger.error(
        "request failed",
        metadata: ["endpoint": "\(route.name)", "error": "\(error)"])
    }
    return failure
  }
}
