internal import Glibc
internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// Counts the open connections of a listener, and refuses those beyond a limit with an answer: one
/// that waited to be accepted would not know why.
final class ConnectionGate: Sendable {
  private let limit: Int
  private let count = Atomic<Int>(0)
  private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])
  private let refusals = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// How many connections are open, and how many were refused.
  var counts: (open: Int, refused: Int) {
    (count.load(ordering: .relaxed), refusals.load(ordering: .relaxed))
  }

  /// Counts a connection until it is closed.
  ///
  /// - Returns: whether it is to be served; ``Refusal`` answers it otherwise.
  func admits(_ channel: any Channel) -> Bool {
    let number = count.wrappingAdd(1, ordering: .relaxed).newValue
    let id = ObjectIdentifier(channel)
    channels.withLock { $0[id] = channel }
    channel.closeFuture.whenComplete { _ in
      self.count.wrappingSubtract(1, ordering: .relaxed)
      self.channels.withLock { $0[id] = nil }
    }
    guard number > limit else { return true }
    refusals.wrappingAdd(1, ordering: .relaxed)
    return false
  }

  /// Does something with each open connection.
  func forEach(_ body: (any Channel) -> Void) {
    for channel in channels.withLock({ Array($0.values) }) { body(channel) }
  }

  /// Answers 503 as soon as the connection is there, reads nothing, and closes it. Must be the first
  /// handler.
  final class Refusal: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let isPlain: Bool

    /// - Parameter isPlain: whether the client reads HTTP, and not TLS.
    init(isPlain: Bool) { self.isPlain = isPlain }

    func channelActive(context: ChannelHandlerContext) {
      context.fireChannelActive()
      if isPlain { context.writeAndFlush(wrapOutboundOut(Self.answer), promise: nil) }
      context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    private static let answer: ByteBuffer = {
      let failure = ServerFailure(
        .serviceUnavailable, "too_many_connections",
        "too many connections are open; close some, or raise --connections",
        fields: [.retryAfter: "1"])
      let answer = failure.answer
      guard case .bytes(let body) = answer.body else { return ByteBuffer() }
      var head = "HTTP/1.1 503 Service Unavailable\r\n"
      for field in answer.fields { head += "\(field.name): \(field.value)\r\n" }
      head += "Content-Length: \(body.readableBytes)\r\nConnection: close\r\n\r\n"
      var bytes = ByteBuffer(string: head)
      bytes.writeImmutableBuffer(body)
      return bytes
    }()
  }
}

/// How many files, and so connections, the process may have open.
enum DescriptorLimit {
  /// What a server has open beside connections: stores, logs, event loops.
  private static let others = 256

  /// Raises the process's own limit for so many connections, up to what it may have at most.
  ///
  /// - Returns: how many connections fit.
  static func raise(forConnections count: Int) -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return count
    }
    let needed = rlim_t(count + others)
    if limit.rlim_cur < needed {
      limit.rlim_cur = min(needed, limit.rlim_max)
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    return min(count, Int(clamping: limit.rlim_cur) - others)
  }
}
