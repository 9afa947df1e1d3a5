import Foundation
import PushFanout
import PushFiles
import PushModel
import PushService
import Testing

@testable import PushServer

/// Goal: what the decision log has of a message decides as the message did, and has none of its
/// words; it has bounds, and what it does not take is counted.
@Suite struct DecisionLogTests {
  private static let ndjson = ["Content-Type": "application/x-ndjson"]

  private static func lines(_ path: String) throws -> [Substring] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
  }

  @Test func `The log decides as the messages did, without their words`() async throws {
    let folder = try TestServer.temporaryFolder()
    let path = folder.appending(path: "decisions.ndjson").path
    let server = try await TestServer.start(["--decision-log", path], in: folder)
    let messages = [
      #"{"id":"m1","conversation":"g1","at":1717400000000,"sender":"u9","text":"secret"}"#,
      #"{"id":"m2","conversation":"g1","at":1717400000001,"mentions":["u2"],"force":true}"#,
      #"{"id":"m\"\\é","conversation":"g1","at":1717400000002,"mentionsAll":true,"silent":false,"sentAt":1717300000000}"#,
      #"{"id":"m4","conversation":"g1","at":1717400000003,"ext":{"em_at_list":["u2",5],"em_force_notification":"YES","other":"secret","em_apns_ext":{"em_at_list":"ALL","em_push_title":"secret"},"em_push_filter":{"ignore_device_id":["d1"]}}}"#,
      #"{"id":"m5","conversation":"g1","at":1717400000004,"body":"command","onlineOnly":true,"filter":{"accept_notifier_name":["n"]}}"#,
      #"{"id":"m6","conversation":"g1","at":1717400000005,"ext":{"em_at_list":{},"em_ignore_notification":1}}"#,
    ]
    let body = messages.joined(separator: "\n")
    let counts = try await server.post("/v1/decide?format=counts", body, Self.ndjson)
    let rows = try await server.post("/v1/decide?format=rows", body, Self.ndjson)
    await server.end()
    let lines = try Self.lines(path)
    #expect(lines.count == 12)
    #expect(!lines.joined().contains("secret"))
    let service = try FanoutService(ndjson: Array(TestServer.settings.utf8))
    let log = Array(lines.prefix(6).joined(separator: "\n").utf8)
    #expect(
      try String(decoding: service.decide(ndjson: log, as: .counts), as: UTF8.self) == counts.text)
    #expect(
      try String(decoding: service.decide(ndjson: log, as: .ndjson), as: UTF8.self) == rows.text)
    // Each line has what was decided, and by which settings.
    let first = try #require(
      try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
    let decision = try #require(first["decision"] as? [String: Any])
    #expect(
      decision["counts"] as? [String: Int]
        == ["push/allowed/default": 1, "none/notMentioned/conversation": 1])
    #expect((decision["settings"] as? String)?.hasSuffix(":1") == true)
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `RongCloud's fields are in the log`() async throws {
    let folder = try TestServer.temporaryFolder()
    let path = folder.appending(path: "decisions.ndjson").path
    let settings = """
      {"kind":"app","rules":"rongcloud"}
      {"kind":"conversation","id":"g1","type":"ultraGroup","channels":{"c1":"none"}}
      {"kind":"member","conversation":"g1","user":"u1"}
      """
    let server = try await TestServer.start(
      ["--decision-log", path], settings: settings, in: folder)
    let messages = """
      {"id":"m1","conversation":"g1","at":5,"channel":"c1","isMentioned":false,"mentions":["u1"]}
      {"id":"m2","conversation":"g1","at":5,"body":"custom","pushContent":"secret","backlog":true}
      {"id":"m3","conversation":"g1","at":5,"body":"custom","persisted":false}
      """
    let counts = try await server.post("/v1/decide?format=counts", messages, Self.ndjson)
    await server.end()
    let lines = try Self.lines(path)
    #expect(!lines.joined().contains("secret"))
    let service = try FanoutService(ndjson: Array(settings.utf8))
    let again = try service.decide(
      ndjson: Array(lines.joined(separator: "\n").utf8), as: .counts)
    #expect(String(decoding: again, as: UTF8.self) == counts.text)
    try FileManager.default.removeItem(at: folder)
  }

  @Test func `The log is a sample, and has bounds`() throws {
    let folder = try TestServer.temporaryFolder()
    let path = folder.appending(path: "decisions.ndjson").path
    let service = try FanoutService(ndjson: Array(TestServer.settings.utf8))
    let message = Message(id: "m", conversation: "g1", at: Instant(milliseconds: 5))
    let result = service.engine.decide(message)
    let sample = try DecisionLog(path, oneIn: 10, fileLimit: 1 << 20)
    for _ in 0..<100 { sample.note(message, result, settings: "e:1") }
    sample.flush()
    #expect(try Self.lines(path).count == 10)
    let size = try Self.lines(path)[0].utf8.count + 1

    // Files: at most two, of so many bytes each.
    let small = try DecisionLog(path, oneIn: 1, fileLimit: 30 * size)
    for _ in 0..<100 {
      small.note(message, result, settings: "e:1")
      small.flush()
    }
    #expect(try Self.lines(path).count == 20)
    #expect(try Self.lines(path + ".1").count == 30)
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
        == ["decisions.ndjson", "decisions.ndjson.1"])

    // What does not fit into memory, or cannot be written, is counted.
    let narrow = try DecisionLog(path, oneIn: 1, fileLimit: 1 << 20, bufferLimit: size - 1)
    for _ in 0..<7 { narrow.note(message, result, settings: "e:1") }
    narrow.flush()
    var metrics = MetricsText()
    narrow.addMetrics(to: &metrics)
    #expect(metrics.text.contains("\npush_fanout_decision_log_dropped_total 7\n"))
    #expect(metrics.text.contains("\npush_fanout_decision_log_lines_total 0\n"))
    #expect(throws: OptionError.self) {
      _ = try DecisionLog(folder.path + "/none/log", oneIn: 1, fileLimit: 1 << 20)
    }
    try FileManager.default.removeItem(at: folder)
  }
}
