internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Says that bytes have arrived, before they are parsed.
struct BytesArrived: Sendable {}

/// Tells ``DeadlineHandler`` that bytes have arrived.
final class ByteWatcher: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.fireUserInboundEventTriggered(BytesArrived())
    context.fireChannelRead(data)
  }
}

/// Ends connections that take too long: for headers (a byte now and then does not help), for a
/// body, between requests, and where a client does not read its response.
///
/// It looks some times within the shortest limit, so that a request costs no timer.
final class DeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  struct Limits: Sendable {
    let header, body, idle: TimeAmount

    /// How often to look.
    var interval: TimeAmount {
      .nanoseconds(max(50_000_000, min(header.nanoseconds, body.nanoseconds, idle.nanoseconds) / 4))
    }
  }

  private enum Phase { case idle, header, body, responding }

  private let limits: Limits
  private var phase = Phase.idle
  private var since = NIODeadline.now()
  private var unwritableSince: NIODeadline?
  private var hasBegunResponse = false
  /// Whether the response ended before the body of the request did.
  private var isAnsweredEarly = false
  private var timer: Scheduled<Void>?

  init(_ limits: Limits) { self.limits = limits }

  func handlerAdded(context: ChannelHandlerContext) { schedule(context) }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  private func schedule(_ context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.interval) {
      self.look(context)
    }
  }

  private func look(_ context: ChannelHandlerContext) {
    let now = NIODeadline.now()
    if let unwritableSince, now - unwritableSince > limits.idle {
      return context.close(promise: nil)
    }
    switch phase {
    case .idle where now - since > limits.idle: return context.close(promise: nil)
    case .header where now - since > limits.header: return refuse(context, "headers")
    case .body where now - since > limits.body: return refuse(context, "body")
    default: schedule(context)
    }
  }

  /// Answers 408, unless a response has begun, and closes.
  private func refuse(_ context: ChannelHandlerContext, _ what: String) {
    guard !hasBegunResponse else { return context.close(promise: nil) }
    let failure = ServerFailure(
      .requestTimeout, "timeout", "the \(what) of the request took too long; send it at once")
    let answer = failure.answer
    guard case .bytes(let bytes) = answer.body else { return }
    var head = HTTPResponse(status: answer.status, headerFields: answer.fields)
    head.headerFields[.contentLength] = "\(bytes.readableBytes)"
    head.headerFields[.connection] = "close"
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(bytes)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is BytesArrived {
      if phase == .idle { enter(.header) }
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      hasBegunResponse = false
      isAnsweredEarly = false
      enter(.body)
    case .body: break
    case .end: enter(isAnsweredEarly ? .idle : .responding)
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head): if head.status.kind != .informational { hasBegunResponse = true }
    case .body: break
    case .end: if phase == .responding { enter(.idle) } else { isAnsweredEarly = true }
    }
    context.write(data, promise: promise)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    unwritableSince = context.channel.isWritable ? nil : .now()
    context.fireChannelWritabilityChanged()
  }

  private func enter(_ phase: Phase) {
    self.phase = phase
    since = .now()
  }
}
