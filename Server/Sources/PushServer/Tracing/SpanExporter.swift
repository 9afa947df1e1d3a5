internal import AsyncHTTPClient
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import PushContent
internal import ServiceLifecycle
internal import Synchronization

/// Sends spans of requests to a collector: OTLP over HTTP, as JSON.
///
/// Requests never wait for it. Spans that the collector does not take in time, or refuses, are
/// dropped, and counted.
final class SpanExporter: Service, Sendable {
  struct Span: Sendable {
    /// Which side of a request it is, with OTLP's number.
    enum Kind: Int64 {
      case server = 2
      case client = 3
    }

    let context: TraceContext
    let kind: Kind
    /// The endpoint, or the path that is asked for.
    let name: String
    let app: String
    /// In nanoseconds since 1970.
    let start, end: UInt64
    /// nil for a request that was not answered.
    let status: Int?

    /// A span that ends now.
    init(
      _ context: TraceContext, _ kind: Kind, _ name: String, app: String, status: Int?,
      _ duration: Duration
    ) {
      self.context = context
      self.kind = kind
      self.name = name
      self.app = app
      self.status = status
      end = UInt64(max(0, Date().timeIntervalSince1970) * 1e9)
      start = end - min(end, UInt64(max(0, duration / .nanoseconds(1))))
    }
  }

  private struct Queue {
    var spans: [Span] = []
    var sent: Int64 = 0
    var dropped: Int64 = 0
  }

  private let url: String
  private let authority: String?
  private let logger: Logger
  private let limit: Int
  private let queue = Mutex(Queue())

  /// So many spans go into one request.
  private static let batch = 512
  private static let interval = Duration.seconds(1)
  private static let timeout = TimeAmount.seconds(5)

  /// - Parameters:
  ///   - url: of the collector, with the path.
  ///   - authority: a PEM file of certificates that sign its own; nil for the system's.
  ///   - limit: so many spans wait at most.
  init(_ url: String, authority: String?, _ logger: Logger, limit: Int = 8192) {
    self.url = url
    self.authority = authority
    self.logger = logger
    self.limit = limit
  }

  /// Has a span sent, if the caller keeps the trace.
  func add(_ span: @autoclosure () -> Span, of context: TraceContext) {
    guard context.isSampled else { return }
    let span = span()
    queue.withLock { queue in
      if queue.spans.count < limit { queue.spans.append(span) } else { queue.dropped += 1 }
    }
  }

  /// Sends what waits, once a second, and what is left at the end.
  func run() async throws {
    let client = Primary.client(authority: authority)
    try? await cancelWhenGracefulShutdown {
      while true {
        try await Task.sleep(for: Self.interval)
        await self.send(client)
      }
    }
    await send(client)
    try? await client.shutdown()
  }

  private func send(_ client: HTTPClient) async {
    while true {
      let spans = queue.withLock { queue in
        let spans = Array(queue.spans.prefix(Self.batch))
        queue.spans.removeFirst(spans.count)
        return spans
      }
      guard !spans.isEmpty else { return }
      do {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: Self.json(spans).bytes))
        let response = try await client.execute(request, timeout: Self.timeout)
        _ = try await response.body.collect(upTo: 1 << 20)
        if let target = response.redirect {
          throw OptionError("it redirects to \(target): give the address itself")
        }
        guard (200..<300).contains(response.status.code) else {
          throw OptionError("status \(response.status.code)")
        }
        queue.withLock { $0.sent += Int64(spans.count) }
      } catch {
        queue.withLock { $0.dropped += Int64(spans.count) }
        logger.warning(
          "spans dropped", metadata: ["collector": "\(url)", "error": "\(error)"])
        return
      }
    }
  }

  func addMetrics(to text: inout MetricsText) {
    let (sent, dropped) = queue.withLock { ($0.sent, $0.dropped) }
    text.add("spans_total", "counter", "Spans that were sent.", "\(sent)")
    text.add("spans_dropped_total", "counter", "Spans that could not be sent.", "\(dropped)")
  }

  /// An `ExportTraceServiceRequest`.
  static func json(_ spans: [Span]) -> RawJSON {
    .object([
      "resourceSpans": .array([
        .object([
          "resource": .object(["attributes": .array([attribute("service.name", "push-fanout")])]),
          "scopeSpans": .array([
            .object([
              "scope": .object(["name": .string("push-fanout-server")]),
              "spans": .array(spans.map(json)),
            ])
          ]),
        ])
      ])
    ])
  }

  private static func json(_ span: Span) -> RawJSON {
    var attributes = [attribute("push_fanout.app", span.app)]
    if let status = span.status {
      attributes.append(
        .object([
          "key": .string("http.response.status_code"),
          "value": .object(["intValue": .string("\(status)")]),
        ]))
    }
    // For a client every status from 400 on is an error, for a server only its own errors are.
    let leastError = span.kind == .client ? 400 : 500
    return .object([
      "traceId": .string(span.context.trace), "spanId": .string(span.context.span),
      "parentSpanId": .string(span.context.parent ?? ""), "name": .string(span.name),
      "kind": .integer(span.kind.rawValue), "startTimeUnixNano": .string("\(span.start)"),
      "endTimeUnixNano": .string("\(span.end)"), "attributes": .array(attributes),
      "status": .object(["code": .integer((span.status ?? leastError) >= leastError ? 2 : 0)]),
    ])
  }

  private static func attribute(_ key: String, _ value: String) -> RawJSON {
    .object(["key": .string(key), "value": .object(["stringValue": .string(value)])])
  }
}
