// swift-format-ignore-file: AlwaysUseLowerCamelCase
public import CPushFanoutABI
internal import PushContent
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService
internal import QuietTime

/// The lines of requests of messages, some at a time.
///
/// SAFETY: one thread at a time uses it, as the header says.
final class RequestsObject: HandleObject, @unchecked Sendable {
  private let engine: Fanout
  /// nil for no messages.
  private let reader: MessageReader?
  private var lines: RequestLines
  /// Users to whom messages went and who are not decided for.
  private var refused = UnknownZoneUsers()
  /// What ended it, and is thrown when what was made before it is taken.
  private var failure: (any Error)?
  private var isComplete = false

  init(_ engine: Fanout, _ reader: MessageReader?, _ lines: RequestLines) {
    (self.engine, self.reader, self.lines) = (engine, reader, lines)
  }

  /// So many bytes are made at a time.
  private static let chunk = 256 * 1024

  /// The next lines; none at the end.
  func next() throws -> [UInt8] {
    do {
      while lines.byteCount < Self.chunk, !isComplete, failure == nil {
        guard try lines.write(upTo: Self.chunk) else { break }
        if let (message, content) = try reader?.nextWithContent() {
          for user in engine.currentVersion.refusedRecipients(of: message) { refused.add(user) }
          lines.begin(message, content)
        } else {
          isComplete = true
          failure = refused.count == 0 ? nil : FanoutError.unknownZones(refused)
        }
      }
    } catch {
      failure = error
    }
    if let failure, lines.byteCount == 0 { throw failure }
    return lines.take()
  }
}

/// Reads a file of a call, which has a name of its own where it is given as bytes.
private func read<Value>(
  _ file: pf_file, named name: String, _ ofPath: ([String]) throws -> Value,
  _ ofBytes: ([UInt8], String) throws -> Value
) throws -> Value {
  let given = try unsafe text(file.name.bytes, file.name.size, "the name of a file")
  guard unsafe file.content.bytes == nil else {
    return try unsafe ofBytes(
      bytes(file.content.bytes, file.content.size, "content is"), given.isEmpty ? name : given)
  }
  guard !given.isEmpty else { throw CallError("\(name) is not given, as a path or as bytes") }
  try checkNotStandardInput(given)
  return try ofPath([given])
}

/// The bit of a platform.
private func bit(_ platform: PushPlatform) -> UInt32 {
  switch platform {
  case .apns: PF_APNS
  case .fcm: PF_FCM
  }
}

@c @implementation
func pf_swift_requests_new(
  _ engine: OpaquePointer?, _ messages: UnsafeRawPointer?, _ size: Int,
  _ sending: UnsafePointer<pf_sending>?, _ requests: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe result(requests)
    guard let sending = unsafe sending,
      unsafe sending.pointee.struct_size >= MemoryLayout<pf_sending>.stride
    else { throw CallError("sending is NULL, or its struct_size is not that of pf_sending") }
    let given = unsafe sending.pointee
    let service = unsafe EngineObject.of(engine).service
    try service.checkPushContent()
    let rules = service.app.rules
    let senders = try unsafe read(
      given.senders, named: "senders.ndjson", { try SenderReader.load($0, rules: rules) },
      { try SenderReader.load($0, name: $1, rules: rules) })
    var templates = TemplateCatalog()
    if unsafe given.templates.name.bytes != nil || given.templates.content.bytes != nil {
      guard rules.fields.contains(.templates) else {
        throw CallError("the rules \(rules.rawValue) have no templates", status: PF_INVALID)
      }
      templates = try unsafe read(
        given.templates, named: "templates.ndjson", { try TemplateReader.load($0) },
        { try TemplateReader.load($0, name: $1) })
    }
    let platforms = unsafe given.platforms == 0 ? PF_APNS | PF_FCM : given.platforms
    guard platforms & ~(PF_APNS | PF_FCM) == 0 else {
      throw CallError("platforms must be PF_APNS, PF_FCM, both, or 0")
    }
    let messages = try unsafe bytes(messages, size, "messages are")
    let reader = isBlank(messages) ? nil : try MessageReader(messages, rules: rules)
    let lines = try RequestLines(
      service, by: senders, for: Set(PushPlatform.allCases.filter { platforms & bit($0) != 0 }),
      sharesBodies: unsafe given.share_bodies != 0, templates: templates)
    unsafe output.pointee = try RequestsObject(service.engine, reader, lines).handle(
      PF_KIND_requests, of: engine)
  }
}

@c @implementation
func pf_swift_requests_next(
  _ requests: OpaquePointer?, _ lines: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ size: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let output = try unsafe result(lines)
    let bytes = try unsafe RequestsObject.at(requests).next()
    unsafe output.pointee = bytes.isEmpty ? nil : copy(bytes)
    unsafe size?.pointee = bytes.count
  }
}

// MARK: Answers of providers

/// The words of actions; never freed.
// SAFETY: made once, and read only.
private nonisolated(unsafe) let actionNames: [ProviderAnswer.Action: UnsafePointer<CChar>] =
  unsafe Dictionary(
    uniqueKeysWithValues: ProviderAnswer.Action.allCases.map {
      unsafe ($0, UnsafePointer(copy($0.rawValue.utf8)))
    })

@c @implementation
public func pf_read_provider_answer(
  _ answer: UnsafePointer<pf_provider_answer>?, _ step: UnsafeMutablePointer<pf_step>?,
  _ error: ErrorText
) -> Int32 {
  unsafe error?.pointee = nil
  return unsafe answering(error) {
    let output = try unsafe result(step)
    guard let answer = unsafe answer,
      unsafe answer.pointee.struct_size >= MemoryLayout<pf_provider_answer>.stride
    else { throw CallError("answer is NULL, or its struct_size is not that of pf_provider_answer") }
    let given = unsafe answer.pointee
    guard let platform = PushPlatform.allCases.first(where: { unsafe bit($0) == given.platform })
    else {
      throw CallError("platform must be PF_APNS or PF_FCM")
    }
    guard unsafe given.attempt >= 1, unsafe (0..<1).contains(given.random) else {
      throw CallError("attempt must be 1 or more, and random a number in 0 ... 1, below 1")
    }
    func moment(_ milliseconds: Int64, _ name: StaticString) throws -> Instant? {
      milliseconds == 0 ? nil : try instant(milliseconds, name)
    }
    let read = try unsafe ProviderAnswer(
      platform, status: given.status == 0 ? nil : Int(given.status),
      body: bytes(given.body.bytes, given.body.size, "the body is"),
      retryAfter: given.retry_after == 0 ? nil : given.retry_after)
    let next = try unsafe read.nextAttempt(
      after: Int(given.attempt), at: instant(given.now, "now"),
      expiry: moment(given.expiry, "expiry"), random: given.random,
      isSurelyNotTaken: given.surely_not_taken != 0)
    let forgets = try unsafe read.forgetsToken(
      registeredAt: moment(given.registered_at, "registered_at"))
    unsafe output.pointee = pf_step(
      action: actionNames[read.action], retry_at: next?.milliseconds ?? -1,
      timestamp: read.timestamp?.milliseconds ?? -1, forgets_token: forgets ? 1 : 0,
      needs_new_connection: read.needsNewConnection ? 1 : 0)
  }
}
