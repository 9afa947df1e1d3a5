internal import HTTPTypes
internal import NIOCore
internal import PushContent

/// What is sent for a request.
struct Answer: Sendable {
  enum Body: Sendable {
    case bytes(ByteBuffer)
    /// Written piece by piece, as fast as the client reads.
    case stream(@Sendable (BodyWriter) async throws -> Void)
  }

  var status: HTTPResponse.Status = .ok
  var fields: HTTPFields
  var body: Body
  /// Whether it is a stream that mostly waits, and is no load.
  var isFollowing = false
  /// Whether the connection ends, as what follows on it is not known.
  var closes = false

  init(_ type: String, _ body: Body) {
    fields = [.contentType: type]
    self.body = body
  }

  init(_ type: String, _ bytes: some Sequence<UInt8>) {
    self.init(type, .bytes(ByteBuffer(bytes: bytes)))
  }

  static let json = "application/json"
  static let ndjson = "application/x-ndjson"
  static let text = "text/plain; charset=utf-8"
}

/// Why a request is refused: a status, a code that stays the same, and a sentence that says what to
/// do.
struct ServerFailure: Error {
  let status: HTTPResponse.Status
  let code: String
  let message: String
  /// The 1-based line of the body.
  var line: Int?
  var fields: HTTPFields

  private static let messageLimit = 2000

  init(
    _ status: HTTPResponse.Status, _ code: String, _ message: String, line: Int? = nil,
    fields: HTTPFields = [:]
  ) {
    self.status = status
    self.code = code
    // What a client has sent is not sent back without end.
    self.message =
      message.utf8.count > Self.messageLimit ? message.prefix(Self.messageLimit / 4) + "…" : message
    self.line = line
    self.fields = fields
  }

  /// `{"code":…,"line":…,"message":…}`
  var object: String {
    let line = line.map { "\"line\":\($0)," } ?? ""
    return "{\"code\":\(JSONText.quoted(code)),\(line)\"message\":\(JSONText.quoted(message))}"
  }

  /// `{"error":{…}}` without its outer braces.
  var json: [UInt8] { Array("\"error\":\(object)".utf8) }

  var answer: Answer {
    var answer = Answer(Answer.json, [UInt8(ascii: "{")] + json + Array("}\n".utf8))
    answer.status = status
    for field in fields { answer.fields[field.name] = field.value }
    answer.closes = status == .contentTooLarge || code == "timeout"
    return answer
  }

  static func tooLarge(_ limit: Int) -> ServerFailure {
    ServerFailure(
      .contentTooLarge, "too_large",
      "the body has more than \(limit) bytes; send less at a time, or raise --body-limit")
  }

  static let overloaded = ServerFailure(
    .tooManyRequests, "overloaded", "too many requests are under way; try again",
    fields: [.retryAfter: "1"])

  /// Of a write whose condition does not hold.
  static func changed(_ message: String) -> ServerFailure {
    ServerFailure(.preconditionFailed, "changed", message + "; nothing was written")
  }

  /// Of a request that is not answered in the client's time.
  static let expired = ServerFailure(
    .requestTimeout, "deadline_exceeded",
    "the request is not answered within its Push-Fanout-Timeout; what it began is ended, and nothing "
      + "was written")

  static func badRequest(_ message: String) -> ServerFailure {
    ServerFailure(.badRequest, "bad_request", message)
  }
}

/// JSON that is put together by hand.
enum JSONText {
  /// A text as a JSON string.
  static func quoted(_ text: String) -> String { RawJSON.string(text).description }
}
