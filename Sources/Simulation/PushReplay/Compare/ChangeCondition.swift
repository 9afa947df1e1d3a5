internal import PushModel
internal import PushSupport
internal import QuietTime

/// Which rooms and users a change is for, as it is written in front of it: `rooms>500`, `share=10%`.
///
/// - Source: docs/compare.md, "Conditions".
enum ChangeCondition: Sendable {
  enum Comparison: String, CaseIterable, Sendable {
    // The longer first, as one begins with another.
    case atMost = "<="
    case atLeast = ">="
    case differs = "!="
    case less = "<"
    case more = ">"
    case equal = "="
  }

  /// How comparisons are written. A shell takes `>` and `<` for itself where they are not quoted.
  private static let comparisons =
    Comparison.allCases.map { ($0.rawValue, $0) } + [(".over=", .more), (".under=", .less)]

  private static func comparison(in text: Substring) -> (text: String, comparison: Comparison)? {
    comparisons.first { text.hasPrefix($0.0) }.map { (text: $0.0, comparison: $0.1) }
  }

  /// What to do about a change of which a shell left only the name in front of `>`.
  static let quoting =
    "quote changes that contain >, as a shell writes to a file otherwise, like "
    + "'rooms>500.unset.level=mention', or write rooms.over=500"

  /// The number of a room's members.
  case members(Comparison, Int)
  /// One of these types, or none of them.
  case kinds([ConversationKind], isOneOf: Bool)
  /// One of these rooms, or none of them.
  case rooms([Identifier], isOneOf: Bool)
  /// A share of the users, in percent.
  case share(Double)
  /// The users' time zones: names, or the beginning of names with a star behind it.
  case zones([String], isOneOf: Bool)

  static let names = ["rooms", "type", "room", "share", "zone"]

  /// Whether it is about rooms rather than users.
  var isOfRooms: Bool {
    switch self {
    case .members, .kinds, .rooms: true
    case .share, .zones: false
    }
  }

  // MARK: Deciding

  /// Whether a room meets it; one about users is met by every room.
  func isMet(by id: Identifier, _ kind: ConversationKind, members: Int) -> Bool {
    switch self {
    case .members(let comparison, let limit):
      switch comparison {
      case .atMost: members <= limit
      case .atLeast: members >= limit
      case .differs: members != limit
      case .less: members < limit
      case .more: members > limit
      case .equal: members == limit
      }
    case .kinds(let kinds, let isOneOf): kinds.contains(kind) == isOneOf
    case .rooms(let rooms, let isOneOf): rooms.contains(id) == isOneOf
    case .share, .zones: true
    }
  }

  /// Whether a user meets it; one about rooms is met by every user.
  ///
  /// A time zone is the same by each of its names (``ZoneLinks``).
  ///
  /// - Parameter zone: the user's own time zone, or else the app's.
  func isMet(by user: Identifier, zone: String) -> Bool {
    switch self {
    case .share(let percent): Self.percent(of: user) < percent
    case .zones(let zones, let isOneOf):
      zones.contains { name in
        let isWritten = name.hasSuffix("*") ? zone.hasPrefix(name.dropLast()) : zone == name
        if isWritten { return true }
        let same = ZoneLinks.canonicalName(zone)
        return name.hasSuffix("*")
          ? same.hasPrefix(name.dropLast()) : same == ZoneLinks.canonicalName(name)
      } == isOneOf
    case .members, .kinds, .rooms: true
    }
  }

  /// Where a user lies among all, 0..<100: the same in every run, and evenly distributed. FNV-1a of
  /// the id's bytes, mixed.
  static func percent(of user: Identifier) -> Double {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in user.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Double(SplitMix64.mix(hash) >> 11) * 0x1p-53 * 100
  }

  // MARK: Reading

  /// What is wrong with a condition, in words.
  struct Mistake: Error { let reason: String }

  /// Reads the conditions in front of a change.
  ///
  /// - Returns: the conditions, and the change without them; nil for a text that does not begin with
  ///   the name of a condition and a comparison.
  static func read(
    _ text: String
  ) throws(Mistake) -> (conditions: [ChangeCondition], change: Substring)? {
    guard beginsWithCondition(text[...]) else {
      try checkStrangeCondition(text)
      return nil
    }
    var conditions: [ChangeCondition] = []
    var rest = text[...]
    while beginsWithCondition(rest) {
      conditions.append(try readOne(&rest))
      guard rest.first == "." else {
        throw Mistake(
          reason: "behind the condition comes a point and everyone. or unset., like "
            + "\(text[..<rest.startIndex]).unset.level=mention")
      }
      rest = rest.dropFirst()
    }
    guard rest.hasPrefix("everyone.") || rest.hasPrefix("unset.") else {
      if rest == "rooms" { throw Mistake(reason: quoting) }
      let name = rest.prefix { $0.isLetter }
      throw Mistake(
        reason: "\"\(name)\" is neither a condition (\(names.joined(separator: ", "))) nor "
          + "everyone. or unset., to which conditions apply")
    }
    return (conditions, rest)
  }

  /// - Throws: for a text in which `.everyone.` or `.unset.` follows a comparison of something else.
  private static func checkStrangeCondition(_ text: String) throws(Mistake) {
    let front = text.prefix { $0.isLetter }
    let behind = text[front.endIndex...]
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard comparison(in: behind) != nil,
      parts.dropFirst().dropLast().contains(where: { $0 == "everyone" || $0 == "unset" })
    else { return }
    throw Mistake(
      reason: "\"\(front)\" is not a condition; "
        + (EditDistance.nearest(to: String(front), in: names).map { "did you mean \($0)? " } ?? "")
        + "Conditions are \(names.joined(separator: ", "))")
  }

  private static func beginsWithCondition(_ text: Substring) -> Bool {
    let name = text.prefix { $0.isLetter }
    let behind = text[name.endIndex...]
    return names.contains(String(name)) && comparison(in: behind) != nil
  }

  private static func readOne(_ rest: inout Substring) throws(Mistake) -> ChangeCondition {
    let start = rest
    let name = String(rest.prefix { $0.isLetter })
    rest = rest.dropFirst(name.count)
    guard let (text, comparison) = comparison(in: rest) else {
      throw Mistake(reason: "\(name) is compared with =, like \(example(name))")
    }
    rest = rest.dropFirst(text.count)
    let values = try readValues(&rest, name)
    let written = start[..<rest.startIndex]
    func wrong(_ reason: String) -> Mistake { Mistake(reason: "\(written): \(reason)") }
    switch name {
    case "rooms":
      guard values.count == 1, let members = Int(values[0]), members >= 0 else {
        throw wrong("rooms are compared with a number of members, like rooms>500")
      }
      return .members(comparison, members)
    case "share":
      guard comparison == .equal, values.count == 1, values[0].hasSuffix("%"),
        let percent = Double(values[0].dropLast()), percent > 0, percent <= 100
      else { throw wrong("a share is more than 0 % and at most 100 %, like share=10%") }
      return .share(percent)
    default: break
    }
    guard comparison == .equal || comparison == .differs else {
      let isCount = name == "room" && values.count == 1 && Int(values[0]) != nil
      throw wrong(
        "\(name) is compared with = or !=, like \(example(name))"
          + (isCount ? "; for the number of members write rooms\(text)\(values[0])" : ""))
    }
    let isOneOf = comparison == .equal
    switch name {
    case "room": return .rooms(values.map { Identifier($0) }, isOneOf: isOneOf)
    case "zone": return .zones(values, isOneOf: isOneOf)
    default:
      let kinds = values.map { ConversationKind(rawValue: $0) }
      guard !kinds.contains(nil), !kinds.contains(.thread) else {
        let known = ConversationKind.allCases.filter { $0 != .thread }.map(\.rawValue)
        throw wrong("a type is one of \(known.joined(separator: ", "))")
      }
      return .kinds(kinds.compactMap(\.self), isOneOf: isOneOf)
    }
  }

  private static func example(_ name: String) -> String {
    switch name {
    case "rooms": "rooms>500"
    case "share": "share=10%"
    case "type": "type=group"
    case "room": "room=c1,c2"
    default: "zone=Asia/Shanghai,Europe/*"
    }
  }

  /// The values behind a comparison, with commas between them, up to the next point; one within
  /// quotation marks may have points and commas.
  private static func readValues(
    _ rest: inout Substring, _ name: String
  ) throws(Mistake) -> [String] {
    var values: [String] = []
    repeat {
      if !values.isEmpty { rest = rest.dropFirst() }
      var value: Substring
      if rest.first == "\"" {
        value = rest.dropFirst().prefix { $0 != "\"" }
        guard value.endIndex < rest.endIndex else {
          throw Mistake(reason: "\(name): a quotation mark is missing behind \(rest)")
        }
        rest = rest[value.endIndex...].dropFirst()
      } else if name == "share" {
        // Percent may have a point: 2.5%.
        value = rest.prefix { $0 != "%" }
        value =
          rest[
            ..<(value.endIndex < rest.endIndex ? rest.index(after: value.endIndex) : value.endIndex)
          ]
        rest = rest[value.endIndex...]
      } else {
        value = rest.prefix { $0 != "." && $0 != "," }
        rest = rest[value.endIndex...]
      }
      guard !value.isEmpty else {
        throw Mistake(reason: "\(name) is compared with nothing; write it like \(example(name))")
      }
      values.append(String(value))
    } while rest.first == ","
    return values
  }
}
