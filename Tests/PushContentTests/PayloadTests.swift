import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushContent

/// Goal: a payload is JSON of at most 4,096 bytes with all ids, or its recipient is told apart; and
/// nobody goes without one.
@Suite struct PayloadTests {
  private static let bodies = [
    "plain": String(repeating: "abcdefghi ", count: 1000),
    "Chinese": String(repeating: "今天晚上八点开会", count: 430),
    "Arabic": String(repeating: "مرحبا ", count: 1000),
    "families": String(repeating: "👨‍👩‍👧‍👦", count: 400),
    "combining": String(repeating: "e\u{301}\u{323}", count: 2000),
    "quotes": String(repeating: "\"\\\u{1}", count: 3400),
    "flags": String(repeating: "🇨🇳🇩🇪", count: 640),
  ]

  /// Bodies of 10 kB: as much of them is kept as has room, whole characters alone.
  @Test(arguments: bodies.keys.sorted())
  func longBodiesAreShortened(_ name: String) throws {
    let body = Self.bodies[name]!
    #expect(body.utf8.count >= 10_000)
    var content = MessageContent()
    content.apns.content = body
    content.apns.extra = .object(["k": .string("v")])
    let push = try render(content)
    let (alert, json) = try (push.alert(), push.json())
    let shown = try #require(alert["body"])
    #expect(push.isShortened && push.problem == nil)
    #expect(push.payload.count <= APNsPayload.byteLimit)
    #expect(shown.hasSuffix("…"))
    let (characters, kept) = (Array(body), Array(shown.dropLast()))
    #expect(characters.starts(with: kept))
    // The next character would have had no room.
    var next: [UInt8] = []
    next.appendJSONCharacters(String(characters[kept.count]))
    #expect(push.payload.count + next.count > APNsPayload.byteLimit)
    #expect(json["t"] as? String == "u1" && json["f"] as? String == "u9")
    #expect(json["g"] as? String == "g1" && json["m"] as? String == "m1")
    #expect(json["e"] as? [String: String] == ["k": "v"])
  }

  /// The last byte that has room, and the first that has none.
  @Test func theLimitIsExact() throws {
    var content = MessageContent()
    content.apns.content = "x"
    let overhead = try render(content).payload.count - 1
    for (size, isShortened) in [(APNsPayload.byteLimit, false), (APNsPayload.byteLimit + 1, true)] {
      content.apns.content = String(repeating: "x", count: size - overhead)
      let push = try render(content)
      #expect(push.isShortened == isShortened)
      #expect(push.payload.count == APNsPayload.byteLimit)
    }
  }

  /// Recipients whose ids differ in length have room for bodies of different length.
  @Test func theBodyIsShortenedForEachRecipient() throws {
    var content = MessageContent()
    content.apns.content = String(repeating: "x", count: 5000)
    let recipients = (1...40).map { Identifier(String(repeating: "u", count: $0)) } + ["\"", "1"]
    let pushes = ContentRenderer(rules: .easemob).render(
      Message(id: "m1", conversation: "g1", at: .zero), content, for: recipients)
    #expect(pushes.map(\.payload.count) == Array(repeating: 4096, count: recipients.count))
    let ids = try pushes.map { try $0.json()["t"] as? String }
    #expect(ids == recipients.map(\.text))
  }

  enum TooLarge: String, CaseIterable, Sendable { case title, extra, sound, subtitle }

  /// What cannot have room is said, and the plainest words come instead, with the ids.
  @Test(arguments: TooLarge.allCases)
  func whatHasNoRoomIsReplaced(_ part: TooLarge) throws {
    let long = String(repeating: "x", count: 5000)
    var content = MessageContent(text: "secret")
    switch part {
    case .title: content.apns.title = long
    case .extra: content.apns.extra = .string(long)
    case .sound: content.apns.sound = long
    case .subtitle: content.apns.subtitle = long
    }
    let push = try render(content)
    guard case .payloadTooLarge(let bytes) = push.problem else {
      Issue.record("no problem: \(push.text.prefix(100))")
      return
    }
    #expect(bytes > 5000)
    #expect(
      push.text
        == #"{"aps":{"alert":{"title":"您有一条新消息","body":"请点击查看"},"badge":1,"#
        + #""sound":"default"},"f":"u9","t":"u1","g":"g1","m":"m1"}"#)
  }

  /// What is reported is more than the limit, by as much as is to be cut: with "…" as the body, or the
  /// body itself when that is shorter.
  @Test func whatIsReportedCountsTheShortestBody() throws {
    var content = MessageContent()
    let size = { (body: String, extra: Int) -> RenderedPush in
      content.apns.content = body
      content.apns.extra = .string(String(repeating: "x", count: extra))
      return try render(content)
    }
    let beside = try size("x", 0).payload.count - 1
    let found = try ["x", "xyz", "a body"].map { body in
      try (APNsPayload.byteLimit - 4...APNsPayload.byteLimit + 1).map { total in
        let push = try size(body, total - beside)
        return push.problem.map { "\($0)" } ?? "\(push.payload.count)"
      }
    }
    let tooLarge = (4097...4100).map {
      "the payload has \($0) bytes with the shortest body, of at most 4096"
    }
    #expect(
      found == [
        ["4093", "4094", "4095", "4096"] + tooLarge.prefix(2), ["4095", "4096"] + tooLarge,
        ["4096", "4096"] + tooLarge,
      ])
  }

  /// What the sender says beside the words stays when they are replaced: the badge, the flags, and
  /// of sound, category and thread as many as have room, the longest being left out first.
  @Test func whatIsBesideTheWordsStays() throws {
    let long = String(repeating: "x", count: 5000)
    var content = MessageContent(text: "secret")
    content.apns.badge = 0
    content.apns.sound = ""
    content.apns.isMutable = true
    content.apns.isContentAvailable = true
    content.apns.category = "c"
    content.apns.threadID = "th"
    var found: [String] = []
    let add = { (change: (inout MessageContent.APNsExtension) -> Void, user: Identifier) in
      var content = content
      change(&content.apns)
      let push = try render(content, to: user)
      #expect(push.problem != nil)
      found.append(push.text)
    }
    try add({ $0.title = long }, "u1")
    try add({ $0.sound = long }, "u1")
    try add({ ($0.sound, $0.threadID) = (long, long + "x") }, "u1")
    try add({ ($0.category, $0.threadID) = (long, long) }, "u1")
    try add({ _ in }, Identifier(long))
    try add({ $0.category = long }, Identifier(long))
    let start = #"{"aps":{"alert":{"title":"您有一条新消息","body":"请点击查看"},"badge":0,"sound":"#
    let flags = #","mutable-content":1,"content-available":1"#
    let ids = #"},"f":"u9","t":"u1","g":"g1","m":"m1"}"#
    let (category, thread) = (#","category":"c""#, #","thread-id":"th""#)
    #expect(
      found == [
        start + #""""# + flags + category + thread + ids,
        start + #""default""# + flags + category + thread + ids,
        start + #""default""# + flags + category + ids,
        start + #""""# + flags + ids,
        start + #""""# + flags + category + thread + "}}",
        start + #""""# + flags + thread + "}}",
      ])
  }

  /// Even an id without end does not take the push from anybody.
  @Test func idsWithoutEndAreLeftOut() throws {
    let push = try render(
      MessageContent(text: "text"), to: Identifier(String(repeating: "u", count: 9000)))
    #expect(push.problem != nil)
    #expect(
      push.text
        == #"{"aps":{"alert":{"title":"您有一条新消息","body":"请点击查看"},"badge":1,"#
        + #""sound":"default"}}"#)
  }

  /// Many recipients whose payload has no room, among others whose has.
  @Test func aProblemIsOneRecipients() throws {
    var content = MessageContent()
    content.apns.extra = .string(String(repeating: "x", count: 3800))
    let recipients = (0..<10_000).map {
      Identifier(String(repeating: "u", count: $0 % 7 == 0 ? 300 : 3) + "\($0)")
    }
    let pushes = ContentRenderer(rules: .easemob).render(
      Message(id: "m1", conversation: "g1", at: .zero), content, for: recipients)
    let (found, expected) = (
      pushes.filter { $0.problem != nil }.map(\.recipient),
      recipients.filter { $0.text.utf8.count > 300 }
    )
    #expect(found == expected)
    #expect(pushes.count == recipients.count)
    #expect(pushes.allSatisfy { $0.payload.count <= APNsPayload.byteLimit })
  }

  /// The same gives the same bytes, however many threads there are and whoever came before.
  @Test func bytesAreStable() throws {
    var random = SeededGenerator(seed: 7)
    var directory = ContentDirectory()
    let people = (0..<9_000).map { Identifier("user\($0)") }
    for (number, person) in people.enumerated() where number % 3 != 0 {
      var display = RecipientDisplay()
      display.style = number % 2 == 0 ? .messageSummary : nil
      display.offlineMessages = UInt32(number % 120)
      if number % 5 == 0 { display.template = "t\(number % 4)" }
      if number % 7 == 0 { display.remarks = ["u9": "remark \(number)"] }
      if number % 11 == 0 { display.language = LanguageTag("fr") }
      directory.setUser(person, display)
    }
    var content = MessageContent(text: "text")
    content.translations = [LanguageTag("fr")!: "texte"]
    let catalog = try TemplateCatalog([
      PushTemplate(name: "t0", title: "", content: "{$dynamicFrom} {$msg}"),
      PushTemplate(name: "t1", title: "{$fromNickname}", content: "x"),
    ])
    let renderer = ContentRenderer(rules: .easemob, templates: catalog, directory: directory)
    let message = Message(id: "m1", conversation: "g1", at: .zero, sender: "u9")
    let one = renderer.render(message, content, for: people, threads: 1).map(\.text)
    let many = renderer.render(message, content, for: people, threads: 4).map(\.text)
    #expect(one == many)
    let shuffled = people.shuffled(using: &random)
    let again = renderer.render(message, content, for: shuffled)
    let byID = Dictionary(uniqueKeysWithValues: again.map { ($0.recipient, $0.text) })
    #expect(people.map { byID[$0] ?? "" } == one)
    let alone = people.prefix(500).map { renderer.render(message, content, for: [$0])[0].text }
    #expect(alone == Array(one.prefix(500)))
  }

  /// Every character that JSON knows, through another reader of JSON.
  @Test func everyCharacterComesBack() throws {
    let scalars = (0..<0x3000).compactMap { Unicode.Scalar($0) }
    for start in stride(from: 0, to: scalars.count, by: 400) {
      let text = String(String.UnicodeScalarView(scalars[start..<min(start + 400, scalars.count)]))
      var content = MessageContent()
      content.apns.title = "t" + text
      content.apns.content = "b"
      let push = try render(content, to: Identifier("u" + text))
      let (alert, json) = try (push.alert(), push.json())
      #expect(Array(alert["title"]!.unicodeScalars) == Array(("t" + text).unicodeScalars))
      #expect(Array((json["t"] as! String).unicodeScalars) == Array(("u" + text).unicodeScalars))
    }
  }

  @Test func nobodyIsAnEmptyList() {
    let pushes = ContentRenderer(rules: .easemob).render(
      Message(id: "m", conversation: "g", at: .zero), MessageContent(), for: [])
    #expect(pushes.isEmpty)
  }

  /// A local notification has no largest size; its text has.
  @Test func aLocalNotificationHasNoLargestSize() throws {
    let content = MessageContent(text: String(repeating: "x", count: 100_000))
    let push = ContentRenderer(rules: .rongcloud).render(
      Message(id: "m", conversation: "g", at: .zero), content, for: ["u1"], as: .local)[0]
    #expect(push.problem == nil && !push.isShortened)
    #expect(push.content.notes == [.cutOff(.body)])
    let body = try push.json()["alertBody"] as? String
    #expect(body?.utf8.count == LimitedText.byteLimit - 1 + 3)
  }
}
