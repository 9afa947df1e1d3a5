internal import HTTPTypes
internal import NIOCore
internal import PushContent
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService
internal import QuietTime

/// The decisions of a body, made as they are sent, all by one version of the settings.
///
/// SAFETY: one task at a time uses it.
final class Deciding: @unchecked Sendable {
  /// Why ``decide(upTo:members:)`` returned.
  enum Progress {
    /// Everything is decided.
    case complete
    /// There are enough bytes.
    case enoughBytes
    /// The next message goes to too many members.
    case tooManyMembers
  }

  private let app: OpenedApp
  private let version: FanoutVersion
  /// The last change that the version has, at least.
  let settings: String
  let format: AnswerFormat
  /// How lines become a JSON array; nil for what is sent as it is encoded.
  private var items: ItemsOfLines?
  private let workspace: Workspace
  /// The message that was read, and is decided next.
  private var pending: (message: Message, content: MessageContent?)?
  /// The message that is being encoded, and the rank to continue with.
  private var current: (message: Message, rank: Int)?
  /// Those of requests, and the message whose requests are being written; nil for another format.
  private var requests: (lines: RequestLines, current: Message?)?
  private(set) var messageCount = 0
  private(set) var errorCount = 0
  /// How many messages went to conversations that the settings do not have.
  private(set) var unknownCount = 0
  /// Of the first message that could not be decided.
  private(set) var firstFailure: ServerFailure?
  /// Of the message that was decided last.
  private(set) var membershipVersion: UInt64 = 0
  /// Whether there is one.
  var hasMembership: Bool { format != .payloads && format != .requests }

  /// So many members are encoded between two looks at how much there is.
  private static let memberLimit = 16_384

  init(
    _ body: ByteBuffer, _ app: OpenedApp, _ format: AnswerFormat, isArray: Bool = false,
    showsDevices: Bool = false, requests lines: RequestLines? = nil
  ) throws(FileProblem) {
    self.app = app
    requests = lines.map { ($0, nil) }
    self.format = format
    items = isArray ? ItemsOfLines() : nil
    // In this order: what is changed in between is in the version, and not announced.
    settings = app.settingsNumber
    version = app.engine.currentVersion
    workspace = try app.workspaces.take(app.rules)
    workspace.begin(format, showsDevices: showsDevices)
    unsafe body.withUnsafeReadableBytes { unsafe workspace.reader.restart(ndjson: $0) }
  }

  deinit { app.workspaces.give(workspace) }

  /// Decides until everything is decided, or a limit is reached.
  ///
  /// - Parameters:
  ///   - limit: about how many bytes of an answer are enough.
  ///   - members: how many members messages go to together, at most.
  func decide(upTo limit: Int, members: Int = .max) throws(ServerFailure) -> Progress {
    var left = members
    while true {
      if let (message, rank) = current {
        guard workspace.byteCount < limit else { return .enoughBytes }
        encode(message, from: rank)
        continue
      }
      if let message = requests?.current {
        guard workspace.byteCount < limit else { return .enoughBytes }
        try writeRequests(of: message, upTo: limit)
        continue
      }
      // Read ahead, so that an answer that is complete is known to be.
      if pending == nil { try read() }
      guard let (message, content) = pending else { return .complete }
      // The client has left, or its time is over.
      if Task.isCancelled { throw .expired }
      guard workspace.byteCount < limit else { return .enoughBytes }
      do {
        guard let count = try decide(message, content, memberLimit: left) else {
          return .tooManyMembers
        }
        if left < .max { left -= count }
        pending = nil
      } catch {
        pending = nil
        note(ServerFailure(.internalServerError, "internal", "\(error)"))
        return .complete
      }
    }
  }

  /// Of what is answered.
  var mediaType: String { items == nil ? format.mediaType : Answer.json }

  /// Takes what was encoded.
  ///
  /// - Parameter isLast: whether everything is decided.
  func takeBytes(isLast: Bool) -> ByteBuffer {
    let bytes = workspace.takeBytes()
    return items?.next(bytes, isLast: isLast) ?? bytes
  }

  /// Reads the next message, if there is one, and notes those that cannot be read.
  private func read() throws(ServerFailure) {
    while true {
      do throws(FileProblem) {
        if format == .payloads || format == .requests {
          pending = try workspace.reader.nextWithContent().map { ($0.message, $0.content) }
        } else {
          pending = try workspace.reader.next().map { ($0, nil) }
        }
        return
      } catch {
        if error.problem == .isEmpty { throw ServerFailure(error) }
        errorCount += 1
        note(ServerFailure(error))
        if !error.isOfOneLine { return }
      }
    }
  }

  /// Decides and encodes a message, unless it goes to too many members.
  ///
  /// - Returns: to how many it goes; nil if they are too many.
  private func decide(
    _ message: Message, _ content: MessageContent?, memberLimit: Int
  ) throws -> Int? {
    if let content {
      let count = app.engine.memberCount(of: message.conversation)
      guard count <= memberLimit else { return nil }
      messageCount += 1
      noteUnknown(message, count)
      if requests == nil {
        try render(message, content)
      } else {
        requests?.lines.begin(message, content)
        requests?.current = message
      }
      return count
    }
    let engine = app.engine
    guard
      engine.decide(message, on: version, memberLimit: memberLimit, into: &workspace.result)
    else { return nil }
    messageCount += 1
    noteUnknown(message, workspace.result.memberCount)
    membershipVersion = workspace.result.membershipVersion
    app.decisionLog?.note(message, workspace.result, settings: settings)
    encode(message, from: 0)
    return workspace.result.memberCount
  }

  /// Counts a message to a conversation that the settings do not have: a misspelt id is silence for
  /// everyone.
  private func noteUnknown(_ message: Message, _ memberCount: Int) {
    guard memberCount == 0, app.engine.conversation(message.conversation) == nil else { return }
    unknownCount += 1
  }

  private func encode(_ message: Message, from rank: Int) {
    switch format {
    case .codes, .bitmap: appendFrame()
    default:
      let next = workspace.encode(
        message, number: messageCount - 1, from: rank, limit: Self.memberLimit)
      current = next.map { (message, $0) }
      if next == nil, format == .rows { noteRefused(of: message) }
    }
  }

  /// A line for each member who is not decided for, behind the rows of the others. Formats that have a
  /// line or a frame a message have none: that there are such users is in the answer's fields.
  private func noteRefused(of message: Message) {
    for user in version.refusedRecipients(of: message) {
      let failure = ServerFailure(of: FanoutError.unknownZones(UnknownZoneUsers(user)))
      let names = "{\"message\":\(JSONText.quoted(message.id.text)),"
      workspace.append((names + "\"user\":\(JSONText.quoted(user.id.text)),").utf8)
      workspace.append(failure.json)
      workspace.append("}\n".utf8)
    }
  }

  /// How many users of the settings are not decided for, as the machine lacks their time zone.
  var refusedUserCount: Int { version.refusesUsers ? version.unknownZoneUsers.count : 0 }

  private func render(_ message: Message, _ content: MessageContent) throws {
    let output = OutputBytes()
    try app.service.render(message, content, into: PayloadWriter(output))
    workspace.append(output.bytes)
    noteRefused(of: message)
  }

  private func writeRequests(of message: Message, upTo limit: Int) throws(ServerFailure) {
    // The client has left, or its time is over.
    if Task.isCancelled { throw .expired }
    do throws(OutputProblem) {
      if try requests?.lines.write(upTo: limit - workspace.byteCount) != false {
        requests?.current = nil
      }
    } catch {
      throw ServerFailure(of: error)
    }
    workspace.append(requests?.lines.take() ?? [])
    if requests?.current == nil { noteRefused(of: message) }
  }

  /// A message that could not be decided, at its position.
  private func note(_ failure: ServerFailure) {
    if firstFailure == nil { firstFailure = failure }
    switch format {
    case .codes, .bitmap:
      let json = Array("{".utf8) + failure.json + Array("}".utf8)
      appendHeader(kind: 2, members: 0, bytes: json.count, version: 0, membership: 0)
      workspace.frames.writeBytes(json)
    default:
      workspace.append("{".utf8)
      workspace.append(failure.json)
      workspace.append("}\n".utf8)
    }
  }

  // MARK: Frames

  /// A frame: how it is made up (4 bytes), members (4), bytes that follow (8), the version of the
  /// settings (8) and that of the membership (8), little-endian.
  private func appendHeader(
    kind: UInt32, members: Int, bytes: Int, version: UInt64, membership: UInt64
  ) {
    workspace.frames.reserveCapacity(minimumWritableBytes: 32 + bytes)
    workspace.frames.writeInteger(kind, endianness: .little)
    workspace.frames.writeInteger(UInt32(members), endianness: .little)
    workspace.frames.writeInteger(UInt64(bytes), endianness: .little)
    workspace.frames.writeInteger(version, endianness: .little)
    workspace.frames.writeInteger(membership, endianness: .little)
  }

  private func appendFrame() {
    let count = workspace.result.memberCount
    let isBitmap = format == .bitmap
    let size = isBitmap ? (count + 7) / 8 : count
    appendHeader(
      kind: isBitmap ? 1 : 0, members: count, bytes: size, version: workspace.result.version,
      membership: workspace.result.membershipVersion)
    // The engine writes into the memory that the socket is given.
    let result = workspace.result
    unsafe workspace.frames.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { room in
      guard let start = room.baseAddress else { return 0 }
      let bytes = unsafe UnsafeMutableBufferPointer(
        start: start.assumingMemoryBound(to: UInt8.self), count: size)
      var span = unsafe bytes.mutableSpan
      if isBitmap { result.writePushBits(into: &span) } else { result.writeCodes(into: &span) }
      return size
    }
  }
}
