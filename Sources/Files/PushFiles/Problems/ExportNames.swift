internal import PushModel
internal import PushSupport

/// What exports call the columns and fields of the format.
enum ExportNames {
  /// In small letters and without what stands between words. Of several columns the first that is
  /// free is meant.
  private static let words: [(columns: [String], names: Set<String>)] = [
    (["id"], ["messageid", "msgid", "messageuid", "uuid"]),
    (
      ["conversation"],
      ["group", "groupid", "room", "roomid", "channelid", "chat", "chatid", "conversationid"]
    ),
    (["sender", "user"], ["user", "userid", "member", "memberid", "uid"]),
    (["sender"], ["from", "fromid", "fromuser", "author", "authorid", "senderid", "sentby"]),
    (
      ["at", "sentAt", "ts", "since"],
      ["time", "timestamp", "date", "datetime", "createat", "createdat", "sentat", "sent", "ts"]
    ),
    (["mentions"], ["mention", "mentioned", "mentionedusers", "atlist"]),
    (["body"], ["type", "messagetype", "msgtype"]),
    (["replyTo"], ["inreplyto"]),
  ]

  private static func plain(_ name: String) -> String { name.lowercased().filter(\.isLetter) }

  /// The column that a name stands for by the words of exports; nil for none.
  static func column(of name: String, in free: [String]) -> String? {
    words.lazy.filter { $0.names.contains(plain(name)) }.compactMap { entry in
      entry.columns.first { free.contains($0) }
    }.first
  }

  /// The columns that names most likely stand for, each at most once: by the words of exports, and
  /// then by spelling, but none that several names may stand for.
  static func guesses(
    _ names: [String], among columns: [String]
  ) -> [(name: String, column: String)] {
    var guesses: [String: String] = [:]
    var free = columns
    // Of one time alone it is the message's.
    let times = words.first { $0.columns.contains("sentAt") }?.names ?? []
    let isSecond = !free.contains("at") || names.count { times.contains(plain($0)) } > 1
    for name in names {
      let plain = plain(name)
      // The column itself, with other capitals or with something between the words.
      let exact = free.first { $0.lowercased() == plain && (plain != "sentat" || isSecond) }
      guard let column = exact ?? column(of: name, in: free) else { continue }
      guesses[name] = column
      free.removeAll { $0 == column }
    }
    let others = names.filter { guesses[$0] == nil }.compactMap { name in
      nearest(to: name, in: free).map { (name: name, column: $0) }
    }
    for guess in others where others.count(where: { $0.column == guess.column }) == 1 {
      guesses[guess.name] = guess.column
    }
    return names.compactMap { name in guesses[name].map { (name, $0) } }
  }

  private static func nearest(to name: String, in free: [String]) -> String? {
    if let nearest = EditDistance.nearest(to: name, in: free) { return nearest }
    let words = name.lowercased().split { !$0.isLetter }.map(String.init)
    return free.first { words.contains($0.lowercased()) }
  }
}

/// The first object of a file that is neither a message nor a record of settings, with what makes it
/// a message.
public struct UnknownRecord: Hashable, Sendable {
  /// The names of its fields.
  public let names: [String]

  var text: String {
    let fields = ["id", "conversation", "sender", "at"]
    let guesses = ExportNames.guesses(names, among: fields)
    let pairs = fields.map { field in
      "\(field): "
        + (guesses.first { $0.column == field }.flatMap { Self.path($0.name) } ?? ".NAME")
    }
    let list = names.prefix(6).map { quoted($0) } + (names.count > 6 ? ["…"] : [])
    return
      "neither a message nor a setting, as it has \(list.joined(separator: ", ")); a setting has "
      + "kind, and messages are made like this: jq -c '{\(pairs.joined(separator: ", "))}'"
  }

  /// A field as jq writes it inside of a shell's quotes; nil for a name with such quotes.
  private static func path(_ name: String) -> String? {
    let shown = printable(name)
    let isPlain = shown.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    if isPlain, shown.first?.isNumber == false { return ".\(shown)" }
    return shown.contains { "'\"\\".contains($0) } ? nil : ".[\"\(shown)\"]"
  }
}

/// Dates as people and spreadsheets write them, which are read as no instants.
enum WrittenDate {
  /// How a date that does not begin with the year is ordered, as far as it can be told; nil for
  /// another text.
  static func order(of text: String) -> String? {
    let date = text.prefix { $0.isASCII && ($0.isNumber || "./-".contains($0)) }
    let parts = date.split(omittingEmptySubsequences: false) { "./-".contains($0) }
    guard parts.count == 3, (1...2).contains(parts[0].count), (1...2).contains(parts[1].count),
      [2, 4].contains(parts[2].count), let first = Int(parts[0]), let second = Int(parts[1]),
      Int(parts[2]) != nil
    else { return nil }
    if second > 12 { return "is month first" }
    return first > 12 || date.contains(".") ? "is day first" : "is not year first"
  }

  /// The day that a number is in Excel, which counts from 1900, as `2024-06-03`; nil for one before
  /// 2000 or after 2099.
  static func excelDay(_ text: String) -> String? {
    guard let number = Double(String(text.map { $0 == "," ? "." : $0 })), number.isFinite else {
      return nil
    }
    return Int64(exactly: number.rounded(.down)).flatMap { excelDay($0) }
  }

  static func excelDay(_ number: Int64) -> String? {
    guard (36_526..<73_051).contains(number) else { return nil }
    // The days of Excel until 1970.
    return Instant(milliseconds: (number - 25_569) * 86_400_000).day
  }
}

extension Instant {
  /// Its day in UTC.
  var day: String {
    let (year, month, day) = Instant.date(daysSinceEpoch: seconds / 86_400)
    if year > 9999 { return "in the year \(Int(year).grouped)" }
    return "\(year)-" + month.padded(to: 2) + "-" + day.padded(to: 2)
  }
}
