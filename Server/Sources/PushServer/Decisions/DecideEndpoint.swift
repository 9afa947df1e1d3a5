internal import HTTPTypes
internal import NIOCore
internal import PushModel
internal import PushService

/// `POST /v1/decide` and `POST /v1/requests`
enum DecideEndpoint {
  /// So many bytes are sent at a time.
  private static let chunk = 256 * 1024
  /// A larger body is decided on another thread than that of its connections.
  private static let loopLimit = 64 * 1024
  /// So are messages to more members together: the first message to a conversation after a change
  /// takes 16 ns a member.
  private static let loopMembers = 100_000

  /// Decides, unless that may take long; then says what does.
  static func reply(
    _ request: ServerRequest, _ app: OpenedApp, _ metrics: ServerMetrics
  ) throws -> Reply {
    let (format, isArray) = try AnswerFormat.of(request)
    if format == .payloads { try app.service.checkPushContent() }
    let showsDevices = try request.flag("devices")
    return try reply(
      request, metrics,
      Deciding(request.body, app, format, isArray: isArray, showsDevices: showsDevices))
  }

  /// Makes requests (S-10), as decisions are made.
  static func requests(
    _ request: ServerRequest, _ app: OpenedApp, _ metrics: ServerMetrics, by senders: SenderFile?
  ) throws -> Reply {
    try app.service.checkPushContent()
    guard let senders else {
      throw ServerFailure(
        .unprocessableContent, "no_senders",
        "the server does not know how requests are made; start it with --senders FILE")
    }
    let (format, isArray) = try AnswerFormat.of(request, only: .requests)
    let lines = try RequestLines(
      app.service, by: senders.senders(for: app.rules), for: platforms(request),
      sharesBodies: request.flag("share-bodies"))
    return try reply(
      request, metrics, Deciding(request.body, app, format, isArray: isArray, requests: lines))
  }

  /// The parameter `platform`; all without it.
  private static func platforms(_ request: ServerRequest) throws(ServerFailure) -> Set<PushPlatform>
  {
    guard let text = try request.parameter("platform") else { return Set(PushPlatform.allCases) }
    var platforms: Set<PushPlatform> = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let platform = PushPlatform(rawValue: String(name)) else {
        let names = PushPlatform.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badRequest("there is no platform \(name.prefix(100)); there are \(names)")
      }
      platforms.insert(platform)
    }
    return platforms
  }

  private static func reply(
    _ request: ServerRequest, _ metrics: ServerMetrics, _ deciding: Deciding
  ) throws -> Reply {
    // What a client has sent decides how long it takes, and others wait on the same thread.
    if request.body.readableBytes <= loopLimit {
      let progress = try deciding.decide(upTo: chunk, members: loopMembers)
      if progress != .tooManyMembers {
        return .answer(try answer(request, deciding, progress, metrics))
      }
    }
    return .task {
      let progress = try await onOtherThread { try deciding.decide(upTo: chunk) }
      return try answer(request, deciding, progress, metrics)
    }
  }

  /// Answers with what was decided, and with the rest as it is decided.
  private static func answer(
    _ request: ServerRequest, _ deciding: Deciding, _ progress: Deciding.Progress,
    _ metrics: ServerMetrics
  ) throws -> Answer {
    // A body of this type is one message, and not a list in which others are decided.
    if let failure = deciding.firstFailure, request.mediaType == Answer.json { throw failure }
    let first = deciding.takeBytes(isLast: progress == .complete)
    var answer = Answer(deciding.mediaType, .bytes(first))
    answer.fields[.settings] = deciding.settings
    let refused = deciding.refusedUserCount
    if refused > 0 { answer.fields[.refusedUsers] = "\(refused)" }
    let unknown = deciding.unknownCount
    if unknown > 0 { answer.fields[.unknownConversations] = "\(unknown)" }
    if progress == .complete {
      metrics.decided(
        deciding.messageCount, errors: deciding.errorCount, unknown: deciding.unknownCount)
      if deciding.messageCount == 1, deciding.errorCount == 0, deciding.hasMembership {
        answer.fields[.membership] = "\(deciding.membershipVersion)"
      }
      return answer
    }
    answer.body = .stream { writer in
      try await writer.write(first)
      var progress = progress
      while progress != .complete {
        progress = try await onOtherThread { try deciding.decide(upTo: chunk) }
        try Task.checkCancellation()
        try await writer.write(deciding.takeBytes(isLast: progress == .complete))
      }
      metrics.decided(
        deciding.messageCount, errors: deciding.errorCount, unknown: deciding.unknownCount)
    }
    return answer
  }
}

extension HTTPField.Name {
  /// The last change that an answer is by, `EPOCH:N`.
  static let settings = HTTPField.Name("Push-Fanout-Settings")!
  /// How many users of the settings are not decided for, as the machine lacks their time zone.
  static let refusedUsers = HTTPField.Name("Push-Fanout-Refused-Users")!
  /// How many messages, up to the first bytes of the answer, went to conversations that the settings
  /// do not have.
  static let unknownConversations = HTTPField.Name("Push-Fanout-Unknown-Conversations")!
  /// The version of the membership that codes and bits are of.
  static let membership = HTTPField.Name("Push-Fanout-Membership")!
  /// The name of a request, for logs.
  static let requestID = HTTPField.Name("X-Request-Id")!
  /// Milliseconds after which the client does not want the answer any more.
  static let timeout = HTTPField.Name("Push-Fanout-Timeout")!
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
