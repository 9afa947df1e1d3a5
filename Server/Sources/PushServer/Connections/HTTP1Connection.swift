internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// A connection of HTTP/1.1 without TLS.
struct HTTP1Connection: ServerChildChannel {
  struct Value: ServerChildChannelValue {
    let channel: any Channel
  }

  let decoderLimits: NIOHTTPDecoderLimitConfiguration
  let handlers: @Sendable () -> [any RemovableChannelHandler]

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false,
        withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
        withDecoderLimitConfiguration: decoderLimits)
      try pipeline.addHandler(HTTP1Codec())
      try pipeline.addHandlers(handlers())
      return Value(channel: channel)
    }
  }

  /// Returns when the connection is closed; the handlers do the rest.
  func handle(value: Value, logger: Logger) async {
    let channel = value.channel
    await withTaskCancellationHandler {
      try? await channel.closeFuture.get()
    } onCancel: {
      channel.close(promise: nil)
    }
  }
}

/// Translates between the parts of HTTP/1.1 and those of any version.
///
/// `HTTP1ToHTTPServerCodec` of NIOHTTPTypesHTTP1 does the same, but parses each target as a URL,
/// which takes as long as several decisions. Here that is done only for the targets that need it.
final class HTTP1Codec: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      do {
        context.fireChannelRead(wrapInboundOut(.head(try Self.request(head))))
      } catch {
        context.fireErrorCaught(error)
      }
    case .body(let bytes): context.fireChannelRead(wrapInboundOut(.body(bytes)))
    case .end(let trailers):
      let fields = trailers.map { HTTPFields($0, splitCookie: false) }
      context.fireChannelRead(wrapInboundOut(.end(fields)))
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let head):
      context.write(wrapOutboundOut(.head(HTTPResponseHead(head))), promise: promise)
    case .body(let bytes):
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
    case .end(let trailers):
      context.write(wrapOutboundOut(.end(trailers.map(HTTPHeaders.init))), promise: promise)
    }
  }

  private static func request(_ head: HTTPRequestHead) throws -> HTTPRequest {
    // A target in origin form is the path with the query already.
    guard head.uri.utf8.first == UInt8(ascii: "/") else {
      return try HTTPRequest(head, secure: false, splitCookie: false)
    }
    return HTTPRequest(
      method: try HTTPRequest.Method(head.method), scheme: "http",
      authority: head.headers.first(name: "host"), path: head.uri,
      headerFields: HTTPFields(head.headers, splitCookie: false))
  }
}
