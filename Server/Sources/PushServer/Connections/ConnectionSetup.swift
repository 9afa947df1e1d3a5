internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOHTTPTypesHTTP2
internal import NIOSSL
internal import NIOTLS

/// Makes the pipeline of each connection that a listener accepts. Its last two handlers are the same
/// for every protocol: ``DeadlineHandler`` and ``RequestHandler``.
struct ConnectionSetup: Sendable {
  /// Bytes of one header field, and of all; their number.
  static let (fieldSize, fieldListSize, fieldCount) = (16 * 1024, 32 * 1024, 100)

  let limits: DeadlineHandler.Limits
  /// nil for connections in the clear.
  let tls: TLSContext?
  let gate: ConnectionGate
  let responder: @Sendable (HTTPFields) -> Responder

  func setUp(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      guard gate.admits(channel) else {
        return try pipeline.addHandler(ConnectionGate.Refusal(isPlain: tls == nil))
      }
      guard let tls else { return try addHTTP1(to: channel) }
      try pipeline.addHandlers(
        NIOSSLServerHandler(context: tls.current), HandshakeDeadline(limits.header),
        ApplicationProtocolNegotiationHandler { protocolName, channel in
          channel.eventLoop.makeCompletedFuture {
            if case .negotiated("h2") = protocolName {
              try addHTTP2(to: channel)
            } else {
              try addHTTP1(to: channel)
            }
          }
        })
    }
  }

  private func addHTTP1(to channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = Self.fieldSize
    decoding.maxHeaderListSize = Self.fieldListSize
    decoding.maxHeaderFieldCount = Self.fieldCount
    try pipeline.addHandler(ByteWatcher())
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false,
      withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: decoding)
    try pipeline.addHandler(HTTP1Codec())
    try pipeline.addHandlers(
      DeadlineHandler(limits, of: nil), RequestHandler(responder, isStream: false))
  }

  private func addHTTP2(to channel: any Channel) throws {
    let pipeline = channel.pipeline.syncOperations
    var configuration = NIOHTTP2Handler.ConnectionConfiguration()
    configuration.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
      HTTP2Setting(parameter: .maxHeaderListSize, value: Self.fieldListSize),
    ]
    let watcher = FrameWatcher()
    let keeper = HTTP2Keeper(limits, watcher)
    try pipeline.addHandler(watcher)
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: configuration, streamConfiguration: .init(),
      streamDelegate: keeper
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandlers(
          HTTP2FramePayloadToHTTPServerCodec(), DeadlineHandler(limits, of: channel),
          RequestHandler(responder, isStream: true))
      }
    }
    try pipeline.addHandler(keeper)
  }
}

/// Closes a connection on which TLS has not agreed on a protocol in time, or when the server ends:
/// nothing was asked on it.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let limit: TimeAmount
  private var timer: Scheduled<Void>?

  init(_ limit: TimeAmount) { self.limit = limit }

  func handlerAdded(context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: limit) {
      context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: context.close(promise: nil)
    case ChannelEvent.inputClosed: context.close(promise: nil)
    case TLSUserEvent.handshakeCompleted:
      context.fireUserInboundEventTriggered(event)
      context.pipeline.syncOperations.removeHandler(self, promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
