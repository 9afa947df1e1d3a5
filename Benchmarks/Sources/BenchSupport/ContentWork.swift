import PushContent
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
