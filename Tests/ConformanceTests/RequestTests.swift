import Foundation
import PushContent
import PushModel
import PushService
import TestSupport
import Testing

@testable import PushFiles

/// Goal: requests to providers are those of the published cases, to the byte, and so is what a sender
/// does with answers.
@Suite struct RequestTests {
  /// A line of `request-vectors.ndjson`: the JSON text of each member.
  private struct Vector {
    let members: [String: [UInt8]]

    init(_ line: Substring) throws {
      members = try JSONObject.parse(Array(line.utf8)) { (value, parser) in
        var members: [String: [UInt8]] = [:]
        for (key, value) in value.fields { members[key.text] = parser.raw(value).bytes }
        return members
      }
    }

    func text(_ name: String) -> String? {
      members[name].map { String(decoding: $0, as: UTF8.self) }
    }

    func json(_ name: String) throws -> Any? {
      try members[name].map {
        try JSONSerialization.jsonObject(with: Data($0), options: .fragmentsAllowed)
      }
    }

    func service() throws -> FanoutService {
      try FanoutService(
        ndjson: try #require(members["settings"]), templates: members["templates"], threads: 1)
    }
  }

  private static func vectors(with name: String) throws -> [Vector] {
    let file = Repository.root.appending(path: "Tests/ConformanceTests/request-vectors.ndjson")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { try Vector($0) }.filter { $0.members[name] != nil }
  }

  @Test func requestsAreThoseOfTheCases() throws {
    let vectors = try Self.vectors(with: "expect")
    #expect(vectors.count == 46)
    for vector in vectors {
      let service = try vector.service()
      let senders = try SenderReader.load(
        try #require(vector.members["senders"]), rules: service.app.rules)
      let platforms = try #require(vector.json("platform") as? [String])
      let lines = String(
        decoding: try service.requests(
          ndjson: try #require(vector.members["messages"]), by: senders,
          for: Set(platforms.compactMap { PushPlatform(rawValue: $0) }),
          sharesBodies: vector.text("share") == "true"), as: UTF8.self)
      let found = "[" + lines.split(separator: "\n").joined(separator: ",") + "]"
      #expect(found == vector.text("expect"), "\(vector.text("id") ?? "")")
      #expect(lines.contains(#""problem":"#) == (vector.text("exit") == "1"))
    }
  }

  @Test func sendersAreRefused() throws {
    let vectors = try Self.vectors(with: "refused")
    #expect(vectors.count == 9)
    for vector in vectors {
      let rules = try vector.service().app.rules
      #expect(throws: FileProblem.self, "\(vector.text("id") ?? "")") {
        try SenderReader.load(try #require(vector.members["senders"]), rules: rules)
      }
    }
  }

  @Test func answersMeanWhatTheTableSays() throws {
    let vectors = try Self.vectors(with: "answers")
    let answers = try vectors.flatMap { try #require($0.json("answers") as? [[String: Any]]) }
    #expect(answers.count == 32)
    for answer in answers {
      let name = try #require(answer["platform"] as? String)
      let platform = try #require(PushPlatform(rawValue: name))
      let (reason, message) = (answer["reason"] as? String, answer["message"] as? String)
      let status = answer["status"] as? Int
      let expected = answer["action"] as? String
      let plain = ProviderAnswer(platform, status: status, reason: reason, message: message)
      #expect(plain.action.rawValue == expected, "\(answer)")
      // As the providers write it, with the reason where it is looked for first, and else.
      let bodies: [[String: Any]] =
        platform == .apns
        ? [["reason": reason ?? "", "timestamp": 5]]
        : [
          ["error": ["status": reason ?? "", "message": message ?? ""]],
          [
            "error": [
              "status": "OTHER", "message": message ?? "",
              "details": [1, ["errorCode": reason ?? ""]],
            ]
          ],
        ]
      for body in bodies {
        let bytes = try JSONSerialization.data(withJSONObject: body)
        let read = ProviderAnswer(platform, status: status, body: Array(bytes))
        #expect(read.action.rawValue == expected, "\(body)")
        #expect(read.timestamp?.milliseconds == (platform == .apns ? 5 : nil))
      }
    }
    for body in ["", "<html>", "[]", #"{"error":1,"reason":2}"#] {
      let read = ProviderAnswer(.fcm, status: 404, body: Array(body.utf8))
      #expect(read == ProviderAnswer(.fcm, status: 404))
    }
  }

  /// S-70.
  @Test func aTokenThatWasRegisteredLaterStays() {
    let instant = { (time: Int64) in Instant(milliseconds: time) }
    let gone = ProviderAnswer(.apns, status: 410, timestamp: instant(100))
    #expect(
      [99, 100, 101].map { gone.forgetsToken(registeredAt: instant($0)) } == [true, true, false])
    #expect(gone.forgetsToken(registeredAt: nil))
    #expect(!ProviderAnswer(.apns, status: 400).forgetsToken(registeredAt: nil))
  }

  /// S-71.
  @Test func delaysDoubleUpToALimit() {
    let apns = ProviderAnswer(.apns, status: 503, reason: "Shutdown")
    #expect(
      [1, 2, 6, 7, 99].map { apns.delay(after: $0, random: 0) }
        == [1, 2, 32, 60, 60].map { $0 * 1_000 })
    #expect(apns.delay(after: 1, random: 0.5) == 1_250 && apns.needsNewConnection)
    let fcm = ProviderAnswer(.fcm, status: 503)
    #expect(
      [1, 9, 10, 99].map { fcm.delay(after: $0, random: 0) }
        == [10, 2_560, 3_600, 3_600].map { $0 * 1_000 })
    #expect(!fcm.needsNewConnection)
    #expect(ProviderAnswer(.fcm, status: 429).delay(after: 1, random: 0) == 60_000)
    #expect(ProviderAnswer(.fcm, status: 429, retryAfter: 7).delay(after: 1, random: 0) == 10_000)
    #expect(ProviderAnswer(.apns, status: 429, retryAfter: 7).delay(after: 1, random: 0) == 7_000)
  }

  /// S-72.
  @Test func nothingIsTriedAfterItsExpiry() {
    let now = Instant(milliseconds: 1_000_000)
    let busy = ProviderAnswer(.apns, status: 500)
    func next(_ answer: ProviderAnswer, _ expiry: Int64?, surely: Bool = false) -> Int64? {
      answer.nextAttempt(
        after: 1, at: now, expiry: expiry.map { Instant(milliseconds: $0) }, random: 0,
        isSurelyNotTaken: surely)?.milliseconds
    }
    #expect(next(busy, 1_001_000) == 1_001_000)
    #expect(next(busy, 1_000_999) == nil)
    #expect(next(busy, nil) == 1_001_000)
    #expect(next(ProviderAnswer(.apns), nil) == nil)
    #expect(next(ProviderAnswer(.apns), nil, surely: true) == 1_001_000)
    #expect(next(ProviderAnswer(.apns), 2_000_000) == 1_001_000)
    #expect(next(ProviderAnswer(.fcm, status: 401), 1_000_000) == 1_000_000)
    #expect(next(ProviderAnswer(.fcm, status: 400), 2_000_000) == nil)
  }
}
