internal import PushModel

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
    if field == "quietHours" { return value == "none" ? "no quiet hours" : "quiet hours \(value)" }
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
      "for \(percent == percent.rounded() ? "\(Int(percent))" : "\(percent)") % of users"
    case .zones(let zones, let isOneOf):
      "for users \(isOneOf ? "in" : "not in") \(zones.joined(separator: ", "))"
    }
  }
}
