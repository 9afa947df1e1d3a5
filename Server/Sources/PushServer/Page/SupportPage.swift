internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import PushFiles
internal import PushModel
internal import PushService

/// The support page: its files, the login, and its questions.
///
/// A cookie is accepted by the paths below `/page/` only, none of which changes settings; the
/// interface below `/v1/` takes keys only, so a forged request has nothing to forge there.
struct SupportPage: Sendable {
  /// A request, without what the page does not need.
  struct Request: Sendable {
    let method: HTTPRequest.Method
    let path: String
    /// The parameter `user`, decoded.
    let user: String?
    let fields: HTTPFields
    /// The host that the client named, with its port.
    let authority: String?
    let body: [UInt8]
  }

  /// An app: its keys, and what decides.
  struct App: Sendable {
    let access: Access
    let service: FanoutService
  }

  private let sessions: PageSessions
  /// The origin that browsers see; nil for that of the server itself.
  private let origin: String?
  private let isSecure: Bool
  private let find: @Sendable (_ app: String) throws(ServerFailure) -> App?

  /// - Parameters:
  ///   - origin: what browsers see, if a proxy is in between; nil for the server itself.
  ///   - isSecure: whether clients connect by TLS; the cookie then goes by TLS only.
  ///   - find: the app of a name; nil for none.
  init(
    _ sessions: PageSessions, origin: String? = nil, isSecure: Bool,
    find: @escaping @Sendable (_ app: String) throws(ServerFailure) -> App?
  ) {
    self.sessions = sessions
    self.origin = origin
    self.isSecure = origin?.hasPrefix("https:") ?? isSecure
    self.find = find
  }

  /// Answers a request for a path of the page; what takes longer is done beside the threads of
  /// connections.
  func answer(_ request: ServerRequest) async throws -> Answer {
    let asked = try Request(request)
    guard asked.method == .post else { return answer(asked) }
    return try await onOtherThread { answer(asked) }
  }

  /// Answers a request for a path of the page, on the caller's thread.
  func answer(_ request: Request) -> Answer {
    var answer: Answer
    do {
      answer = try route(request)
    } catch {
      answer = error.answer
    }
    PageFiles.protect(&answer.fields)
    if isSecure { answer.fields[.strictTransportSecurity] = "max-age=31536000" }
    if answer.fields[.cacheControl] == nil { answer.fields[.cacheControl] = "no-store" }
    return answer
  }

  private func route(_ request: Request) throws(ServerFailure) -> Answer {
    if let file = PageFiles.answer(request.path, request.fields) {
      guard request.method == .get else {
        throw Self.method("GET")
      }
      return file
    }
    switch (request.path, request.method) {
    case ("/page/session", .get): return try state(try session(request).found, nil)
    case ("/page/session", .post): return try logIn(request)
    case ("/page/session", .delete):
      try checkOrigin(request)
      sessions.end(try session(request, needsToken: true).cookie)
      var answer = Answer(Answer.json, "{}".utf8)
      answer.fields[.setCookie] = cookie("", lifetime: 0)
      return answer
    case ("/page/inspect", .post):
      let service = try asked(request)
      guard let user = request.user, !user.isEmpty else {
        throw .badRequest("name the user: /page/inspect?user=ID")
      }
      return try PageQuestions.inspect(service, user: Identifier(user), lines: request.body)
    case ("/page/conversation", .post):
      return try PageQuestions.conversation(try asked(request), line: request.body)
    case ("/page/session", _): throw Self.method("GET, POST, DELETE")
    case ("/page/inspect", _), ("/page/conversation", _): throw Self.method("POST")
    default:
      throw ServerFailure(.notFound, "not_found", "there is no \(request.path); the page is at /")
    }
  }

  /// The settings that a question is asked of.
  private func asked(_ request: Request) throws(ServerFailure) -> FanoutService {
    try checkOrigin(request)
    let session = try session(request, needsToken: true).found
    return try app(of: session).service
  }

  // MARK: Sessions

  private func logIn(_ request: Request) throws(ServerFailure) -> Answer {
    try checkOrigin(request)
    // Another site's form cannot send this type.
    guard request.fields[.contentType]?.lowercased().hasPrefix("application/json") == true else {
      throw ServerFailure(
        .unsupportedMediaType, "unsupported_media_type", "log in with a body of application/json")
    }
    guard let login = try? JSONObject(request.body), let key = try? login.text("key"),
      let name = try? login.text("app") ?? "default"
    else {
      throw .badRequest("log in with {\"key\":\"…\",\"app\":\"default\"}")
    }
    // Neither says whether there is such an app.
    guard let app = try find(name) else {
      throw ServerFailure(.unauthorized, "unauthorized", "the key is not known")
    }
    _ = try app.access.caller([.authorization: "Bearer \(key)"], needs: .read)
    let (value, session) = sessions.begin(key: key, app: name)
    return try state(session, cookie(value, lifetime: Int(PageSessions.limit.components.seconds)))
  }

  /// The session of a request.
  private func session(
    _ request: Request, needsToken: Bool = false
  ) throws(ServerFailure) -> (cookie: String, found: PageSessions.Session) {
    guard let value = cookie(of: request.fields), let found = sessions.find(value) else {
      throw ServerFailure(
        .unauthorized, "no_session", "log in: there is no session, or it has ended")
    }
    if needsToken {
      let token = request.fields[HTTPField.Name("Push-Fanout-CSRF")!] ?? ""
      guard Secret.areEqual(Array(token.utf8), Array(found.token.utf8)) else {
        throw ServerFailure(
          .forbidden, "forged", "the request does not come from the page; load the page again")
      }
    }
    return (value, found)
  }

  /// Who has the session of a request; nil for none.
  func caller(_ fields: HTTPFields) -> Caller? {
    guard let value = cookie(of: fields), let session = sessions.find(value),
      let app = try? find(session.app)
    else { return nil }
    return try? app.access.caller([.authorization: "Bearer \(session.key)"], needs: .read)
  }

  private func cookie(of fields: HTTPFields) -> String? {
    let name = Self.cookieName(isSecure: isSecure)
    let cookies = fields[values: .cookie].flatMap { $0.split(separator: ";") }
    return cookies.lazy.map { $0.trimmingCharacters(in: .whitespaces) }
      .first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
  }

  private func app(of session: PageSessions.Session) throws(ServerFailure) -> App {
    guard let app = try find(session.app) else {
      throw ServerFailure(.unauthorized, "no_session", "log in: the app is not served any more")
    }
    _ = try app.access.caller([.authorization: "Bearer \(session.key)"], needs: .read)
    return app
  }

  /// What the page begins with.
  private func state(
    _ session: PageSessions.Session, _ cookie: String?
  ) throws(ServerFailure) -> Answer {
    let app = try app(of: session)
    let caller = try app.access.caller([.authorization: "Bearer \(session.key)"], needs: .read)
    let settings = app.service.app
    let text =
      "{\"app\":\(JSONText.quoted(session.app)),\"csrf\":\(JSONText.quoted(session.token)),"
      + "\"name\":\(JSONText.quoted(caller.name)),\"rules\":\(JSONText.quoted(settings.rules.rawValue)),"
      + "\"timeZone\":\(JSONText.quoted(settings.timeZone))}"
    var answer = Answer(Answer.json, text.utf8)
    answer.fields[.setCookie] = cookie
    return answer
  }

  /// - Throws: ``ServerFailure`` 403 for a request that a page of another origin has caused.
  private func checkOrigin(_ request: Request) throws(ServerFailure) {
    let site = request.fields[HTTPField.Name("Sec-Fetch-Site")!]
    var isOwn = site == nil || site == "same-origin"
    if let origin = request.fields[.origin] {
      isOwn =
        isOwn
        && origin == (self.origin ?? "http\(isSecure ? "s" : "")://\(request.authority ?? "")")
    }
    guard isOwn else {
      throw ServerFailure(
        .forbidden, "forged", "the request comes from another site; use the page of this server")
    }
  }

  static func cookieName(isSecure: Bool) -> String {
    isSecure ? "__Host-push-fanout-page" : "push-fanout-page"
  }

  private func cookie(_ value: String, lifetime: Int) -> String {
    "\(Self.cookieName(isSecure: isSecure))=\(value); Path=/; Max-Age=\(lifetime); HttpOnly; "
      + "SameSite=Strict" + (isSecure ? "; Secure" : "")
  }

  private static func method(_ allowed: String) -> ServerFailure {
    ServerFailure(
      .methodNotAllowed, "method_not_allowed", "use \(allowed)",
      fields: [HTTPField.Name("Allow")!: allowed])
  }
}

extension SupportPage.Request {
  init(_ request: ServerRequest) throws(ServerFailure) {
    method = request.method == .head ? .get : request.method
    path = String(request.path)
    user = try request.parameter("user")
    fields = request.fields
    authority = request.head.authority
    body = Array(buffer: request.body)
  }
}
