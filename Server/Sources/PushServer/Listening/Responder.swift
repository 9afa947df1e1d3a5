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
    state.metrics.begin()
    return Exchange(self, request, route, id)
  }

  /// Counts a response that was written, or whose client left, and logs it.
  func end(_ exchange: Exchange) {
    let duration = ContinuousClock.now - exchange.began
    let status = exchange.status
    if exchange.isFollowing { state.metrics.changeRequests(by: 1) }
    state.metrics.end(exchange.route, status: status, duration)
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
    if case .bytes(let bytes) = answer.body, answer.status != .notModified {
      head.headerFields.append(HTTPField(name: .contentLength, value: "\(bytes.readableBytes)"))
    }
    return head
  }

  /// Checks a request by its head, before its body is read, and counts it as under way.
  ///
  /// - Throws: ``ServerFailure``; ``Load/Refusal/closes`` for one that is not worth an answer.
  func admit(_ exchange: Exchange) throws {
    let (request, route) = (exchange.request, exchange.route)
    // Everybody without a key shares a load of their own, however they are answered.
    if case .scope = route.access {
    } else {
      exchange.ticket = try state.keyless.takeKeyless(isHealth: route.isHealth)
    }
    try checkMethod(request, route)
    let isServed =
      switch route.access {
      case .everywhere: true
      case .clients: servesClients
      case .scope(let scope, _): scope == .admin ? servesAdmin : servesClients
      }
    guard isServed else {
      throw ServerFailure(.notFound, "not_found", "\(request.path) is served by another listener")
    }
    try request.checkParameters(route.parameters)
    var limit = state.options.bodyLimit
    switch route.access {
    case .scope(let scope, let other):
      do {
        exchange.caller = try state.access.caller(request.fields, needs: scope, or: other)
      } catch {
        exchange.ticket = try state.keyless.takeKeyless(isHealth: false)
        throw error
      }
      if request.fields.text(.authorization) == nil { try checkSite(request) }
      exchange.ticket = try take(route, scope, exchange.caller)
    case .clients where route.hasBody(request):
      if let caller = state.pageCaller(request.fields) {
        exchange.ticket?.end()
        exchange.ticket = try take(route, .read, caller)
      } else {
        limit = min(limit, Self.keylessBodyLimit)
      }
    default: break
    }
    let types = route.bodyTypes(request)
    guard !types.isEmpty else { return }
    try request.checkBody(upTo: limit, types: types)
    exchange.bodyLimit = limit
  }

  /// A body without a key, as the login of the support page, has at most so many bytes.
  private static let keylessBodyLimit = 4096

  private func checkMethod(_ request: ServerRequest, _ route: Route) throws(ServerFailure) {
    guard let method = route.method, request.method != method else { return }
    // RFC 9110, 9.1.
    if method == .get, request.method == .head { return }
    let allowed = method == .get ? "GET, HEAD" : method.rawValue
    throw ServerFailure(
      .methodNotAllowed, "method_not_allowed",
      "\(request.path) takes \(allowed), not \(request.method.rawValue)",
      fields: [.allow: allowed])
  }

  /// Without a key, a browser may have been made to send the request: by a page of another site, or
  /// of a name that was pointed here.
  ///
  /// - Throws: ``ServerFailure`` 403.
  private func checkSite(_ request: ServerRequest) throws(ServerFailure) {
    let authority = request.head.authority ?? ""
    let site = request.fields.text(HTTPField.Name("Sec-Fetch-Site")!) ?? "none"
    let origin = request.fields.text(.origin)
    let isOwn = origin.map { $0 == "http://\(authority)" || $0 == "https://\(authority)" } ?? true
    guard isOwn, site == "none" || site == "same-origin" else {
      throw ServerFailure(
        .forbidden, "forged", "the request comes from a page of another site; use a key")
    }
    guard state.options.insecure, let host = ServerOptions.Address.host(of: authority),
      host != "localhost", host != state.options.listen.host,
      (try? SocketAddress(ipAddress: host, port: 0)) == nil
    else { return }
    throw ServerFailure(
      .forbidden, "forged",
      "with --insecure, only localhost, an address or the host of --listen is answered, not "
        + "\(host.prefix(100)); give the server keys")
  }

  /// - Throws: ``ServerFailure`` 429 when too much is under way.
  private func take(
    _ route: Route, _ scope: Scope, _ caller: Caller
  ) throws(ServerFailure) -> Load.Ticket? {
    if route.isHealth { return nil }
    let loads = scope == .admin ? [state.administration] : [state.load, caller.load]
    if let ticket = Load.Ticket(loads) { return ticket }
    state.metrics.refuse()
    throw .overloaded
  }

  /// Keeps a piece of a body.
  ///
  /// - Throws: ``ServerFailure`` 413, or 429 when the bodies under way have too many bytes.
  func collect(_ bytes: ByteBuffer, _ exchange: Exchange) throws(ServerFailure) {
    guard exchange.request.body.readableBytes + bytes.readableBytes <= exchange.bodyLimit else {
      throw .tooLarge(exchange.bodyLimit)
    }
    guard exchange.ticket?.add(bytes.readableBytes) ?? true else {
      state.metrics.refuse()
      throw .overloaded
    }
    if exchange.request.body.readableBytes == 0 {
      exchange.request.body = bytes
    } else {
      exchange.request.body.writeImmutableBuffer(bytes)
    }
  }

  /// Answers a request that was admitted, and whose body was read, or says what will.
  func reply(_ exchange: Exchange) throws -> Reply {
    try exchange.route.answer(
      AdmittedRequest(
        request: exchange.request, id: exchange.id, caller: exchange.caller, state: state,
        address: exchange.address, ticket: exchange.ticket,
        deadline: exchange.deadline))
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
