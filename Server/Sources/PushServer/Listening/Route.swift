internal import HTTPTypes
internal import NIOCore
internal import PushModel

/// A kind of request: everything that the server knows of it. A new one is an entry of ``all``, and
/// of openapi.json.
struct Route: Sendable {
  /// Who may make a request, and where.
  enum Access: Equatable, Sendable {
    /// Anybody, at every listener.
    case everywhere
    /// Anybody who can connect where clients do.
    case clients
    /// Who has a key with the scope: `admin` where administration is served, others where clients
    /// connect.
    case scope(Scope, or: Scope? = nil)
  }

  /// What metrics, logs and spans call it.
  let name: String
  /// The method that it takes; nil if it looks at the method itself.
  let method: HTTPRequest.Method?
  /// As openapi.json has them, with `{…}` for an id.
  let paths: [String]
  let access: Access
  /// The types of bodies that a POST may have; none if no body is read.
  let types: [String]
  /// The parameters that a request may have.
  let parameters: [String]
  /// Whether it is answered however much there is to do.
  let isHealth: Bool
  /// Answers a request that was admitted, and whose body was read, or says what will.
  let answer: @Sendable (AdmittedRequest) throws -> Reply
  /// Its place in ``all``.
  private(set) var index = 0
  /// What paths begin with, and what stands behind the id; nil for a path without an id.
  private let patterns: [(start: Substring, end: Substring?)]

  private init(
    _ name: String, _ method: HTTPRequest.Method?, _ paths: String..., access: Access,
    types: [String] = [], parameters: [String] = [], isHealth: Bool = false,
    answer: @escaping @Sendable (AdmittedRequest) throws -> Reply
  ) {
    self.name = name
    self.method = method
    self.paths = paths
    self.access = access
    self.types = types
    self.parameters = parameters
    self.isHealth = isHealth
    self.answer = answer
    patterns = paths.map { path in
      path.firstMatch(of: /(.*)\{.*\}(.*)/).map { ($0.1, $0.2) } ?? (path[...], nil)
    }
  }

  /// The route of a path, and the id in it.
  static func find(_ path: Substring) -> (route: Route, id: Identifier) {
    for route in all {
      if let id = route.id(in: path) { return (route, id) }
    }
    return (all[all.count - 1], "")
  }

  /// The id in a path, empty for a route that has none; nil for a path of another route.
  private func id(in path: Substring) -> Identifier? {
    for (start, end) in patterns {
      guard let end else {
        if path == start { return "" }
        continue
      }
      guard path.hasPrefix(start), path.hasSuffix(end),
        path.utf8.count > start.utf8.count + end.utf8.count
      else { continue }
      let id = path.dropFirst(start.count).dropLast(end.count)
      if !id.contains("/"), let text = try? ServerRequest.decoded(id) { return Identifier(text) }
    }
    return nil
  }

  /// Whether the audit file has a line for requests.
  var isNoted: Bool { access == .scope(.write) }

  /// Whether a body comes with requests.
  func hasBody(_ request: ServerRequest) -> Bool {
    (method ?? request.method) == .post
  }

  /// The types that the body of a request may have; none if it is not read.
  func bodyTypes(_ request: ServerRequest) -> [String] {
    hasBody(request) ? types : []
  }

  private static let lines = [Answer.ndjson, Answer.json]

  /// Every route; the last one is that of paths at which there is nothing.
  static let all: [Route] = [
    Route(
      "decide", .post, "/v1/decide", access: .scope(.decide), types: lines,
      parameters: ["format", "devices", "at-least"]
    ) { asked in
      let metrics = asked.state.metrics
      guard try asked.request.parameter("at-least") == nil else {
        return try asked.bySettings {
          try await DecideEndpoint.reply(asked.request, $0, metrics).made()
        }
      }
      return try DecideEndpoint.reply(asked.request, asked.state.app(), metrics)
    },
    Route(
      "requests", .post, "/v1/requests", access: .scope(.send), types: lines,
      parameters: ["platform", "share-bodies", "at-least"]
    ) { asked in
      let (metrics, senders) = (asked.state.metrics, asked.state.senders)
      guard try asked.request.parameter("at-least") == nil else {
        return try asked.bySettings {
          try await DecideEndpoint.requests(asked.request, $0, metrics, by: senders).made()
        }
      }
      return try DecideEndpoint.requests(asked.request, asked.state.app(), metrics, by: senders)
    },
    Route("presence", .post, "/v1/presence", access: .scope(.presence), types: lines) { asked in
      let (state, request) = (asked.state, asked.request)
      let app = try state.app()
      // An update may wait for one of settings.
      return .task {
        try await onOtherThread {
          try PresenceEndpoint.answer(request, app) { state.metrics.noted($0, refused: $1) }
        }
      }
    },
    Route(
      "explain", .post, "/v1/explain", access: .scope(.read), types: [Answer.json],
      parameters: ["at-least"]
    ) { asked in
      try asked.bySettings { try QuestionEndpoints.explain(asked.request, $0) }
    },
    Route(
      "nextChange", .get, "/v1/next-change", access: .scope(.read),
      parameters: ["conversation", "user", "channel", "after", "at-least"]
    ) { asked in
      try asked.bySettings { try QuestionEndpoints.nextChange(asked.request, $0) }
    },
    Route(
      "members", .get, "/v1/conversations/{conversation}/members", access: .scope(.read),
      parameters: ["at-least"]
    ) {
      asked in
      try asked.bySettings { app in
        try await onOtherThread { try QuestionEndpoints.members(asked.request, of: asked.id, app) }
      }
    },
    Route(
      "settings", .post, "/v1/settings", access: .scope(.write), types: lines,
      parameters: ["device"]
    ) { asked in
      let app = try asked.state.app()
      try asked.state.checkWritable()
      guard WallClock.isUsable else {
        throw ServerFailure(
          .serviceUnavailable, "store_unavailable",
          "the clock of the server is before 1970 or after 9999; nothing was written")
      }
      return try SettingsEndpoint.reply(asked.request, app, asked.caller, by: asked.deadline) {
        asked.note($0)
      }
    },
    Route(
      "record", .get, "/v1/record", access: .scope(.read), parameters: ["user", "conversation"]
    ) { asked in
      try asked.byFeed { app in
        try await onOtherThread { try SettingsEndpoint.record(asked.request, app) }
      }
    },
    Route(
      "events", .get, "/v1/events", access: .scope(.read), parameters: ["after", "limit", "user"]
    ) { asked in
      // A stream ends with the server, and with its key.
      try asked.byFeed { app in
        try await EventsEndpoint.answer(asked.request, app) {
          asked.state.isEndingNow || !asked.state.access.stillAllows(asked.request.fields, .read)
        }
      }
    },
    Route("snapshot", .get, "/v1/snapshot", access: .scope(.admin)) { asked in
      try asked.byFeed { try await SnapshotEndpoint.answer($0, asked.state.lineage) }
    },
    Route("openapi", .get, "/v1/openapi.json", access: .clients) { _ in
      .answer(OpenAPIDocument.answer)
    },
    Route("live", .get, "/livez", access: .everywhere, isHealth: true) { _ in
      .answer(Answer(Answer.text, "ok\n".utf8))
    },
    Route("ready", .get, "/readyz", access: .everywhere, isHealth: true) { asked in
      guard let reason = asked.state.reasonNotReady else {
        return .answer(Answer(Answer.text, ("ok\n" + asked.state.unknownZonesText).utf8))
      }
      throw ServerFailure(.serviceUnavailable, "not_ready", reason, fields: [.retryAfter: "1"])
    },
    Route("metrics", .get, "/metrics", access: .scope(.admin), isHealth: true) { asked in
      .answer(
        Answer("text/plain; version=0.0.4; charset=utf-8", asked.state.metricsText.utf8))
    },
    Route("reload", .post, "/v1/keys/reload", access: .scope(.admin)) { asked in
      try asked.state.reloadKeys()
      return .answer(Answer(Answer.json, "{}\n".utf8))
    },
    Route(
      "page", nil, "/", "/page/{name}", access: .clients, types: [Answer.json, Answer.ndjson],
      parameters: ["user"]
    ) { asked in
      let page = asked.state.page
      return .task { try await page.answer(asked.request) }
    },
    Route("changes", .get, "/v1/changes", access: .scope(.admin), parameters: ["after", "wait"]) {
      asked in
      try asked.byFeed {
        try await FollowEndpoints.changes(asked.request, $0, asked.state.lineage)
      }
    },
    Route("role", .get, "/v1/role", access: .scope(.read, or: .admin)) { asked in
      let state = asked.state
      return .answer(
        FollowEndpoints.role(try state.app(), state.lineage, isFollower: state.isFollower))
    },
    Route("promote", .post, "/v1/promote", access: .scope(.admin)) { asked in
      _ = try asked.state.app()
      return .task { try await asked.state.promote(asked.caller.name) }
    },
    Route("other", nil, "", access: .everywhere) { asked in
      throw ServerFailure(
        .notFound, "not_found",
        "there is nothing at \(asked.request.path); see /v1/openapi.json")
    },
  ].enumerated().map { index, route in
    var route = route
    route.index = index
    return route
  }
}

/// A request that was admitted, and whose body was read.
struct AdmittedRequest: Sendable {
  let request: ServerRequest
  /// The id in its path; empty for none.
  let id: Identifier
  /// Who makes it; `anonymous` where no key is needed.
  let caller: Caller
  /// The app that it is about.
  let state: ServerState
  /// The address of the client.
  let address: String
  /// What it counts as under way; nil for what does not count.
  let ticket: Load.Ticket?
  /// When the client does not want the answer any more; nil for never.
  let deadline: ContinuousClock.Instant?

  /// Answers by the settings, once they have the change that `at-least` names.
  func bySettings(_ answer: @escaping @Sendable (OpenedApp) async throws -> Answer) throws -> Reply
  {
    let app = try state.app()
    return .task { try await answer(try await waited(app)) }
  }

  /// Answers by the change feed, which a follower has none of.
  func byFeed(_ answer: @escaping @Sendable (OpenedApp) async throws -> Answer) throws -> Reply {
    let app = try state.app()
    try state.checkFeed()
    return .task { try await answer(app) }
  }

  /// Notes what was written.
  func note(_ written: SettingsEndpoint.Written) {
    state.metrics.wrote(written.operations.values.reduce(0, +))
    state.audit.note(
      caller.name, at: address, request.id ?? "", operations: written.operations,
      sequence: written.sequence)
  }

  /// Waits for the change that `at-least` names.
  ///
  /// - Returns: the app that has it: a follower may have copied all settings again meanwhile.
  private func waited(_ app: OpenedApp) async throws -> OpenedApp {
    guard let text = try request.parameter("at-least") else { return app }
    let number = try SequenceNumber(text, app)
    if app.visibleSequence >= number.value { return try state.app() }
    let seconds = state.options.atLeastTimeout
    // Waiting is no load.
    guard ticket?.wait() ?? true else { throw ServerFailure.overloaded }
    defer { ticket?.resume() }
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
}
