// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import PushFanout
internal import PushFiles
internal import PushModel

/// Messages that were read.
final class MessagesObject: HandleObject, Sendable {
  let messages: [Message]

  init(_ messages: [Message]) { self.messages = messages }

  init(_ reader: MessageReader, _ watch: inout Watch) throws {
    var messages: [Message] = []
    while let message = try reader.next() {
      messages.append(message)
      if messages.count & 0x3FF == 0 { try watch.ask(messages.count) }
    }
    self.messages = messages
  }

  /// Messages of an engine.
  static func at(
    _ messages: OpaquePointer?, of engine: OpaquePointer?
  ) throws -> MessagesObject {
    guard unsafe pf_are_messages(messages, engine) != 0 else {
      throw CallError("messages are NULL, closed, or of another engine")
    }
    return unsafe MessagesObject.at(messages)
  }

  func message(_ index: Int) throws -> Message {
    guard index >= 0, index < messages.count else {
      throw CallError("index \(UInt(bitPattern: index)), but there are \(messages.count) messages")
    }
    return messages[index]
  }
}

extension Message {
  /// Takes the fields of a message from C.
  ///
  /// The id is left out: it decides nothing, and an answer does not name it.
  /// - Parameters:
  ///   - rules: those that decide it.
  ///   - isPlain: whether the fields that most messages do not have are not set; remembered from
  ///     one message to the next, so that such a message costs little.
  @inline(__always)
  mutating func read(
    _ source: UnsafePointer<pf_message>, under rules: RuleSet, isPlain: inout Bool
  ) throws {
    let from = unsafe source.pointee
    conversation = try unsafe id(from.conversation, "conversation")
    at = unsafe try instant(from.at, "at")
    sender = unsafe from.sender.bytes == nil ? nil : try unsafe id(from.sender, "sender")
    let fieldsAreZero =
      unsafe from.mentions == nil && from.channel.bytes == nil && from.push_content.bytes == nil
      && from.sent_at == 0 && from.mention_count == 0
      && from.mentions_all | from.silent | from.body | from.force | from.online_only
        | from.is_mentioned | from.persisted | from.backlog == 0
      && !from.hasOpenFields
    if fieldsAreZero && isPlain { return }
    isPlain = false
    try unsafe readRare(from, rules)
    isPlain = fieldsAreZero
  }

  /// Takes the fields that most messages do not have.
  private mutating func readRare(_ from: pf_message, _ rules: RuleSet) throws {
    mentionsAll = unsafe try maybe(from.mentions_all, "mentions_all")
    silent = unsafe try maybe(from.silent, "silent")
    force = unsafe try maybe(from.force, "force")
    isMentioned = unsafe try maybe(from.is_mentioned, "is_mentioned")
    persisted = unsafe try maybe(from.persisted, "persisted") ?? true
    onlineOnly = unsafe from.online_only != 0
    backlog = unsafe from.backlog != 0
    guard unsafe from.body >= 0, unsafe from.body < MessageBody.allCases.count else {
      throw CallError(unsafe "body is \(from.body); it must be one of PF_BODY_")
    }
    body = unsafe [.text, .command, .status, .custom][Int(from.body)]
    sentAt = unsafe from.sent_at == 0 ? nil : try instant(from.sent_at, "sent_at")
    channel =
      unsafe from.channel.bytes == nil ? "" : Identifier(try unsafe text(from.channel, "channel"))
    pushContent =
      unsafe from.push_content.bytes == nil
      ? "" : try unsafe text(from.push_content, "push_content")
    mentions = unsafe try ids(from.mentions, from.mention_count, "mentions", "a mention")
    // Setting one of them costs memory.
    if unsafe hasRareFields || from.hasOpenFields { try unsafe readOpen(from, rules) }
    try check(under: rules)
  }

  /// Takes the fields that only open rules have.
  private mutating func readOpen(_ from: pf_message, _ rules: RuleSet) throws {
    mentionsRoles = unsafe try ids(
      from.mentions_roles, from.mentions_role_count, "mentions_roles", "a mentioned role")
    replyToUser =
      unsafe from.reply_to_user.bytes == nil ? nil : try id(from.reply_to_user, "reply_to_user")
    // A vendor's message may have one, for what its push says.
    text =
      unsafe from.text.bytes == nil || !rules.fields.contains(.text)
      ? nil : try text(from.text, "text")
  }

  private func ids(
    _ list: UnsafePointer<pf_text>?, _ count: Int, _ name: StaticString, _ item: StaticString
  ) throws -> [Identifier]? {
    guard let list = unsafe list else {
      guard count == 0 else { throw CallError("\(name) are NULL, but their count is not 0") }
      return nil
    }
    guard count <= Int(UInt32.max) else { throw CallError("the count of \(name) is too large") }
    return try (0..<count).map { try unsafe id(list[$0], item) }
  }

  /// An id, which is not empty.
  @inline(__always)
  private func id(_ from: pf_text, _ name: StaticString) throws -> Identifier {
    let id = Identifier(try unsafe text(from, name))
    guard !id.isEmpty else { throw CallError("\(name) must not be empty", status: PF_INVALID) }
    return id
  }

  private func maybe(_ value: Int8, _ name: StaticString) throws -> Bool? {
    switch value {
    case 0: nil
    case 1: true
    case -1: false
    default: throw CallError("\(name) is \(value); it must be 1, 0 or -1")
    }
  }

  @inline(__always)
  private func text(_ text: pf_text, _ name: StaticString) throws -> String {
    try unsafe PushFanoutC.text(text.bytes, text.size, name)
  }
}

extension pf_message {
  /// Whether it has a field that only open rules have.
  @inline(__always)
  fileprivate var hasOpenFields: Bool {
    unsafe mentions_roles != nil || mentions_role_count != 0 || reply_to_user.bytes != nil
      || text.bytes != nil
  }
}

// MARK: Functions

@c @implementation
func pf_swift_messages_read(
  _ engine: OpaquePointer?, _ start: UnsafeRawPointer?, _ size: Int,
  _ name: UnsafePointer<CChar>?, _ messages: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe pf_swift_messages_read_watched(engine, start, size, name, nil, messages, error)
}

@c @implementation
func pf_swift_messages_read_watched(
  _ engine: OpaquePointer?, _ start: UnsafeRawPointer?, _ size: Int,
  _ name: UnsafePointer<CChar>?, _ watch: UnsafePointer<pf_watch>?,
  _ messages: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let messages = try unsafe result(messages)
    let bytes = try unsafe bytes(start, size, "messages are")
    // Bytes that are not those of a file may be none.
    if unsafe name == nil, isBlank(bytes) {
      unsafe messages.pointee = try MessagesObject([]).handle(PF_KIND_messages, of: engine)
      return
    }
    var watch = unsafe Watch(watch)
    try watch.askNow(0)
    let reader = unsafe try MessageReader(
      bytes, name: name == nil ? "messages.ndjson" : text(name, "name"),
      rules: EngineObject.of(engine).rules)
    unsafe messages.pointee = try MessagesObject(reader, &watch).handle(
      PF_KIND_messages, of: engine)
  }
}

@c @implementation
func pf_swift_messages_read_arrow(
  _ engine: OpaquePointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
  _ messages: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe pf_swift_messages_read_arrow_watched(engine, stream, nil, messages, error)
}

@c @implementation
func pf_swift_messages_read_arrow_watched(
  _ engine: OpaquePointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
  _ watch: UnsafePointer<pf_watch>?, _ messages: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let messages = try unsafe result(messages)
    guard unsafe stream != nil else { throw CallError("the stream is NULL") }
    var watch = unsafe Watch(watch)
    try watch.askNow(0)
    let rules = unsafe EngineObject.of(engine).rules
    let found = try unsafe ArrowStream(stream, of: .messages).messages(under: rules) { count in
      try watch.ask(count)
    }
    unsafe messages.pointee = try MessagesObject(found).handle(PF_KIND_messages, of: engine)
  }
}

@c @implementation
func pf_swift_messages_join(
  _ engine: OpaquePointer?, _ parts: UnsafePointer<OpaquePointer?>?, _ count: Int,
  _ messages: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let messages = try unsafe result(messages)
    var all: [Message] = []
    for index in 0..<count {
      all += try unsafe MessagesObject.at(parts?[index] ?? nil, of: engine).messages
    }
    unsafe messages.pointee = try MessagesObject(all).handle(PF_KIND_messages, of: engine)
  }
}

@c @implementation
func pf_swift_messages_count(_ messages: OpaquePointer?) -> Int {
  unsafe MessagesObject.at(messages).messages.count
}

@c @implementation
func pf_swift_messages_get(
  _ messages: OpaquePointer?, _ index: Int,
  _ id: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ conversation: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ at: UnsafeMutablePointer<Int64>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let message = try unsafe MessagesObject.at(messages).message(index)
    if let id = unsafe id { unsafe id.pointee = copy(message.id.text.utf8) }
    if let conversation = unsafe conversation {
      unsafe conversation.pointee = copy(message.conversation.text.utf8)
    }
    unsafe at?.pointee = message.at.milliseconds
  }
}

@c @implementation
func pf_swift_messages_stream(
  _ messages: OpaquePointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
  _ error: ErrorText
) -> Int32 {
  unsafe exporting(to: stream, error) { unsafe MessageSource(MessagesObject.at(messages)) }
}

/// Messages as rows, batch by batch.
private final class MessageSource: ArrowSource {
  private static let batchSize = 65_536
  private let messages: [Message]
  private var next = 0

  init(_ object: MessagesObject) { messages = object.messages }

  override var fields: [ArrowField] {
    [
      ArrowField("message", "I"), ArrowField("id", "U"), ArrowField("conversation", "U"),
      ArrowField("at", "l"),
    ]
  }

  override func nextBatch() -> ArrowBatch? {
    let numbers = next..<min(next + Self.batchSize, messages.count)
    guard !numbers.isEmpty else { return nil }
    next = numbers.upperBound
    var ids = IDColumns(capacity: numbers.count)
    var conversations = IDColumns(capacity: numbers.count)
    for message in messages[numbers] {
      unsafe ids.append(message.id.text.utf8.span.bytes)
      unsafe conversations.append(message.conversation.text.utf8.span.bytes)
    }
    return ArrowBatch(
      length: numbers.count, offset: 0,
      columns: [
        [SharedColumn(copying: numbers.map { UInt32($0) })], ids.finish(), conversations.finish(),
        [SharedColumn(copying: messages[numbers].map(\.at.milliseconds))],
      ])
  }
}
