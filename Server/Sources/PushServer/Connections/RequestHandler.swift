internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Reads the requests of a connection, or the one of an HTTP/2 stream, and answers them one after
/// the other.
///
/// What needs no waiting is answered where it was read, without a task and a change of threads, and
/// the responses to requests that arrived together are sent together. Everything else is made by a
/// task that runs on the same thread.
final class RequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// So many parts of later requests are kept before no more are read.
  private static let waitingLimit = 16
  /// How long a client that is still sending has to read its answer before the connection closes.
  private static let lingering = TimeAmount.seconds(1)

  private let responder: @Sendable (HTTPFields) -> Responder
  /// Whether it is a stream of HTTP/2, and not a connection of HTTP/1.1.
  private let isStream: Bool
  var executor: LoopExecutor?
  var exchange: Exchange?
  /// Parts that arrived while another request was answered, or while the client did not read.
  private var waiting = CircularBuffer<HTTPRequestPart>()
  private var hasPendingRead = false
  var isInRead = false
  /// Bytes of answers that are sent when the read ends.
  var unflushed = 0
  /// Whether the connection ends when what was read is answered.
  private var isEnding = false
  /// Why what follows is not HTTP; nil if it is.
  private var fault: RequestFault?
  /// Whether nothing is read any more.
  private var isClosed = false
  /// The piece of a streamed body that was written last.
  var lastPiece: EventLoopFuture<Void>?

  /// - Parameters:
  ///   - responder: what answers a request with these fields.
  ///   - isStream: whether it is a stream of HTTP/2.
  init(_ responder: @escaping @Sendable (HTTPFields) -> Responder, isStream: Bool) {
    self.responder = responder
    self.isStream = isStream
  }

  func handlerAdded(context: ChannelHandlerContext) {
    executor = LoopExecutor(context.eventLoop)
  }

  // MARK: Reading

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    isInRead = true
    guard !isClosed else { return }
    let part = unwrapInboundIn(data)
    if waiting.isEmpty, canTake(part, context) {
      take(part, context)
    } else {
      waiting.append(part)
    }
    settle(context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isInRead = false
    if unflushed > 0 { flush(context) }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if waiting.count >= Self.waitingLimit { hasPendingRead = true } else { context.read() }
  }

  /// Whether a part belongs to the request that is being read, or begins one.
  private func canTake(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) -> Bool {
    if let exchange { return !exchange.isRead }
    // Responses do not pile up for a client that does not read them.
    return context.channel.isWritable
  }

  private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
    switch part {
    case .head(let head): begin(head, context)
    case .body(let bytes): collect(bytes, context)
    case .end:
      guard let exchange else { return }
      exchange.isRead = true
      if exchange.collectsBody {
        exchange.collectsBody = false
        reply(exchange, context)
      } else if exchange.isAnswered {
        self.exchange = nil
      }
    }
  }

  private func begin(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
    let exchange = responder(head.headerFields).begin(head)
    // The connection of a stream is its parent.
    let channel = isStream ? context.channel.parent : context.channel
    if exchange.route.isNoted { exchange.address = channel?.remoteAddress?.ipAddress ?? "" }
    self.exchange = exchange
    do {
      // The parser of HTTP/1.1 counts them itself.
      if isStream, head.headerFields.count > ConnectionSetup.fieldCount {
        throw RequestFault.headersTooLarge
      }
      try exchange.responder.admit(exchange)
      if let timeout = try exchange.request.timeout {
        exchange.expire(after: timeout, context.eventLoop) { self.expire(exchange, context) }
      }
    } catch Load.Refusal.closes {
      return context.close(promise: nil)
    } catch {
      return send(exchange.responder.failure(error, exchange.route).answer, exchange, context)
    }
    if exchange.bodyLimit == 0 {
      reply(exchange, context)
    } else {
      exchange.collectsBody = true
      // Only for a body that will be read (RFC 9110, 10.1.1).
      if head.headerFields.text(.expect)?.lowercased() == "100-continue" {
        context.write(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        flush(context)
      }
    }
  }

  private func collect(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    guard let exchange, exchange.collectsBody else { return }
    do {
      try exchange.responder.collect(bytes, exchange)
    } catch {
      exchange.collectsBody = false
      var answer = exchange.responder.failure(error, exchange.route).answer
      answer.closes = true
      send(answer, exchange, context)
    }
  }

  /// The client does not wait any longer. A write says by itself whether it was made, and a response
  /// that has begun ends by its task.
  private func expire(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    guard exchange === self.exchange, !(exchange.route.isNoted && exchange.isRead) else { return }
    exchange.task?.cancel()
    if exchange.hasBegunResponse { return }
    exchange.collectsBody = false
    var answer = ServerFailure.expired.answer
    answer.closes = !exchange.isRead
    send(answer, exchange, context)
    settle(context)
  }

  /// Goes on with what was not done while a request was answered.
  func settle(_ context: ChannelHandlerContext) {
    while !isClosed, let part = waiting.first, canTake(part, context) {
      waiting.removeFirst()
      take(part, context)
    }
    guard !isClosed else { return }
    if waiting.isEmpty {
      if let fault, exchange.map({ !$0.isRead }) ?? true { return refuse(fault, context) }
      if isEnding, exchange == nil { return end(context) }
    }
    if hasPendingRead, waiting.count < Self.waitingLimit {
      hasPendingRead = false
      context.read()
    }
  }

  // MARK: Answering

  private func reply(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    exchange.withinTrace { makeReply(exchange, context) }
  }

  private func makeReply(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    let answer: Answer
    do {
      switch try exchange.responder.reply(exchange) {
      case .answer(let made): answer = made
      case .task(let make): return run(make, exchange, context)
      case .later(let begin): return wait(begin, exchange, context)
      }
    } catch {
      answer = exchange.responder.failure(error, exchange.route).answer
    }
    send(answer, exchange, context)
  }

  /// What a task refers to, on the thread of the connection.
  struct TaskTarget {
    let handler: RequestHandler
    let exchange: Exchange
    let context: ChannelHandlerContext
  }

  func target(_ exchange: Exchange, _ context: ChannelHandlerContext) -> NIOLoopBound<
    TaskTarget
  > {
    NIOLoopBound(
      TaskTarget(handler: self, exchange: exchange, context: context), eventLoop: context.eventLoop)
  }

  private func run(
    _ make: @escaping @Sendable () async throws -> Answer, _ exchange: Exchange,
    _ context: ChannelHandlerContext
  ) {
    let bound = target(exchange, context)
    exchange.task = Task(executorPreference: executor) {
      let result: Result<Answer, any Error>
      do { result = .success(try await make()) } catch { result = .failure(error) }
      let target = bound.value
      target.handler.finish(result, target.exchange, target.context)
    }
  }

  /// Answers what another thread makes, without a task. What is handed over together, as by one
  /// commit, wakes this thread once.
  private func wait(
    _ begin: (@escaping @Sendable (Result<Answer, any Error>) -> Void) -> Void,
    _ exchange: Exchange, _ context: ChannelHandlerContext
  ) {
    let bound = target(exchange, context)
    let loop = context.eventLoop
    begin { result in
      loop.execute {
        let target = bound.value
        target.handler.finish(result, target.exchange, target.context)
      }
    }
  }

  private func finish(
    _ result: Result<Answer, any Error>, _ exchange: Exchange, _ context: ChannelHandlerContext
  ) {
    guard exchange === self.exchange else { return }
    switch result {
    case .success(let answer): send(answer, exchange, context)
    case .failure(let error):
      send(exchange.responder.failure(error, exchange.route).answer, exchange, context)
    }
    settle(context)
  }

  private func send(_ answer: Answer, _ exchange: Exchange, _ context: ChannelHandlerContext) {
    // A key has only so many streams that wait.
    if answer.isFollowing, let ticket = exchange.ticket, !ticket.wait() {
      return send(ServerFailure.overloaded.answer, exchange, context)
    }
    exchange.status = answer.status.code
    if answer.closes || exchange.responder.state.isEndingNow { exchange.closes = true }
    exchange.hasBegunResponse = true
    var head = exchange.responder.head(of: answer, to: exchange.request)
    // HTTP/2 has no such field; its connections are told to end by GOAWAY.
    if exchange.closes, !isStream { head.headerFields[.connection] = "close" }
    let isHead = exchange.request.method == .head
    if isHead, case .stream = answer.body { head.headerFields[.contentLength] = "0" }
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    switch answer.body {
    case .bytes(let bytes):
      if bytes.readableBytes > 0, !isHead {
        context.write(wrapOutboundOut(.body(bytes)), promise: nil)
        unflushed += bytes.readableBytes
        if isStream || bytes.readableBytes > Self.smallAnswer { exchange.isLarge = true }
      }
      endResponse(exchange, context)
    case .stream(let write):
      guard !isHead else { return endResponse(exchange, context) }
      flush(context)
      exchange.isLarge = true
      if answer.isFollowing { exchange.follow() }
      stream(write, exchange, context)
    }
  }

  /// An answer of so many bytes fits what the system keeps for a connection.
  static let smallAnswer = 32 * 1024

  func endResponse(_ exchange: Exchange, _ context: ChannelHandlerContext) {
    exchange.isAnswered = true
    exchange.responder.end(exchange)
    // What the client does not take counts as under way: a large answer, or the last of many.
    let isMuch = exchange.isLarge || unflushed >= Self.smallAnswer || !context.channel.isWritable
    let taken: EventLoopPromise<Void>? = isMuch ? context.eventLoop.makePromise() : nil
    if let taken, let ticket = exchange.ticket {
      taken.futureResult.whenComplete { _ in ticket.end() }
      exchange.ticket = nil
    }
    exchange.end()
    if exchange.isRead { self.exchange = nil }
    // A stream whose request goes on is reset behind its answer (RFC 9113, 8.1).
    let closes =
      isStream ? !exchange.isRead : exchange.closes || isEnding && waiting.isEmpty && fault == nil
    guard closes else {
      context.write(wrapOutboundOut(.end(nil)), promise: taken)
      return flush(context)
    }
    closeAfterEnd(lingers: !isStream && !exchange.isRead, taken, context)
  }

  // MARK: Ending

  /// Says what is wrong with what is not HTTP, unless a response to it has begun, and closes.
  private func refuse(_ fault: RequestFault, _ context: ChannelHandlerContext) {
    if let exchange, exchange.hasBegunResponse { return end(context) }
    let exchange = exchange ?? responder([:]).begin(.malformed)
    self.exchange = exchange
    var answer = fault.failure.answer
    answer.closes = true
    send(answer, exchange, context)
  }

  /// Closes the connection, on which no request is under way, when everything was sent.
  private func end(_ context: ChannelHandlerContext) {
    isClosed = true
    context.flush()
    let sent = context.eventLoop.makePromise(of: Void.self)
    context.close(mode: .output, promise: sent)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    sent.futureResult.whenComplete { _ in bound.value.close(promise: nil) }
  }

  /// Closes the connection when a response was sent to its end.
  ///
  /// - Parameter lingers: whether the client may still be sending: it would not see the answer if
  ///   the connection were closed at once.
  private func closeAfterEnd(
    lingers: Bool, _ taken: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
  ) {
    isClosed = true
    let sent = taken ?? context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    sent.futureResult.whenComplete { _ in
      guard lingers else { return bound.value.close(promise: nil) }
      bound.value.close(mode: .output, promise: nil)
      _ = bound.value.eventLoop.scheduleTask(in: Self.lingering) { bound.value.close(promise: nil) }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosed = true
    waiting.removeAll()
    if let exchange {
      self.exchange = nil
      exchange.task?.cancel()
      if !exchange.isAnswered {
        if exchange.hasBegunResponse { exchange.status = 500 }
        exchange.responder.end(exchange)
      }
      exchange.end()
    }
    context.fireChannelInactive()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    settle(context)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      isEnding = true
      if let exchange, exchange.isFollowing { exchange.task?.cancel() }
      settle(context)
    case ChannelEvent.inputClosed:
      isEnding = true
      // The rest of a request does not come any more.
      if waiting.isEmpty, let exchange, !exchange.isRead, fault == nil { return end(context) }
      settle(context)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard fault == nil else { return }
    guard let fault = RequestFault(error) else { return context.close(promise: nil) }
    self.fault = fault
    settle(context)
  }
}

extension HTTPRequest {
  /// What stands for something that is not a request.
  fileprivate static let malformed = HTTPRequest(
    method: .get, scheme: nil, authority: nil, path: "")
}
