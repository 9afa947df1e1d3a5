import PushContent
import PushFiles
import PushModel

extension Work {
  /// What a message's pushes say, from the recipients to every byte of every payload: one template
  /// for all; eight looks, and badges of their own; a remark of each recipient; a body of 10 kB.
  static let content = [
    render("shared", people: .unknown),
    render("looks", people: .looks),
    render("remarks", people: .remarks),
    render("long", people: .unknown, bodyBytes: 10_000),
  ]

  /// Lines of the pushes of one message, to /dev/null: those of `render`, those of requests to Apple,
  /// with a body in each or shared, and a loop that copies the lines of requests. One template for
  /// all; a remark of each recipient; a group of RongCloud's, in which bodies are equal.
  static let requests = [
    ("shared", RuleSet.easemob, People.unknown), ("remarks", .easemob, .remarks),
    ("group", .rongcloud, .unknown),
  ].flatMap { (name, rules, people) in
    LineKind.allCases.map { lines("requests.\(name).\($0)", $0, rules, people) }
  }

  private enum LineKind: CaseIterable {
    case payloads, requests, sharing, copies
  }

  private static func lines(
    _ name: String, _ kind: LineKind, _ rules: RuleSet, _ people: People
  ) -> Work {
    Work(name, unit: "line") { stages in
      let count = min(100_000, stages.scale.largestGroup)
      let users = (0..<count).map { BenchWorld.userID($0 * 7) }
      var directory = directory(users, people)
      for user in users {
        let token = String(repeating: "8f3c0a91", count: 8)
        let address = must { try DeviceAddress(platform: .apns, token: token) }
        directory.setDevices([Device(id: "p1", address: address)], of: user)
      }
      let renderer = ContentRenderer(
        rules: rules, templates: rules == .easemob ? templates : TemplateCatalog(),
        directory: directory)
      let message = Message(
        id: "1234567890123456789", conversation: "g1", at: Instant(milliseconds: 1_717_416_000_000),
        sender: "sender")
      var content = MessageContent(text: "See you at eight, and bring the maps.")
      content.template.name = people == .unknown && rules == .easemob ? "shared" : nil
      let senders = must {
        try SenderReader.load(
          Array(#"{"kind":"sender","platform":"apns","topic":"com.example.chat"}"#.utf8),
          rules: rules)
      }
      let targets = users.map {
        PushTarget(user: $0, device: "p1", isForced: false, isMentioned: false)
      }
      let output = must { try OutputFile(path: "/dev/null") }
      let requests = {
        renderer.requests(
          of: message, content, to: targets, by: senders, for: [.apns],
          in: AppSettings(rules: rules), threads: 1)
      }
      switch kind {
      case .payloads:
        let writer = PayloadWriter(output)
        return Prepared(units: count) {
          writer.begin(message)
          for push in renderer.stream(message, content, for: users, threads: 1) {
            must { try writer.write(push, .push) }
          }
        }
      case .requests, .sharing:
        let writer = RequestWriter(output, sharesBodies: kind == .sharing)
        return Prepared(units: count) {
          writer.begin(message)
          for request in requests() { must { try writer.write(request) } }
        }
      case .copies:
        let bytes = OutputBytes()
        let writer = RequestWriter(bytes)
        writer.begin(message)
        for request in requests() { must { try writer.write(request) } }
        let lines = bytes.bytes.split(separator: UInt8(ascii: "\n"))
        require(lines.count == count, "\(lines.count) requests")
        return Prepared(units: count) {
          var row: [UInt8] = []
          for line in lines {
            row.removeAll(keepingCapacity: true)
            row.append(contentsOf: line)
            row.append(UInt8(ascii: "\n"))
            must { try output.write(row) }
          }
        }
      }
    }
  }

  private enum People: Sendable {
    /// Nobody has set anything.
    case unknown
    /// Styles, languages and templates, and a badge for each.
    case looks
    /// Everybody calls the sender otherwise.
    case remarks
  }

  private static func render(
    _ name: String, people: People, bodyBytes: Int = 0
  ) -> Work {
    Work("content.\(name)", unit: "payload") { stages in
      let count = min(100_000, stages.scale.largestGroup)
      let users = (0..<count).map { BenchWorld.userID($0 * 7) }
      let renderer = ContentRenderer(
        rules: .easemob, templates: templates, directory: directory(users, people))
      let message = Message(
        id: "1234567890123456789", conversation: "g1", at: .zero, sender: "sender")
      var content = MessageContent(text: "See you at eight, and bring the maps.")
      content.template.name = people == .unknown && bodyBytes == 0 ? "shared" : nil
      if bodyBytes > 0 {
        content.apns.content = String(repeating: "今天晚上八点开会 ", count: bodyBytes / 25)
      }
      check(renderer, message, content, users)
      return Prepared(units: count) { keep(bytes(renderer, message, content, users)) }
    }
  }

  /// Puts every payload together, each where the one before was.
  private static func bytes(
    _ renderer: ContentRenderer, _ message: Message, _ content: MessageContent,
    _ users: [Identifier]
  ) -> Int {
    var pushes = renderer.renderer(of: message, content)
    var bytes: [UInt8] = []
    var sum = 0
    for user in users {
      bytes.removeAll(keepingCapacity: true)
      pushes.append(user, to: &bytes)
      sum &+= bytes.count
    }
    return sum
  }

  private static let templates: TemplateCatalog = must {
    try TemplateCatalog([
      PushTemplate(name: "shared", title: "{$fromNickname}", content: "{$dynamicFrom}: {$msg}"),
      PushTemplate(name: "detail", title: "", content: "{$dynamicFrom}: {$msg}"),
    ])
  }

  private static func directory(_ users: [Identifier], _ people: People) -> ContentDirectory {
    var directory = ContentDirectory()
    if people == .unknown { return directory }
    for (number, user) in users.enumerated() {
      var display = RecipientDisplay()
      display.style = number & 1 == 0 ? .messageSummary : .simpleBanner
      display.language = number & 2 == 0 ? LanguageTag("fr") : nil
      display.template = number & 4 == 0 ? "shared" : nil
      display.offlineMessages = UInt32(number % 30)
      if people == .remarks { display.remarks = ["sender": "remark \(number)"] }
      directory.setUser(user, display)
    }
    return directory
  }

  /// One at a time, in batches, on one thread and on two: the same bytes, and ids where they belong.
  private static func check(
    _ renderer: ContentRenderer, _ message: Message, _ content: MessageContent,
    _ users: [Identifier]
  ) {
    let some = Array(users.prefix(5_000))
    let one = Array(renderer.stream(message, content, for: some, threads: 1))
    let two = Array(renderer.stream(message, content, for: some, threads: 2))
    var single = renderer.renderer(of: message, content)
    for (place, user) in some.enumerated() {
      let payload = Array(single.render(user).payload)
      require(payload == Array(one[place].payload), "\(user): another payload in a batch")
      require(payload == Array(two[place].payload), "\(user): another payload on two threads")
      require(
        String(decoding: payload, as: UTF8.self).contains("\"t\":\"\(user)\""),
        "\(user): not in the payload")
    }
  }
}
