internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import PushModel

/// A request and its response. Used on the thread of the connection only.
final class Exchange {
  let responder: Responder
  var request: ServerRequest
  let route: Route
  /// The id in its path; empty for none.
  let id: Identifier
  let began = ContinuousClock.now
  /// What it is in its caller's trace; nil for none.
  let trace: TraceContext?
  /// What it counts as under way, once it was admitted; nil for what does not count.
  var ticket: Load.Ticket?
  /// The largest body that it may have; 0 if none is read.
  var bodyLimit = 0
  /// The address of the client; empty where it is not known.
  var address = ""
  /// Who makes the request, once it was admitted.
  var caller = Caller.anonymous
  /// What is counted: 499 for a client that left before there was a response.
  var status = 499
  /// Whether the body is kept as it arrives.
  var collectsBody = false
  /// Whether the whole request was read.
  var isRead = false
  /// Whether the head of the response was written.
  var hasBegunResponse = false
  /// Whether the response was written to its end.
  var isAnswered = false
  /// Whether the connection ends with the response.
  var closes: Bool
  /// Whether the response is a stream that mostly waits, and is no load.
  private(set) var isFollowing = false
  /// Whether the client may take its time for the response.
  var isLarge = false
  /// What makes the response.
  var task: Task<Void, Never>?
  /// When the client does not want the response any more; nil for never.
  private(set) var deadline: ContinuousClock.Instant?
  private var timer: Scheduled<Void>?

  init(
    _ responder: Responder, _ request: ServerRequest, _ route: Route, _ id: Identifier
  ) {
    self.responder = responder
    self.request = request
    self.route = route
    self.id = id
    trace =
      request.fields.text(.traceparent).flatMap { TraceContext(traceparent: $0) }
      ?? TraceContext.oneIn(responder.state.options.traceOneIn)
    // A list of options (RFC 9110, 7.6.1).
    closes =
      request.fields.text(.connection)?.split(separator: ",").contains {
        $0.trimmingCharacters(in: .whitespaces).lowercased() == "close"
      } ?? false
  }

  /// From now on it mostly waits, and counts as a connection only.
  func follow() {
    isFollowing = true
    responder.state.metrics.changeRequests(by: -1)
    ticket?.wait()
  }

  /// Calls `expire` when the client's time is over, unless the exchange has ended.
  func expire(after timeout: TimeAmount, _ loop: any EventLoop, _ expire: @escaping () -> Void) {
    deadline = began + .nanoseconds(timeout.nanoseconds)
    timer = loop.assumeIsolated().scheduleTask(in: timeout) { expire() }
  }

  /// There is no response any more to wait for.
  func end() {
    timer?.cancel()
    ticket?.end()
  }

  /// Does something within the trace, and so do the tasks that it begins.
  func withinTrace(_ body: () -> Void) {
    guard let trace else { return body() }
    TraceContext.$current.withValue(trace) { body() }
  }
}

/// How a request is answered.
enum Reply: Sendable {
  case answer(Answer)
  /// What waits, or takes long.
  case task(@Sendable () async throws -> Answer)
  /// What another thread makes and hands over, once.
  case later(@Sendable (@escaping @Sendable (Result<Answer, any Error>) -> Void) -> Void)

  /// The answer, when it is there.
  func made() async throws -> Answer {
    switch self {
    case .answer(let answer): answer
    case .task(let make): try await make()
    case .later(let begin):
      try await withCheckedThrowingContinuation { continuation in
        begin { continuation.resume(with: $0) }
      }
    }
  }
}

/// Does what takes long beside the threads of connections.
func onOtherThread<Value: Sendable>(
  _ body: @Sendable () throws -> Value
) async throws -> Value {
  try await withTaskExecutorPreference(globalConcurrentExecutor) { try body() }
}

/// Writes the body of a response piece by piece, as fast as the client reads.
struct BodyWriter: Sendable {
  let loop: any EventLoop
  let send: @Sendable (ByteBuffer) -> EventLoopFuture<Void>

  /// Writes a piece, and returns when the one before it was taken by the system.
  ///
  /// - Throws: when the connection has ended.
  func write(_ bytes: ByteBuffer) async throws {
    // Most tasks run on the loop already.
    let taken = loop.inEventLoop ? send(bytes) : loop.flatSubmit { send(bytes) }
    try await taken.get()
  }
}
