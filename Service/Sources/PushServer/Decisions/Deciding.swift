internal import HTTPTypes
internal import NIOCore
internal import PushContent
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService

/// The decisions of a body, made as they are sent.
///
/// SAFETY: one task at a time uses it.
final class Deciding: @unchecked Sendable {
  private let app: OpenedApp
  private let format: AnswerFormat
  private let workspace: Workspace
  private let body: ByteBuffer
  /// The message that is being encoded, and the rank to continue with.
  private var current: (message: Message, rank: Int)?
  private(set) var messageCount = 0
  private(set) var errorCount = 0
  /// Of the first message that could not be decided.
  private(set) var firstFailure: ServerFailure?
  /// Of the message that was decided last.
  private(set) var membershipVersion: UInt64 = 0

  /// So many members are encoded between two looks at how much there is.
  private static let memberLimit = 16_384

  init(
    _ body: ByteBuffer, _ app: OpenedApp, _ format: AnswerFormat, showsDevices: Bool
  ) throws(FileProblem) {
    self.app = app
    self.format = format
    self.body = body
    workspace = try app.workspaces.take(app.rules)
    workspace.begin(format, showsDevices: showsDevices)
    unsafe body.withUnsafeReadableBytes { unsafe workspace.reader.restart(ndjson: $0) }
  }

  deinit { app.workspaces.give(workspace) }

  /// Decides until there are about so many bytes.
  ///
  /// - Returns: the bytes, and whether these are the last.
  func next(_ limit: Int) throws(ServerFailure) -> (bytes: ByteBuffer, isLast: Bool) {
    workspace.removeBytes()
    var isLast = false
    while max(workspace.encoder.bytes.count, workspace.frames.count) < limit {
      if try !step() {
        isLast = true
        break
      }
    }
    let bytes =
      workspace.frames.isEmpty
      ? ByteBuffer(bytes: workspace.encoder.bytes) : ByteBuffer(bytes: workspace.frames)
    return (bytes, isLast)
  }

  /// - Returns: whether there may be more.
  private func step() throws(ServerFailure) -> Bool {
    if let (message, rank) = current {
      encode(message, from: rank)
      return true
    }
    do {
      if format == .payloads {
        guard let (message, content) = try workspace.reader.nextWithContent() else { return false }
        messageCount += 1
        try render(message, content)
        return true
      }
      guard let message = try workspace.reader.next() else { return false }
      messageCount += 1
      app.engine.decide(message, into: &workspace.result)
      membershipVersion = workspace.result.membershipVersion
      encode(message, from: 0)
      return true
    } catch let problem as FileProblem {
      if problem.problem == .isEmpty { throw .badRequest("the body is empty; send messages") }
      errorCount += 1
      note(ServerFailure(problem))
      return problem.isOfOneLine
    } catch {
      note(ServerFailure(.internalServerError, "internal", "\(error)"))
      return false
    }
  }

  private func encode(_ message: Message, from rank: Int) {
    switch format {
    case .codes, .bitmap: appendFrame()
    default:
      let next = workspace.encode(
        message, number: messageCount - 1, from: rank, limit: Self.memberLimit)
      current = next.map { (message, $0) }
    }
  }

  private func render(_ message: Message, _ content: MessageContent) throws {
    let output = OutputBytes()
    try app.service.render(message, content, into: PayloadWriter(output))
    workspace.append(output.bytes)
  }

  /// A message that could not be decided, at its position.
  private func note(_ failure: ServerFailure) {
    if firstFailure == nil { firstFailure = failure }
    switch format {
    case .codes, .bitmap:
      let json = Array("{".utf8) + failure.json + Array("}".utf8)
      appendHeader(kind: 2, members: 0, bytes: json.count, version: 0, membership: 0)
      workspace.frames += json
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
    func append(_ value: some FixedWidthInteger) {
      var rest = value
      for _ in 0..<(value.bitWidth / 8) {
        workspace.frames.append(UInt8(truncatingIfNeeded: rest))
        rest >>= 8
      }
    }
    append(kind)
    append(UInt32(members))
    append(UInt64(bytes))
    append(version)
    append(membership)
  }

  private func appendFrame() {
    let count = workspace.result.memberCount
    let isBitmap = format == .bitmap
    appendHeader(
      kind: isBitmap ? 1 : 0, members: count, bytes: isBitmap ? (count + 7) / 8 : count,
      version: workspace.result.version, membership: workspace.result.membershipVersion)
    let start = workspace.frames.count
    var frames: [UInt8] = []
    swap(&frames, &workspace.frames)
    frames.append(contentsOf: repeatElement(0, count: count))
    var span = frames.mutableSpan
    var codes = span._mutatingExtracting(start..<start + count)
    workspace.result.writeCodes(into: &codes)
    swap(&frames, &workspace.frames)
    if isBitmap { packPushes(from: start, count) }
  }

  /// Replaces codes by bits: the lowest of the first byte is that of rank 0.
  private func packPushes(from start: Int, _ count: Int) {
    let bytes = (count + 7) / 8
    unsafe workspace.frames.withUnsafeMutableBufferPointer { frames in
      // Eight at a time: the product has the lowest bit of each byte in its highest byte.
      for byte in 0..<count / 8 {
        let codes = unsafe UnsafeRawPointer(frames.baseAddress! + start + 8 * byte)
          .loadUnaligned(as: UInt64.self)
        let product = (UInt64(littleEndian: codes) & 0x0101_0101_0101_0101) &* 0x0102_0408_1020_4080
        unsafe frames[start + byte] = UInt8(truncatingIfNeeded: product >> 56)
      }
      for byte in count / 8..<bytes {
        var bits: UInt8 = 0
        let first = start + 8 * byte
        for bit in 0..<min(8, count - 8 * byte) {
          unsafe bits |= (frames[first + bit] & 1) << UInt8(bit)
        }
        unsafe frames[start + byte] = bits
      }
    }
    workspace.frames.removeLast(count - bytes)
  }
}

extension ServerFailure {
  /// What is wrong with a line of a body.
  init(_ problem: FileProblem) {
    self.init(.badRequest, "invalid_line", "\(problem.problem)", line: problem.line)
  }
}
