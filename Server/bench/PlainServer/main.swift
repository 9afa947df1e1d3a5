// Answers every request with as many bytes as its path says, and does nothing else: what a server on
// NIO alone reaches on the same core. `plain-nio-server PORT`
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends the number of bytes of the path's last component.
final class SizedAnswer: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart
  private var size = 0
  private var body = ByteBuffer()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      size = head.uri.split(separator: "/").last.flatMap { Int($0) } ?? 0
    case .body: break
    case .end:
      if body.readableBytes != size { body = ByteBuffer(repeating: 1, count: size) }
      let head = HTTPResponseHead(
        version: .http1_1, status: .ok,
        headers: ["Content-Type": "application/octet-stream", "Content-Length": "\(size)"])
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}

guard CommandLine.arguments.count == 2, let port = Int(CommandLine.arguments[1]) else {
  fatalError("plain-nio-server PORT")
}
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let channel = try await ServerBootstrap(group: group)
  .serverChannelOption(.backlog, value: 256)
  .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
  .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
  .childChannelInitializer { channel in
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.configureHTTPServerPipeline()
      try channel.pipeline.syncOperations.addHandler(SizedAnswer())
    }
  }
  .bind(host: "127.0.0.1", port: port).get()
try await channel.closeFuture.get()
