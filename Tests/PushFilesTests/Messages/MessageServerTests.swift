import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: what servers use, readers and encoders that are used again, gives what files give.
@Suite struct MessageServerTests {
  private func settings(members: Int) -> FanoutSettings {
    var settings = FanoutSettings(app: AppSettings(rules: .easemob))
    for user in 0..<members {
      var member = MemberSettings()
      if user % 3 == 1 { member.level = .mention }
      if user % 3 == 2 { member.level = .blocked }
      settings.setMember(Identifier("u\(user)"), of: user < 5 ? "small" : "large", member)
    }
    return settings
  }

  private static let lines = (0..<20).map { index in
    #"{"id":"m\#(index)","conversation":"\#(index % 2 == 0 ? "small" : "large")","at":\#(index)}"#
  }

  @Test(arguments: [DecisionFormat.ndjson, .csv, .counts, .pushlist])
  func anEncoderWritesWhatAWriterWrites(format: DecisionFormat) throws {
    let engine = try Fanout(settings(members: 4000))
    let text = Array(Self.lines.joined(separator: "\n").utf8)
    let output = OutputBytes()
    let writer = try FanoutWriter(output, format: format, threads: 1)
    let reader = try MessageReader(text, rules: .easemob)
    try writer.write(by: engine) { try reader.next() }
    try writer.finish()

    var encoder = MessageEncoder(format)
    var (bytes, number) = ([UInt8](), 0)
    let again = try MessageReader([], rules: .easemob)
    unsafe text.withUnsafeBytes { unsafe again.restart(ndjson: $0) }
    while let message = try again.next() {
      let result = engine.decide(message)
      var rank: Int? = 0
      while let from = rank {
        rank = encoder.encode(message, number: number, result, from: from, limit: 700)
        bytes += encoder.bytes
        encoder.removeAll()
      }
      number += 1
    }
    let header = format == .csv ? Array(output.bytes.prefix { $0 != 10 }) + [10] : []
    #expect(header + bytes == output.bytes)
  }

  @Test func aReaderBeginsAgain() throws {
    let reader = try MessageReader(Array("{".utf8), rules: .easemob)
    #expect(throws: FileProblem.self) { try reader.next() }
    let long = #"{"id":"\#(String(repeating: "x", count: 3_000_000))","conversation":"g","at":1}"#
    for (text, count) in [
      (Self.lines[0], 1), (Self.lines.joined(separator: "\n") + "\n", 20), (long, 1),
      (Self.lines[1], 1),
    ] {
      let bytes = Array(text.utf8)
      unsafe bytes.withUnsafeBytes { unsafe reader.restart(ndjson: $0) }
      var found = 0
      while try reader.next() != nil { found += 1 }
      #expect(found == count)
      #expect(reader.recordCount == count)
    }
    unsafe reader.restart(ndjson: UnsafeRawBufferPointer(start: nil, count: 0))
    let error = #expect(throws: FileProblem.self) { try reader.next() }
    #expect(error?.problem == .isEmpty)
  }

  @Test func theLargestConversationsComeFirst() throws {
    let version = try Fanout(settings(members: 100)).currentVersion
    #expect(version.largestConversations(2) == ["large", "small"])
    #expect(version.largestConversations(1) == ["large"])
    #expect(try Fanout(FanoutSettings()).currentVersion.largestConversations(5) == [])
  }
}
