import BenchSupport
import PushFanout
import PushModel
import PushReference
import PushWorkload

extension OpenSuite {
  private static let keywordCount = 10
  private static let holders = 200

  /// Every user has ten keywords, each of which about two hundred have: messages with texts beside the
  /// same without, all at one instant.
  func keywords() -> [Line] {
    let words = WordList(count: max(50, users * Self.keywordCount / Self.holders))
    func give(_ user: Int, _ settings: inout UserSettings) {
      var random = Seeded(UInt64(user) &* 7919 &+ 3)
      var own: Set<String> = []
      while own.count < Self.keywordCount { own.insert(words.word(random.below(words.count))) }
      settings.keywords = own.sorted()
    }
    var options = options(.open)
    options.open.threadShare = 0
    options.traffic.messages = max(200, users / 20)
    let world = DayWorld(options, threads: Fanout.coreCount, hasAlone: false, change: give)
    let last = world.messages.map(\.at).max() ?? .zero
    let plain = world.messages.map { message in
      var message = message
      message.at = last
      return message
    }
    var random = Seeded(21)
    let texts = plain.map { message in
      var message = message
      message.text = words.text(bytes: 100 + random.below(200), &random)
      return message
    }
    check(world, texts, give)
    let bytes = texts.reduce(0) { $0 + ($1.text?.utf8.count ?? 0) }
    var (without, with) = (Samples(), Samples())
    let messages = (MessageArray(plain), MessageArray(texts))
    var result = FanoutResult()
    for round in 0...Self.rounds {
      let one = Self.time(world.fanout, messages.0, &result)
      let other = Self.time(world.fanout, messages.1, &result)
      require(one.decisions == other.decisions, "a text changes who is a recipient")
      // The first round warms up.
      if round == 0 { continue }
      without.add(one.seconds)
      with.add(other.seconds)
    }
    let count = Double(plain.count)
    return [
      Line(
        name: "a message without a text, ten keywords a user", value: without.median / count * 1e6,
        unit: "µs"),
      Line(
        name: "the same with \(bytes / plain.count) bytes of text",
        value: with.median / count * 1e6, unit: "µs"),
      Line(
        name: "the same", value: with.median / without.median, unit: "× without"),
    ] + byLength(world, words, last)
  }

  /// Long texts cost in proportion, in a conversation of few members.
  private func byLength(_ world: DayWorld, _ words: WordList, _ at: Instant) -> [Line] {
    guard let room = world.bySize.first?.ids.first else { return [] }
    var lines: [Line] = []
    var first = 0.0
    var random = Seeded(22)
    var result = FanoutResult()
    for kilobytes in [1, 16, 64] {
      let count = 1024 / kilobytes
      let texts = (0..<count).map { number in
        var message = Message(id: Identifier("\(number)"), conversation: room, at: at)
        message.text = words.text(bytes: kilobytes * 1024, &random)
        return message
      }
      let messages = MessageArray(texts)
      var samples = Samples()
      for _ in 0..<Self.rounds { samples.add(Self.time(world.fanout, messages, &result).seconds) }
      let each = samples.median / Double(count * kilobytes * 1024) * 1e9
      if kilobytes == 1 { first = each }
      lines.append(
        Line(
          name: "a text of \(kilobytes) kB", value: each, unit: "ns a byte",
          most: kilobytes == 1 ? nil : 1.5 * first))
    }
    return lines
  }

  /// Compares messages to conversations of up to 500 members with the reference.
  private func check(
    _ world: DayWorld, _ messages: [Message], _ give: (Int, inout UserSettings) -> Void
  ) {
    let chosen = Array(
      messages.filter { world.fanout.memberCount(of: $0.conversation) <= 500 }.prefix(50))
    let settings = world.settings(of: chosen.map(\.conversation), change: give)
    var evaluator = Referee.evaluator(settings)
    for message in chosen {
      let result = world.fanout.decide(message)
      var codes = [UInt8](repeating: 0, count: result.memberCount)
      var span = codes.mutableSpan
      result.writeCodes(into: &span)
      var expected: [Identifier: UInt8] = [:]
      evaluator.decide(message) { expected[settings.id(of: $0)] = $1.outcome.code }
      let recipients = codes.filter { $0 != 0 }
      require(
        recipients.count == expected.count && recipients.sorted() == expected.values.sorted(),
        "the engine answers otherwise than the reference: \(message)")
      let pushed = Set(expected.filter { $0.value & 1 != 0 }.keys)
      require(
        Set(result.pushes.ids) == pushed, "the engine pushes to others than the reference")
    }
  }
}

/// Words in several scripts, and texts of them: every second is nobody's keyword.
struct WordList {
  let count: Int

  private static let stems = ["word", "слово", "كلمة", "शब्द", "wörtchen"]

  func word(_ number: Int) -> String { "\(Self.stems[number % Self.stems.count])\(number)" }

  func text(bytes: Int, _ random: inout Seeded) -> String {
    var text = ""
    while text.utf8.count < bytes { text += word(random.below(2 * count)) + " " }
    return text
  }
}
