internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Says that so many bytes have arrived, before they are parsed.
struct BytesArrived: Sendable {
  let count: Int
}

/// Tells ``DeadlineHandler`` that bytes have arrived.
final class ByteWatcher: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let count = unwrapInboundIn(data).readableBytes
    context.fireUserInboundEventTriggered(BytesArrived(count: count))
    context.fireChannelRead(data)
  }
}

/// Ends what takes too long of a connection of HTTP/1.1, or of a stream of HTTP/2: headers (a byte
/// now and then does not help), a body, the time between requests, and an answer of which the client
/// takes nothing.
///
/// It looks some times within the shortest limit, so that a request costs no timer. An answer makes
/// progress when a piece of it was taken by the system or, with HTTP/2, fitted the client's window.
final class DeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  struct Limits: Sendable {
    let header, body, idle: TimeAmount
    /// Bytes of a body that are none of it: sizes and extensions of chunks.
    let framing: Int

    /// How often to look.
    var interval: TimeAmount {
      .nanoseconds(max(50_000_000, min(header.nanoseconds, body.nanoseconds, idle.nanoseconds) / 4))
    }
  }

  private enum Phase { case idle, header, body, responding }

  /// An answer is handed on in pieces of so many bytes.
  private static let pieceSize = 64 * 1024

  private let limits: Limits
  /// The connection of a stream; nil for a connection of its own.
  private let connection: (any Channel)?
  private var phase = Phase.idle
  private var since = NIODeadline.now()
  /// How many pieces were not taken yet.
  private var pieces = 0
  /// When the last one was, or when there were none.
  private var progress = NIODeadline.now()
  /// Bytes that the client had acknowledged at the last look.
  private var acknowledged: UInt64 = 0
  /// Bytes that were handed on since the last piece that is waited for.
  private var uncounted = 0
  /// Bytes that arrived of a body, and those that belong to it.
  private var (arrived, content) = (0, 0)
  private var hasBegunResponse = false
  /// Whether the response ended before the body of the request did.
  private var isAnsweredEarly = false
  private var timer: Scheduled<Void>?

  init(_ limits: Limits, of connection: (any Channel)?) {
    self.limits = limits
    self.connection = connection
  }

  func handlerAdded(context: ChannelHandlerContext) { schedule(context) }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  private func schedule(_ context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.interval) {
      self.look(context)
    }
  }

  private func look(_ context: ChannelHandlerContext) {
    if pieces > 0 { return lookAtProgress(context) }
    let now = NIODeadline.now()
    switch phase {
    case .idle where now - since > limits.idle: return context.close(promise: nil)
    case .header where now - since > limits.header: return refuse(context, "headers")
    case .body where now - since > limits.body: return refuse(context, "body")
    default: schedule(context)
    }
  }

  /// The system keeps megabytes for a connection, of which a slow client takes some long before there
  /// is room for another piece: what it has acknowledged says so.
  private func lookAtProgress(_ context: ChannelHandlerContext) {
    let channel = connection ?? context.channel
    guard let socket = channel as? any SocketOptionProvider else { return schedule(context) }
    let info: EventLoopFuture<TCPInfo> = socket.unsafeGetSocketOption(
      level: .tcp, name: NIOBSDSocket.Option(rawValue: TCPInfo.option))
    info.assumeIsolated().whenComplete { info in
      if let bytes = try? info.get().acknowledged {
        // Of HTTP/2, answers to PING and other streams are acknowledged too.
        let least: UInt64 = self.connection == nil ? 1 : UInt64(Self.pieceSize) / 4
        if bytes >= self.acknowledged + least { self.progress = .now() }
        self.acknowledged = bytes
      }
      // A client that takes nothing of one answer takes nothing of the others of its connection.
      if self.pieces > 0, NIODeadline.now() - self.progress > self.limits.idle {
        channel.close(promise: nil)
      } else {
        self.schedule(context)
      }
    }
  }

  /// The beginning of `struct tcp_info` of Linux.
  private struct TCPInfo: Sendable {
    static let option: CInt = 11
    let head: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
      0, 0, 0, 0, 0, 0, 0, 0
    )
    let rates: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    /// `tcpi_bytes_acked`
    let acknowledged: UInt64
  }

  /// Answers 408, unless a response has begun, and closes.
  private func refuse(_ context: ChannelHandlerContext, _ what: String) {
    guard !hasBegunResponse else { return context.close(promise: nil) }
    context.fireErrorCaught(
      RequestFault(
        ServerFailure(
          .requestTimeout, "timeout", "the \(what) of the request took too long; send it at once")))
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard let bytes = event as? BytesArrived else {
      return context.fireUserInboundEventTriggered(event)
    }
    if phase == .idle { enter(.header) }
    guard phase == .body else { return }
    arrived += bytes.count
    if arrived - content > limits.framing {
      context.fireErrorCaught(RequestFault(.tooLarge(limits.framing)))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      hasBegunResponse = false
      isAnsweredEarly = false
      (arrived, content) = (0, 0)
      enter(.body)
    case .body(let bytes): content += bytes.readableBytes
    case .end: enter(isAnsweredEarly ? .idle : .responding)
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head): if head.status.kind != .informational { hasBegunResponse = true }
    case .body(let bytes): return write(bytes, context, promise)
    case .end: if phase == .responding { enter(.idle) } else { isAnsweredEarly = true }
    }
    context.write(data, promise: promise)
  }

  private func write(
    _ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    uncounted += bytes.readableBytes
    // What is small and fits the system's buffer needs no promise.
    guard connection != nil || uncounted > Self.pieceSize / 2 || promise != nil else {
      return context.write(wrapOutboundOut(.body(bytes)), promise: nil)
    }
    uncounted = 0
    var rest = bytes
    repeat {
      let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceSize)) ?? rest
      if pieces == 0 { progress = .now() }
      pieces += 1
      let taken = context.eventLoop.makePromise(of: Void.self)
      taken.futureResult.assumeIsolated().whenComplete { _ in
        self.pieces -= 1
        self.progress = .now()
        // The time between requests begins when an answer was taken.
        if self.phase == .idle { self.since = self.progress }
      }
      if rest.readableBytes == 0, let promise { taken.futureResult.cascade(to: promise) }
      context.write(wrapOutboundOut(.body(piece)), promise: taken)
    } while rest.readableBytes > 0
  }

  private func enter(_ phase: Phase) {
    self.phase = phase
    since = .now()
  }
}
