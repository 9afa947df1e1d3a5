internal import NIOCore
internal import NIOHTTP2

/// Ends an HTTP/2 connection that is silent, sends frames without end, or is to end with the server.
/// What one request takes is a matter of its stream.
///
/// SAFETY: everything happens on the thread of the connection.
final class HTTP2Keeper: ChannelInboundHandler, NIOHTTP2StreamDelegate, @unchecked Sendable {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  private let limits: DeadlineHandler.Limits
  private let watcher: FrameWatcher
  private var openStreams = 0
  private var lastStream = HTTP2StreamID.rootStream
  /// Since when there is no request.
  private var idleSince = NIODeadline.now()
  private var (isDraining, isEnding) = (false, false)
  private var context: ChannelHandlerContext?
  private var timer: Scheduled<Void>?

  init(_ limits: DeadlineHandler.Limits, _ watcher: FrameWatcher) {
    self.limits = limits
    self.watcher = watcher
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    schedule(context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    timer?.cancel()
  }

  private func schedule(_ context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: limits.interval) {
      self.look(context)
    }
  }

  private func look(_ context: ChannelHandlerContext) {
    let now = NIODeadline.now()
    if openStreams == 0, now - idleSince > limits.idle {
      end(.noError, context)
    } else if let since = watcher.unfinishedSince, now - since > limits.header {
      end(.enhanceYourCalm, context)
    } else {
      schedule(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is FrameWatcher.TooManyFrames: end(.enhanceYourCalm, context)
    case is DrainBegins:
      isDraining = true
      if openStreams > 0 { goAway(.maxID, .noError, context) }
    case is ChannelShouldQuiesceEvent, ChannelEvent.inputClosed:
      isEnding = true
      if openStreams == 0 { end(.noError, context) } else { goAway(lastStream, .noError, context) }
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// A request begins.
  func streamCreated(_ id: HTTP2StreamID, channel: any Channel) {
    openStreams += 1
    lastStream = max(lastStream, id)
    // Requests that the client has sent already are answered (RFC 9113, 6.8). Without one under way,
    // NIOHTTP2 would close the connection, and one that is on its way would be lost.
    if isDraining, openStreams == 1, let context { goAway(.maxID, .noError, context) }
  }

  /// A request has ended.
  func streamClosed(_ id: HTTP2StreamID, channel: any Channel) {
    openStreams -= 1
    guard openStreams == 0 else { return }
    idleSince = .now()
    if isEnding, let context { end(.noError, context) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // NIOHTTP2 has reset the stream that is wrong, and the requests of others go on (RFC 9113,
    // 5.4.2), or it has said that the connection ends.
    if watcher.hasSentGoAway { context.close(promise: nil) }
  }

  private func goAway(
    _ last: HTTP2StreamID, _ code: HTTP2ErrorCode, _ context: ChannelHandlerContext
  ) {
    let frame = HTTP2Frame(
      streamID: .rootStream,
      payload: .goAway(lastStreamID: last, errorCode: code, opaqueData: nil))
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
  }

  private func end(_ code: HTTP2ErrorCode, _ context: ChannelHandlerContext) {
    timer?.cancel()
    goAway(lastStream, code, context)
    context.close(promise: nil)
  }
}

/// Looks at the heads of the frames that a client sends, before they are parsed: how long one is
/// unfinished, and how many come that ask for nothing.
///
/// NIOHTTP2 limits PING, SETTINGS, PRIORITY and RST_STREAM; the rest is limited here.
final class FrameWatcher: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  struct TooManyFrames: Sendable {}

  /// So many frames a second that belong to no request: a client that reads 16 KiB a frame at 150
  /// MB a second sends about as many.
  static let frameLimit = 20_000

  /// Since when the preface or a header block is unfinished; nil if none is.
  private(set) var unfinishedSince: NIODeadline? = .now()
  /// Whether the server has said that the connection ends.
  private(set) var hasSentGoAway = false
  /// What is left of the preface or of a frame's payload.
  private var rest = 24
  private var head: [UInt8] = []
  /// Whether what is left belongs to the preface or a header block, and whether that goes on in the
  /// next frame.
  private var (isHeaders, goesOn) = (true, false)
  private var second = NIODeadline.now()
  private var frames = 0

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let isTooMuch = look(unwrapInboundIn(data).readableBytesView)
    context.fireChannelRead(data)
    if isTooMuch { context.fireUserInboundEventTriggered(TooManyFrames()) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // A frame is written with its head first.
    if case .byteBuffer(let bytes) = unwrapOutboundIn(data), bytes.readableBytes >= 9,
      bytes.getInteger(at: bytes.readerIndex + 3, as: UInt8.self) == 7,
      bytes.getInteger(at: bytes.readerIndex + 5, as: UInt32.self) == 0
    {
      hasSentGoAway = true
    }
    context.write(data, promise: promise)
  }

  /// - Returns: whether there are too many frames.
  private func look(_ bytes: ByteBufferView) -> Bool {
    var bytes = bytes[...]
    var isTooMuch = false
    while !bytes.isEmpty {
      if rest > 0 {
        let count = min(rest, bytes.count)
        bytes = bytes.dropFirst(count)
        rest -= count
      } else {
        let count = min(9 - head.count, bytes.count)
        head += bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        guard head.count == 9 else { break }
        rest = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        if begin(type: head[3], flags: head[4]) { isTooMuch = true }
        head.removeAll(keepingCapacity: true)
      }
    }
    if goesOn || isHeaders && rest > 0 {
      unfinishedSince = unfinishedSince ?? .now()
    } else {
      unfinishedSince = nil
    }
    return isTooMuch
  }

  /// - Returns: whether that is one frame too many.
  private func begin(type: UInt8, flags: UInt8) -> Bool {
    let (data, headers, continuation) = (UInt8(0), UInt8(1), UInt8(9))
    isHeaders = type == headers || type == continuation
    if isHeaders { goesOn = flags & 4 == 0 }
    // The one before is finished.
    if type == headers { unfinishedSince = nil }
    guard type != data, type != headers else { return false }
    let now = NIODeadline.now()
    if now - second > .seconds(1) { (second, frames) = (now, 0) }
    frames += 1
    return frames > Self.frameLimit
  }
}
