import PushModel
import TestSupport
import Testing

@testable import PushContent

/// Goal: a stream gives what rendering all at once gives, and has little in memory at a time.
@Suite struct StreamTests {
  private static let message = Message(id: "m1", conversation: "g1", at: .zero, sender: "u9")

  private static func people(_ count: Int) -> [Identifier] {
    (0..<count).map { Identifier("user\($0)") }
  }

  /// Everybody wants a summary and has a remark of their own.
  private static func directory(_ people: [Identifier]) -> ContentDirectory {
    var directory = ContentDirectory()
    for (number, person) in people.enumerated() {
      var display = RecipientDisplay()
      display.style = .messageSummary
      display.offlineMessages = UInt32(number % 120)
      display.remarks = ["u9": "remark \(number)"]
      directory.setUser(person, display)
    }
    return directory
  }

  @Test(.tags(.slow), .unlessFast, arguments: [nil, 1, 3, 40])
  func aStreamGivesTheSame(_ threads: Int?) {
    let people = Self.people(40_000)
    let renderer = ContentRenderer(
      rules: .easemob, directory: Self.directory(Array(people.prefix(8_000))))
    for text in ["text", String(repeating: "x", count: 10_000)] {
      let content = MessageContent(text: text)
      let some = text == "text" ? people : Array(people[7_500..<8_500])
      var single = renderer.renderer(of: Self.message, content)
      let all = some.map { single.render($0).text }
      let stream = renderer.stream(Self.message, content, for: some, threads: threads)
      let streamed = stream.map(\.text)
      #expect(streamed == all)
      let recipients = stream.map(\.recipient)
      #expect(recipients == some)
    }
    var nobody = renderer.stream(Self.message, MessageContent(), for: [], threads: threads)
    #expect(nobody.next() == nil)
  }

  /// Words of 65 kB for each of 1,000 are 130 MB with their payloads: a stream has a part of them at a
  /// time, also when nobody before them had such words.
  @Test func largeWordsAreFewAtATime() {
    let people = Self.people(20_000)
    let renderer = ContentRenderer(
      rules: .easemob, directory: Self.directory(Array(people.suffix(1_000))))
    let content = MessageContent(text: String(repeating: "text ", count: 200_000))
    var stream = renderer.stream(Self.message, content, for: people, threads: 2)
    var (count, largest, bodies) = (0, 0, 0)
    while let push = stream.next() {
      count += 1
      if push.content.body.utf8.count > 60_000 { bodies += 1 }
      if count % 64 == 0 { largest = max(largest, stream.byteCount) }
    }
    #expect([count, bodies] == [20_000, 1_000])
    #expect(largest > 1 << 20 && largest < 16 << 20)
  }

  /// A local notification has no largest size, so few of them are there at a time.
  @Test func largePayloadsAreFewAtATime() {
    var content = MessageContent(text: "text")
    content.objectName = String(repeating: "o", count: 1_000_000)
    var stream = ContentRenderer(rules: .rongcloud).stream(
      Self.message, content, for: Self.people(120), as: .local, threads: 2)
    var (count, largest, bytes) = (0, 0, 0)
    while let push = stream.next() {
      count += 1
      bytes += push.payload.count
      largest = max(largest, stream.byteCount)
    }
    #expect(count == 120 && bytes > 120_000_000)
    #expect(largest < 16 << 20)
  }

  /// A megabyte of text is not put together with a name before it is cut off.
  @Test(arguments: ["n", String(repeating: "é", count: 40_000)])
  func aSummaryEndsAtTheLimit(_ name: String) throws {
    let text = String(repeating: "text ", count: 200_000)
    let push = try render(MessageContent(text: text)) { directory in
      var display = RecipientDisplay()
      display.style = .messageSummary
      display.remarks = ["u9": name]
      directory.setUser("u1", display)
    }
    let whole = "\(name): \(text)"
    var limited = LimitedText()
    limited.append(whole)
    let expected = limited.text.text
    #expect(push.content.body == expected)
    #expect(push.content.notes == [.cutOff(.body)])
  }
}
