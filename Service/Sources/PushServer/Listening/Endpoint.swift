internal import HTTPTypes
internal import PushModel

/// What a request asks for, by its path.
struct Endpoint {
  enum Route {
    case decide, explain, nextChange, settings, events, snapshot, openapi
    case live, ready, metrics, reload, page, changes, role, promote, unknown
    case members(Identifier)
  }

  let route: Route
  let name: EndpointName
  let method: HTTPRequest.Method
  let scope: Scope

  init(_ request: ServerRequest) {
    switch request.path {
    case "/v1/decide": self.init(.decide, .decide, .post, .decide)
    case "/v1/explain": self.init(.explain, .explain, .post, .read)
    case "/v1/next-change": self.init(.nextChange, .nextChange, .get, .read)
    case "/v1/settings": self.init(.settings, .settings, .post, .write)
    case "/v1/events": self.init(.events, .events, .get, .read)
    case "/v1/snapshot": self.init(.snapshot, .snapshot, .get, .admin)
    case "/v1/changes": self.init(.changes, .changes, .get, .admin)
    case "/v1/role": self.init(.role, .role, .get, .read)
    case "/v1/promote": self.init(.promote, .promote, .post, .admin)
    case "/v1/openapi.json": self.init(.openapi, .openapi, .get, .read)
    case "/livez": self.init(.live, .live, .get, .read)
    case "/readyz": self.init(.ready, .ready, .get, .read)
    case "/metrics": self.init(.metrics, .metrics, .get, .admin)
    case "/v1/keys/reload": self.init(.reload, .reload, .post, .admin)
    case let path where SupportPage.serves(path): self.init(.page, .page, request.method, .read)
    case let path:
      guard let id = Self.conversation(path) else {
        self.init(.unknown, .other, .get, .read)
        return
      }
      self.init(.members(id), .members, .get, .read)
    }
  }

  private init(
    _ route: Route, _ name: EndpointName, _ method: HTTPRequest.Method, _ scope: Scope
  ) {
    self.route = route
    self.name = name
    self.method = method
    self.scope = scope
  }

  /// The id of `/v1/conversations/{id}/members`; nil for another path.
  private static func conversation(_ path: Substring) -> Identifier? {
    let (prefix, suffix) = ("/v1/conversations/", "/members")
    guard path.hasPrefix(prefix), path.hasSuffix(suffix),
      path.utf8.count > prefix.utf8.count + suffix.utf8.count
    else { return nil }
    let id = path.dropFirst(prefix.count).dropLast(suffix.count)
    guard !id.contains("/"), let text = try? ServerRequest.decoded(id) else { return nil }
    return Identifier(text)
  }

  var hasBody: Bool { method == .post }

  /// The types of bodies that it reads; none if it reads no body.
  var bodyTypes: [String] {
    switch route {
    case .decide, .settings: SettingsEndpoint.types
    case .explain: [Answer.json]
    case .page where method == .post: [Answer.json, Answer.ndjson]
    default: []
    }
  }

  /// Whether it is answered however much there is to do.
  var isHealth: Bool {
    switch route {
    case .live, .ready, .metrics: true
    default: false
    }
  }
}
