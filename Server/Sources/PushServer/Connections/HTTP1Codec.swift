internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Why something that was sent is not a request.
struct RequestFault: Error {
  let failure: ServerFailure

  init(_ failure: ServerFailure) { self.failure = failure }

  /// What a parser says.
  init?(_ error: any Error) {
    switch error {
    case let error as RequestFault: self = error
    case HTTPParserError.headerOverflow: self.init(Self.headersTooLarge)
    case let error as HTTPParserError: self.init(.badRequest("this is not HTTP/1.1: \(error)"))
    case is HTTP1TypeConversionError: self.init(.badRequest("this is not a request of HTTP/1.1"))
    default: return nil
    }
  }

  static let headersTooLarge = ServerFailure(
    HTTPResponse.Status(code: 431, reasonPhrase: "Request Header Fields Too Large"),
    "headers_too_large",
    "the address and header fields may have \(ConnectionSetup.fieldListSize) bytes, one field "
      + "\(ConnectionSetup.fieldSize), and there may be \(ConnectionSetup.fieldCount) fields")
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

  /// Whether the client speaks HTTP/1.0: it gets no chunks and no 100, and its connection ends with
  /// the answer (RFC 9112, 6.1 and 9.3).
  private var isOld = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      do {
        context.fireChannelRead(wrapInboundOut(.head(try request(head))))
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
      if isOld, head.status.kind == .informational { return promise?.succeed() ?? () }
      var written = HTTPResponseHead(head)
      if isOld { written.version = .http1_0 }
      context.write(wrapOutboundOut(.head(written)), promise: promise)
    case .body(let bytes):
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
    case .end(let trailers):
      context.write(wrapOutboundOut(.end(trailers.map(HTTPHeaders.init))), promise: promise)
    }
  }

  private func request(_ head: HTTPRequestHead) throws -> HTTPRequest {
    var fields = head.headers
    if head.version.major == 1, head.version.minor == 0 {
      isOld = true
      fields.replaceOrAdd(name: "connection", value: "close")
    }
    try check(fields)
    // A target in origin form is the path with the query already.
    guard head.uri.utf8.first == UInt8(ascii: "/") else {
      var head = head
      head.headers = fields
      return try HTTPRequest(head, secure: false, splitCookie: false)
    }
    return HTTPRequest(
      method: try HTTPRequest.Method(head.method), scheme: "http",
      authority: head.headers.first(name: "host"), path: head.uri,
      headerFields: HTTPFields(fields, splitCookie: false))
  }

  /// Checks what RFC 9112 demands of a head and the parser lets pass.
  private func check(_ fields: HTTPHeaders) throws(RequestFault) {
    var hosts = 0
    for (name, value) in fields {
      switch name.utf8.count {
      case 4 where name.lowercased() == "host":
        hosts += 1
        guard value.utf8.allSatisfy(Self.isHostByte) else {
          throw RequestFault(.badRequest("the Host field is not the name of a host"))
        }
      case 17 where name.lowercased() == "transfer-encoding":
        guard !isOld else {
          throw RequestFault(.badRequest("HTTP/1.0 has no Transfer-Encoding (RFC 9112, 6.1)"))
        }
        guard value.lowercased() == "chunked" else {
          throw RequestFault(
            ServerFailure(
              .notImplemented, "not_implemented",
              "the transfer coding is not understood; send chunked, or a Content-Length"))
        }
      default: break
      }
    }
    guard hosts == 1 || isOld && hosts == 0 else {
      throw RequestFault(.badRequest("there are \(hosts) Host fields instead of one"))
    }
  }

  /// Whether a byte may be in a host with a port (RFC 3986, 3.2.2).
  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:[]%".utf8.contains(byte)
    }
  }
}
