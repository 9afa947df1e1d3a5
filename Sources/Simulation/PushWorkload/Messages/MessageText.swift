/// Texts of messages: a few words of a language of the sender's zone, now and then with an emoji.
///
/// They say nothing; they have the scripts and lengths that texts have. Under open rules some have a
/// word that people watch for.
struct MessageText: Sendable {
  private let workload: Workload

  /// A message has another word with this probability; assumed.
  private static let nextWordShare = 0.85
  private static let mostWords = 40
  private static let emojiShare = 0.15

  struct Language: Sendable {
    let words: [[UInt8]]
    /// What is between words: nothing, where a script has no spaces.
    let space: [UInt8]

    init(_ words: String, hasSpaces: Bool = true) {
      self.words = words.split(separator: " ").map { Array($0.utf8) }
      space = hasSpaces ? [UInt8(ascii: " ")] : []
    }
  }

  init(_ workload: Workload) { self.workload = workload }

  /// The number of the language of a zone.
  static func language(ofZone zone: Int) -> Int { languageNumbers[zone] }

  private static let languageNumbers = ZonePopulation.zones.map { zoneLanguages[$0.name] ?? 0 }

  func append(_ message: WorkloadMessage, number: Int, to bytes: inout [UInt8]) {
    var draws = Draws(workload.options.seed, .text, UInt64(number))
    let code = Self.language(ofZone: workload.zones.zone(of: message.sender))
    let language = Self.languages[code]
    var count = 1
    while count < Self.mostWords, draws.isBelow(Self.nextWordShare) { count += 1 }
    for word in 0..<count {
      if word > 0 { bytes.append(contentsOf: language.space) }
      append(language, &draws, to: &bytes)
    }
    if workload.options.hasOpenFacts {
      var words = Draws(workload.options.seed, .word, UInt64(number))
      if words.isBelow(workload.options.open.keywordTextShare) {
        bytes.append(contentsOf: language.space)
        OpenWords.append(code, &words, to: &bytes)
      }
    }
    if draws.isBelow(Self.emojiShare) {
      bytes.append(contentsOf: language.space)
      append(Self.emoji, &draws, to: &bytes)
    }
  }

  private func append(_ list: Language, _ draws: inout Draws, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: list.words[Int(draws.below(UInt64(list.words.count)))])
  }

  // MARK: Words

  static let emoji = Language("😀 😂 👍 🙏 🎉 ❤️ 🔥 😅 👋🏽 👨‍👩‍👧 🇯🇵 ✅")

  /// Latin, Cyrillic, Arabic, Devanagari, Han, kana, Thai.
  static let languages = [
    Language(
      """
      the a to is it that we you can now today here meeting file build test thanks ok please see \
      later maybe who when where good morning run works again done question answer café naïve
      """),
    Language(
      """
      и в не на что это как мы вы сегодня завтра хорошо спасибо пожалуйста вопрос ответ работа \
      где когда снова готово да нет привет
      """),
    Language(
      """
      في من على هذا نحن أنت اليوم غدا شكرا نعم لا سؤال جواب عمل متى أين مرحبا جيد الآن مرة أخرى
      """),
    Language(
      """
      है में और यह हम आप आज कल धन्यवाद हाँ नहीं सवाल जवाब काम कब कहाँ नमस्ते अच्छा अभी फिर से
      """),
    Language(
      "我们 你 是 的 今天 明天 谢谢 好 不 问题 回答 工作 什么 时候 哪里 你好 现在 再 一次 会议",
      hasSpaces: false),
    Language(
      "わたし あなた です きょう あした ありがとう はい いいえ しつもん こたえ いつ どこ こんにちは いま もう いちど テスト カメラ",
      hasSpaces: false),
    Language(
      "เรา คุณ คือ วันนี้ พรุ่งนี้ ขอบคุณ ใช่ ไม่ คำถาม คำตอบ งาน เมื่อไร ที่ไหน สวัสดี ตอนนี้ อีกครั้ง",
      hasSpaces: false),
  ]

  /// Zones where another language than one in Latin script is written.
  private static let zoneLanguages: [String: Int] = {
    let zones = [
      1: """
      Europe/Moscow Europe/Kyiv Europe/Minsk Europe/Sofia Europe/Samara Europe/Volgograd \
      Europe/Saratov Europe/Simferopol Europe/Ulyanovsk Europe/Kirov Europe/Kaliningrad \
      Europe/Astrakhan Asia/Yekaterinburg Asia/Almaty Asia/Bishkek Asia/Krasnoyarsk \
      Asia/Vladivostok Asia/Novokuznetsk Asia/Ulaanbaatar Asia/Irkutsk Asia/Novosibirsk \
      Asia/Barnaul Asia/Omsk Asia/Yakutsk Asia/Tomsk Asia/Chita Asia/Sakhalin
      """,
      2: """
      Africa/Cairo Africa/Algiers Africa/Khartoum Africa/Casablanca Africa/Tunis Africa/Tripoli \
      Asia/Baghdad Asia/Riyadh Asia/Aden Asia/Damascus Asia/Amman Asia/Beirut Asia/Dubai \
      Asia/Muscat Asia/Kuwait Asia/Qatar Asia/Hebron Asia/Gaza Asia/Bahrain
      """,
      3: "Asia/Kolkata Asia/Kathmandu",
      4: "Asia/Shanghai Asia/Urumqi Asia/Taipei Asia/Hong_Kong Asia/Macau",
      5: "Asia/Tokyo",
      6: "Asia/Bangkok",
    ]
    var languages: [String: Int] = [:]
    for (language, names) in zones {
      for name in names.split(separator: " ") { languages[String(name)] = language }
    }
    return languages
  }()
}
