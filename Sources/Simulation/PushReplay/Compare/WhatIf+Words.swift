internal import PushModel
internal import PushSupport

/// Changes as readers of a comparison say them.
extension WhatIf {
  /// `mentions only by default in rooms over 500`; of no changes `as it is`.
  static func words(_ changes: [String]) -> String {
    changes.isEmpty ? "as it is" : changes.map { WhatIf($0).words }.joined(separator: ", ")
  }

  /// The change in words; of a file its name.
  var words: String {
    switch change {
    case .file(let path): path
    case .app(let field, let value): "the app's \(field) \(value)"
    case .option(let name, let value): "\(name) \(value)"
    case .users(let field, let value, let onlyUnset, let conditions):
      ([Self.words(field, value), onlyUnset ? "by default" : "for everyone"]
        + conditions.map(\.words)).joined(separator: " ")
    }
  }

  private static func words(_ field: String, _ value: String) -> String {
    if field == "quietHours" {
      return value == "none"
        ? "no quiet hours"
        : "quiet hours \(value.split(separator: "-").joined(separator: "\u{2013}"))"
    }
    let level =
      switch value {
      case "all": "all messages"
      case "mention", "mentions": "mentions only"
      case "none", "blocked": "no pushes"
      case "direct": "direct messages only"
      default:
        (try? MessageClasses(typed: value)).map { "\($0.names.joined(separator: ", ")) only" }
          ?? value
      }
    guard field.hasPrefix("levels.") else { return level }
    return "\(level) in rooms of type \(field.dropFirst(7))"
  }
}

extension ChangeCondition {
  /// `in rooms over 500`.
  var words: String {
    switch self {
    case .members(let comparison, let count):
      switch comparison {
      case .atMost: "in rooms up to \(count)"
      case .atLeast: "in rooms of \(count) or more"
      case .differs: "in rooms not of \(count)"
      case .less: "in rooms under \(count)"
      case .more: "in rooms over \(count)"
      case .equal: "in rooms of \(count)"
      }
    case .kinds(let kinds, let isOneOf):
      "in rooms \(isOneOf ? "" : "not ")of type "
        + kinds.map(\.rawValue).joined(separator: ", ")
    case .rooms(let rooms, let isOneOf):
      "\(isOneOf ? "in" : "not in") \(rooms.map(\.text).joined(separator: ", "))"
    case .share(let percent):
      "for \(Self.text(percent)) % of users"
    case .zones(let zones, let isOneOf):
      "for users \(isOneOf ? "in" : "not in") \(zones.joined(separator: ", "))"
    }
  }
}

/// What nothing meets.
extension ChangeCondition {
  /// That none of some rooms meets it, and which value is nearest.
  ///
  /// - Parameter isFirst: whether these are all rooms, rather than those that meet the conditions
  ///   before.
  func unmet(
    by rooms: [(id: Identifier, kind: ConversationKind, members: Int)], isFirst: Bool
  ) -> String {
    let none = isFirst ? "no room" : "no room that meets the other conditions"
    let sizes = rooms.map(\.members).sorted()
    guard let least = sizes.first, let most = sizes.last else { return "there is no room" }
    switch self {
    case .members(let comparison, let limit):
      let members = limit.counted("member")
      let (largest, smallest) = (
        "(the largest: \(most.grouped))", "(the smallest: \(least.grouped))"
      )
      switch comparison {
      case .more: return "\(none) has more than \(members) \(largest)"
      case .atLeast: return "\(none) has \(members) or more \(largest)"
      case .less: return "\(none) has fewer than \(members) \(smallest)"
      case .atMost: return "\(none) has \(members) or fewer \(smallest)"
      case .differs: return "\(none) has other than \(members)"
      case .equal:
        let nearest = sizes.min { ($0 - limit).magnitude < ($1 - limit).magnitude } ?? least
        return "\(none) has exactly \(members) (the nearest: \(nearest.grouped))"
      }
    case .kinds(let kinds, let isOneOf):
      let names = kinds.map(\.rawValue).joined(separator: ", ")
      let known = ConversationKind.allCases.filter { kind in rooms.contains { $0.kind == kind } }
      return "\(none) is \(isOneOf ? "of type" : "of another type than") \(names) "
        + "(there are: \(known.map(\.rawValue).joined(separator: ", ")))"
    case .rooms(let ids, let isOneOf):
      let names = ids.map(\.text).joined(separator: ", ")
      return isOneOf ? "\(none) is \(names)" : "there is no other room than \(names)"
    case .share, .zones: return none
    }
  }

  /// The same of users.
  func unmet(by users: [(id: Identifier, zone: String)], isFirst: Bool) -> String {
    let none = isFirst ? "no user" : "no user who meets the other conditions"
    if users.isEmpty { return "there is no user" }
    switch self {
    case .share(let percent):
      let nearest = users.map { Self.percent(of: $0.id) }.min() ?? 0
      return "\(none) is in a share of \(Self.text(percent)) % "
        + "(the first is from \(Self.text((nearest * 10).rounded(.up) / 10)) % on)"
    case .zones(let zones, let isOneOf):
      let counts = Dictionary(grouping: users, by: \.zone).mapValues(\.count)
      let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
      return "\(none) is \(isOneOf ? "in" : "outside of") \(zones.joined(separator: ", "))"
        + (most.map { " (most are in \($0.key): \($0.value.grouped))" } ?? "")
    case .members, .kinds, .rooms: return none
    }
  }

  /// Percent without a decimal that is 0.
  private static func text(_ percent: Double) -> String {
    percent == percent.rounded() ? "\(Int(percent))" : "\(percent)"
  }
}
