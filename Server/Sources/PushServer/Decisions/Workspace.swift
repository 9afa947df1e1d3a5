internal import NIOCore
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import Synchronization

/// The memory that one request at a time decides in.
///
/// SAFETY: taken from the pool by one request, which gives it back.
final class Workspace: @unchecked Sendable {
  let reader: MessageReader
  let rules: RuleSet
  var result = FanoutResult()
  private(set) var encoder = MessageEncoder(.counts)
  private var format = AnswerFormat.counts
  private var showsDevices = false
  /// Frames of codes and bits, in memory that is given away with them.
  var frames = ByteBuffer()

  init(_ rules: RuleSet) throws(FileProblem) {
    self.rules = rules
    reader = try MessageReader([], name: "body", rules: rules)
  }

  /// Prepares the encoder for a format.
  func begin(_ format: AnswerFormat, showsDevices: Bool) {
    frames = ByteBuffer()
    encoder.removeAll()
    guard format != self.format || showsDevices != self.showsDevices else { return }
    self.format = format
    self.showsDevices = showsDevices
    encoder = MessageEncoder(format.decisionFormat ?? .counts, showsDevices: showsDevices)
  }

  func encode(_ message: Message, number: Int, from rank: Int, limit: Int) -> Int? {
    encoder.encode(message, number: number, result, from: rank, limit: limit)
  }

  func append(_ bytes: some Sequence<UInt8>) { encoder.append(bytes) }

  /// How much was encoded and not taken.
  var byteCount: Int { max(encoder.bytes.count, frames.readableBytes) }

  /// What was encoded since the last time.
  func takeBytes() -> ByteBuffer {
    guard frames.readableBytes == 0 else {
      defer { frames = ByteBuffer() }
      return frames
    }
    defer { encoder.removeAll() }
    return ByteBuffer(bytes: encoder.bytes)
  }
}

/// Workspaces that no request uses.
final class WorkspacePool: Sendable {
  private let spares = Mutex<[Workspace]>([])
  /// More are not kept: a request that is streamed keeps its own until the client has read it.
  private static let limit = 64

  func take(_ rules: RuleSet) throws(FileProblem) -> Workspace {
    while let spare = spares.withLock({ $0.popLast() }) {
      if spare.rules == rules { return spare }
    }
    return try Workspace(rules)
  }

  /// Forgets the workspaces, which hold on to the versions that they decided on.
  func removeAll() { spares.withLock { $0.removeAll() } }

  func give(_ workspace: Workspace) {
    spares.withLock { if $0.count < Self.limit { $0.append(workspace) } }
  }
}
