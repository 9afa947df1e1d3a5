internal import NIOCore
internal import NIOHTTPTypes

/// How answers are sent, at once or piece by piece.
extension RequestHandler {
  /// Answers to requests that arrived together are sent together, unless they are large: whether the
  /// client takes them is only known of what was sent, as TLS keeps what was not.
  func flush(_ context: ChannelHandlerContext) {
    unflushed += 256
    if isInRead, unflushed < Self.smallAnswer { return }
    unflushed = 0
    context.flush()
  }

  func stream(
    _ write: @escaping @Sendable (BodyWriter) async throws -> Void, _ exchange: Exchange,
    _ context: ChannelHandlerContext
  ) {
    lastPiece = nil
    let bound = target(exchange, context)
    let writer = BodyWriter(loop: context.eventLoop) { bytes in
      let target = bound.value
      return target.handler.write(bytes, target.exchange, target.context)
    }
    exchange.task = Task(executorPreference: executor) {
      let isWhole: Bool
      do {
        try await write(writer)
        isWhole = true
      } catch {
        isWhole = false
      }
      let target = bound.value
      target.handler.endStream(isWhole: isWhole, target.exchange, target.context)
    }
  }

  private func write(
    _ bytes: ByteBuffer, _ exchange: Exchange, _ context: ChannelHandlerContext
  ) -> EventLoopFuture<Void> {
    guard exchange === self.exchange else {
      return context.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
    }
    let before = lastPiece
    lastPiece = context.writeAndFlush(wrapOutboundOut(.body(bytes)))
    return before ?? context.eventLoop.makeSucceededVoidFuture()
  }

  private func endStream(isWhole: Bool, _ exchange: Exchange, _ context: ChannelHandlerContext) {
    guard exchange === self.exchange else { return }
    if isWhole {
      endResponse(exchange, context)
      settle(context)
    } else {
      // What was sent is not whole, and the client has to notice.
      exchange.status = 500
      context.close(promise: nil)
    }
  }
}
