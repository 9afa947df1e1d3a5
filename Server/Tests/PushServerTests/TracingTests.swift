import Foundation
import Glibc
import Logging
import Synchronization
import Testing

@testable import PushServer

/// Goal: a request is a span of its caller's trace, in logs, in the decision log and at a collector,
/// and what the collector does not take is counted.
@Suite struct TracingTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let parent = "b7ad6b7169203331"

  @Test func `A traceparent is read as the recommendation has it`() throws {
    let valid = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.parent)-01"))
    #expect(
      "\(valid.trace) \(valid.parent ?? "") \(valid.isSampled)"
        == "\(Self.trace) \(Self.parent) true")
    #expect(valid.span.count == 16)
    #expect(valid.span != Self.parent)
    #expect(TraceContext(traceparent: "00-\(Self.trace)-\(Self.parent)-02")?.isSampled == false)
    #expect(TraceContext(traceparent: "cc-\(Self.trace)-\(Self.parent)-01-what-is-new") != nil)
    let zeros = String(repeating: "0", count: 32)
    for text in [
      "", "00", "ff-\(Self.trace)-\(Self.parent)-01", "00-\(Self.trace)-\(Self.parent)-01-more",
      "00-\(zeros)-\(Self.parent)-01", "00-\(Self.trace)-\(zeros.prefix(16))-01",
      "00-\(Self.trace.uppercased())-\(Self.parent)-01", "00-\(Self.trace)-\(Self.parent)-0x",
      "00_\(Self.trace)-\(Self.parent)-01", "cc-\(Self.trace)-\(Self.parent)-01.more",
      "00-\(Self.trace)-\(Self.parent)-01, 00-\(Self.trace)-\(Self.parent)-01",
    ] {
      #expect(TraceContext(traceparent: text) == nil, "\(text)")
    }
  }

  /// Takes requests on this machine, answers each with a status, and keeps their bodies.
  final class Collector: Sendable {
    let port: Int
    private let socket: Int32
    private let bodies = Mutex<[String]>([])
    private let count = Atomic(0)

    /// How many requests there were.
    var requestCount: Int { count.load(ordering: .acquiring) }

    /// - Parameter location: where answers redirect to.
    init(status: Int, location: String? = nil) throws {
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let socket = socket
      let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(socket, $0, size) + listen(socket, 16) + getsockname(socket, $0, &size)
        }
      }
      guard result == 0 else { throw ConnectionError(description: "listen: \(errno)") }
      port = Int(in_port_t(bigEndian: address.sin_port))
      Thread.detachNewThread { [weak self] in
        while true {
          let client = accept(socket, nil, nil)
          guard client >= 0 else { return }
          let body = Self.read(client)
          // A client may connect in advance, and ask nothing.
          if !body.isEmpty { self?.bodies.withLock { $0.append(body) } }
          self?.count.add(1, ordering: .releasing)
          let field = location.map { "Location: \($0)\r\n" } ?? ""
          let answer =
            "HTTP/1.1 \(status) X\r\nContent-Length: 2\r\n\(field)Connection: close\r\n\r\n{}"
          _ = unsafe send(client, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
          close(client)
        }
      }
    }

    deinit {
      shutdown(socket, Int32(SHUT_RDWR))
      close(socket)
    }

    /// The body of a request.
    private static func read(_ client: Int32) -> String {
      var (text, bytes) = ("", [UInt8](repeating: 0, count: 65_536))
      while true {
        let count = unsafe recv(client, &bytes, bytes.count, 0)
        guard count > 0 else { return text }
        text += String(decoding: bytes[..<count], as: UTF8.self)
        guard let head = text.range(of: "\r\n\r\n"),
          let length = text.firstMatch(of: /(?i)content-length: (\d+)/).flatMap({ Int($0.1) })
        else { continue }
        if text[head.upperBound...].utf8.count >= length { return String(text[head.upperBound...]) }
      }
    }

    /// All spans that were received, when they are complete; or after minutes.
    func spans(_ areComplete: ([Span]) -> Bool) async throws -> [Span] {
      let end = ContinuousClock.now + .seconds(300)
      while try !areComplete(spans), ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(10))
      }
      return try spans
    }

    /// All spans that were received.
    var spans: [Span] {
      get throws {
        try bodies.withLock { $0 }.flatMap {
          try JSONDecoder().decode(Export.self, from: Data($0.utf8)).resourceSpans
        }.flatMap(\.scopeSpans).flatMap(\.spans)
      }
    }
  }

  private struct Export: Decodable {
    struct Resource: Decodable { let scopeSpans: [Scope] }
    struct Scope: Decodable { let spans: [Span] }
    let resourceSpans: [Resource]
  }

  struct Span: Decodable {
    let traceId, spanId, parentSpanId, name, startTimeUnixNano, endTimeUnixNano: String
    let kind: Int
    let attributes: [Attribute]
  }

  struct Attribute: Decodable { let key: String, value: [String: String] }

  private func fields(_ flags: String) -> [String: String] {
    [
      "traceparent": "00-\(Self.trace)-\(Self.parent)-\(flags)",
      "Content-Type": "application/x-ndjson",
    ]
  }

  @Test func `Spans of sampled traces reach the collector, and the decision log has the trace`()
    async throws
  {
    let collector = try Collector(status: 200)
    let folder = try TestServer.temporaryFolder()
    let log = folder.appending(path: "log").path
    try await TestServer.make(folder.appending(path: "app.store").path, TestServer.settings)
    let server = try ServerProcess(
      folder,
      ["--otlp", "http://127.0.0.1:\(collector.port)/v1/traces", "--decision-log", log])
    let statuses = try await onThread {
      let connection = try Connection(server.port)
      func ask(_ line: String, _ flags: String?, _ body: String = "") throws -> Int {
        let trace = flags.map { "traceparent: 00-\(Self.trace)-\(Self.parent)-\($0)\r\n" } ?? ""
        try connection.send(
          "\(line) HTTP/1.1\r\nHost: localhost\r\n\(trace)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
        return try connection.response().status
      }
      let statuses = [
        try ask("POST /v1/decide", "01", TestServer.message),
        try ask("POST /v1/decide", "00", TestServer.message),
        try ask("GET /v1/next-change", "01"), try ask("GET /v1/events", nil),
      ]
      // What is left is sent at the end.
      #expect(server.end(SIGTERM) == 0)
      return statuses
    }
    #expect(statuses == [200, 200, 400, 200])
    let spans = try collector.spans
    #expect(
      spans.map { "\($0.name) \($0.traceId) \($0.parentSpanId) \($0.kind)" }
        == ["decide", "nextChange"].map { "\($0) \(Self.trace) \(Self.parent) 2" })
    #expect(Set(spans.map(\.spanId) + [Self.parent]).count == 3)
    let values = spans.map { $0.attributes.flatMap(\.value.values).joined(separator: " ") }
    #expect(values == ["default 200", "default 400"])
    for span in spans {
      let (start, end) = (UInt64(span.startTimeUnixNano) ?? 0, UInt64(span.endTimeUnixNano) ?? 0)
      #expect(start > 0 && start <= end)
    }
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    #expect(lines.filter { $0.contains(#","trace":"\#(Self.trace)"}}"#) }.count == 2)
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `A follower's requests are traces, which the primary continues`() async throws {
    let collector = try Collector(status: 200)
    let url = "http://127.0.0.1:\(collector.port)/v1/traces"
    let primary = try await TestServer.start(["--otlp", url])
    let follower = try await TestServer.start([
      "--follow", "http://127.0.0.1:\(primary.port)", "--otlp", url, "--trace-one-in", "1",
    ])
    let spans = try await collector.spans { spans in
      spans.contains { $0.name == "snapshot" } && spans.contains { $0.name == "GET /v1/changes" }
    }
    try await follower.stop()
    try await primary.stop()
    let clients = spans.filter { $0.kind == 3 }
    #expect(Set(clients.map(\.name)).isSuperset(of: ["GET /v1/snapshot", "GET /v1/changes"]))
    #expect(Set(clients.map(\.parentSpanId)) == [""])
    let snapshot = try #require(clients.first { $0.name == "GET /v1/snapshot" })
    let continued = spans.filter { $0.kind == 2 && $0.traceId == snapshot.traceId }
    #expect(continued.map { "\($0.name) \($0.parentSpanId)" } == ["snapshot \(snapshot.spanId)"])
  }

  @Test func `One in so many requests without a trace begins one`() async throws {
    let collector = try Collector(status: 200)
    let server = try await TestServer.start([
      "--otlp", "http://127.0.0.1:\(collector.port)/v1/traces", "--trace-one-in", "1",
    ])
    _ = try await server.post("/v1/decide", TestServer.message, fields("00"))
    _ = try await server.post("/v1/decide", TestServer.message)
    let spans = try await collector.spans { !$0.isEmpty }
    try await server.stop()
    // The caller's choice not to keep its trace holds.
    #expect(spans.map { "\($0.name) \($0.parentSpanId) \($0.kind)" } == ["decide  2"])
    #expect(spans.allSatisfy { $0.traceId != Self.trace })
    let begun = TraceContext()
    let continued = try #require(TraceContext(traceparent: begun.traceparent))
    #expect(continued.trace == begun.trace && continued.parent == begun.span)
    #expect(continued.isSampled)
    #expect((0..<1000).allSatisfy { _ in TraceContext.oneIn(0) == nil })
  }

  /// Goal: whoever answers with a redirect does not choose where spans go.
  @Test(arguments: [301, 302, 303, 307, 308])
  func `Spans follow no redirect, and the log says to give the address itself`(
    status: Int
  ) async throws {
    let other = try Collector(status: 200)
    let target = "http://127.0.0.1:\(other.port)/v1/role"
    let first = try Collector(status: status, location: target)
    let url = "http://127.0.0.1:\(first.port)"
    let lines = Mutex<[String]>([])
    let logger = Logger(label: "test") { _ in
      Lines(lines: { line in lines.withLock { $0.append(line) } })
    }
    let words = "redirects to \(target): give the address itself"

    let exporter = SpanExporter(url, authority: nil, logger)
    let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.parent)-01"))
    exporter.add(.init(context, .server, "decide", app: "a", status: 200, .zero), of: context)
    let running = Task { try await exporter.run() }
    while !lines.withLock({ $0 }).contains(where: { $0.contains(words) }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    running.cancel()
    _ = try? await running.value
    #expect(first.requestCount > 0)
    #expect(other.requestCount == 0)
  }

  @Test func `What a collector refuses, and what does not fit, is counted`() async throws {
    let collector = try Collector(status: 500)
    let server = try await TestServer.start(
      ["--otlp", "http://127.0.0.1:\(collector.port)/v1/traces"])
    _ = try await server.post("/v1/decide", TestServer.message, fields("01"))
    var metrics = ""
    while !metrics.contains("\npush_fanout_spans_dropped_total 1\n") {
      metrics = try await server.get("/metrics").text
    }
    #expect(metrics.contains("\npush_fanout_spans_total 0\n"))
    try await server.stop()

    let exporter = SpanExporter(
      "http://127.0.0.1:1/", authority: nil, server.server.apps.front.logger, limit: 3)
    let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.parent)-01"))
    for _ in 0..<5 {
      exporter.add(.init(context, .server, "decide", app: "a", status: 200, .zero), of: context)
    }
    var text = MetricsText()
    exporter.addMetrics(to: &text)
    #expect(text.text.contains("\npush_fanout_spans_dropped_total 2\n"))
  }
}

/// Hands on what is logged.
private struct Lines: LogHandler {
  let lines: @Sendable (String) -> Void
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines("\(event.message) \(event.metadata ?? [:])") }
}
