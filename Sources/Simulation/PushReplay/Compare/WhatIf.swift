public import PushFanout
internal import PushFiles
internal import PushModel
internal import PushSupport

/// A change of the initial settings, as it is written on a command line.
///
/// - Source: docs/compare.md, "What may differ".
public struct WhatIf: Sendable {
  enum Change: Sendable {
    /// A settings file whose records replace those of the same key.
    case file(String)
    case app(field: String, value: String)
    case option(name: String, value: String)
    /// A field of all users, or only of those who have not set it, that meet conditions.
    case users(field: String, value: String, onlyUnset: Bool, [ChangeCondition])
  }

  /// Why a change cannot be made.
  public struct Problem: Error, Hashable, CustomStringConvertible {
    /// The change, as it was written.
    public let text: String
    /// Why it cannot be made.
    public let reason: String
    /// Whether the rules have no such field or option, whatever its value.
    var isOfField = false
    /// The value that was most likely meant.
    var nearest: String?
    public var description: String {
      "\(text): \(reason)" + (nearest.map { "; did you mean \($0)?" } ?? "")
    }
  }

  /// The change, as it was written.
  public let text: String
  let change: Change
  /// What is wrong with the conditions of a text that is no change because of them.
  let wrongCondition: String?

  /// - Parameter text: `app.FIELD=VALUE`, `option.NAME=VALUE`, `everyone.FIELD=VALUE`,
  ///   `unset.FIELD=VALUE`, the latter two with conditions in front, like
  ///   `rooms>500.unset.level=mention`, or the name of a settings file.
  public init(_ text: String) {
    let whole = text
    var text = text
    var conditions: [ChangeCondition] = []
    var wrong: String?
    do throws(ChangeCondition.Mistake) {
      if let read = try ChangeCondition.read(text) {
        conditions = read.conditions
        text = String(read.change)
      }
    } catch { wrong = error.reason }
    self.text = whole
    wrongCondition = wrong
    func parts(_ prefix: String) -> (String, String)? {
      guard text.hasPrefix(prefix + "."), let equal = text.firstIndex(of: "=") else { return nil }
      let start = text.index(text.startIndex, offsetBy: prefix.count + 1)
      guard start <= equal else { return nil }
      return (String(text[start..<equal]), String(text[text.index(after: equal)...]))
    }
    if let (field, value) = parts("app") {
      change = .app(field: field, value: value)
    } else if let (name, value) = parts("option") {
      change = .option(name: name, value: value)
    } else if let (field, value) = parts("everyone") {
      change = .users(field: field, value: value, onlyUnset: false, conditions)
    } else if let (field, value) = parts("unset") {
      change = .users(field: field, value: value, onlyUnset: true, conditions)
    } else {
      change = .file(whole)
    }
  }

  /// Whether it changes quiet hours, or may do so.
  var mayChangeQuietHours: Bool {
    switch change {
    case .file: true
    case .app(let field, _): field == "timeZone"
    case .option: false
    case .users(let field, _, _, _): field == "quietHours"
    }
  }

  /// The file that is read for it; nil when none is.
  public var path: String? {
    guard case .file(let path) = change else { return nil }
    return path
  }

  /// Changes settings; all of them or none.
  ///
  /// Conditions are judged by the settings that it is applied to.
  ///
  /// - Returns: how many users' own settings, or memberships, it has altered; nil for one that is
  ///   not of users.
  /// - Throws: ``Problem``, or what is wrong with a file.
  /// - Complexity: O(users) for a field of users, O(users + memberships) with a condition on rooms,
  ///   O(records) for a file.
  @discardableResult public func apply(to fanout: Fanout) throws -> ChangeReach? {
    var touched = TouchedRooms.none
    return try apply(to: fanout, &touched)
  }

  /// The same, adding what may be touched.
  func apply(to fanout: Fanout, _ touched: inout TouchedRooms) throws -> ChangeReach? {
    do {
      switch change {
      case .file(let path):
        touched.addUnknown()
        if let mistake, wrongCondition != nil { throw problem(mistake) }
        var settings = FanoutSettings(app: fanout.app)
        let saysApp = try SettingsLoader.load(
          SettingsPaths(settings: [path]), into: &settings, over: fanout,
          LoadOptions(readsContent: true)
        ).saysApp
        if saysApp, let foreign = RuleSwitch(fanout, settings).problem { throw problem(foreign) }
        try fanout.update { (update) throws(FanoutError) in
          if saysApp { try update.setApp(settings.app) }
          try update.addRecords(of: settings)
        }
      case .app(let field, let value):
        var app = fanout.app
        try set(field, to: value, in: &app)
        touched.addEverything()
        try fanout.update { (update) throws(FanoutError) in try update.setApp(app) }
      case .option(let name, let value):
        var app = fanout.app
        try setOption(name, to: value, in: &app)
        touched.addEverything()
        try fanout.update { (update) throws(FanoutError) in try update.setApp(app) }
      case .users(let field, let value, let onlyUnset, let conditions):
        let target = try ChangeTarget(conditions, fanout, self)
        if conditions.contains(where: \.isOfRooms) {
          return try target.setLevel(
            try roomLevel(field, value, fanout.app.rules), onlyUnset, &touched)
        }
        let field = try UserField(field, value, fanout.app.rules, self)
        return try target.changeUsers(&touched) { field.set(in: &$0, onlyUnset) }
      }
    } catch let error as FanoutError {
      throw problem("\(error)")
    }
    return nil
  }

  /// Its key without conditions, like `unset.level`, and its value; nil for a file.
  var keyAndValue: (key: String, value: String)? {
    switch change {
    case .file: nil
    case .app(let field, let value): ("app.\(field)", value)
    case .option(let name, let value): ("option.\(name)", value)
    case .users(let field, let value, let onlyUnset, _):
      ((onlyUnset ? "unset." : "everyone.") + field, value)
    }
  }

  /// The same change with another value.
  func with(value: String) -> WhatIf {
    guard let old = keyAndValue?.value else { return self }
    return WhatIf(text.dropLast(old.count) + value)
  }

  /// Why it cannot be made under a rule set, whatever the settings are; nil if it can.
  func problem(under rules: RuleSet) -> Problem? {
    var app = AppSettings(rules: rules)
    do {
      switch change {
      case .file: break
      case .app(let field, let value): try set(field, to: value, in: &app)
      case .option(let name, let value): try setOption(name, to: value, in: &app)
      case .users(let field, let value, _, let conditions):
        if conditions.contains(where: \.isOfRooms) {
          _ = try roomLevel(field, value, rules)
        } else {
          _ = try UserField(field, value, rules, self)
        }
      }
    } catch {
      return error as? Problem ?? problem("\(error)")
    }
    return nil
  }

  private func setOption(_ name: String, to value: String, in app: inout AppSettings) throws {
    guard app.setOption(name, to: value) else {
      throw problem(
        "\(app.rules.rawValue) has no option \(name) with that value",
        isOfField: !app.rules.options.contains { $0.name == name })
    }
  }

  /// The level of a change with a condition on rooms.
  private func roomLevel(
    _ field: String, _ value: String, _ rules: RuleSet
  ) throws -> NotificationLevel {
    guard field == "level" else {
      throw problem("with a condition on rooms the field is level, not \(field)")
    }
    return try level(value, rules)
  }

  func problem(_ reason: String, isOfField: Bool = false) -> Problem {
    Problem(text: text, reason: reason, isOfField: isOfField)
  }

  private func set(_ field: String, to value: String, in app: inout AppSettings) throws {
    let fields = app.rules.fields
    switch field {
    case "timeZone": app.timeZone = value
    case "devicePolicy" where fields.contains(.devicePolicy):
      guard let policy = AppSettings.DevicePolicy(rawValue: value) else {
        let names = AppSettings.DevicePolicy.allCases.map(\.rawValue).joined(separator: ", ")
        throw problem("a device policy is one of \(names)")
      }
      app.devicePolicy = policy
    case "advancedPush" where fields.contains(.advancedPush): app.advancedPush = try flag(value)
    case "messageNotification" where fields.contains(.messageNotification):
      app.messageNotification = try flag(value)
    case "level" where fields.contains(.appLevel): app.level = try level(value, app.rules)
    default:
      throw problem("an app under \(app.rules.rawValue) has no field \(field)", isOfField: true)
    }
  }

  private func flag(_ value: String) throws -> Bool {
    guard value == "true" || value == "false" else { throw problem("use true or false") }
    return value == "true"
  }

  fileprivate func level(_ value: String, _ rules: RuleSet) throws -> NotificationLevel {
    guard let level = NotificationLevel.typed(value, rules), level.exists(under: rules) else {
      var problem = problem("a level under \(rules.rawValue) is one of \(rules.typedLevels)")
      problem.nearest = EditDistance.nearest(to: value, in: rules.levelNames)
      throw problem
    }
    return level
  }
}

/// A setting of users, and the value that they are to have.
private enum UserField {
  case level(NotificationLevel)
  case typeLevel(ConversationKind, NotificationLevel)
  case quietHours(QuietHours?)

  init(_ field: String, _ value: String, _ rules: RuleSet, _ whatIf: WhatIf) throws {
    let kind =
      field.hasPrefix("levels.") ? ConversationKind(rawValue: String(field.dropFirst(7))) : nil
    if field == "level", rules.fields.contains(.userLevel) {
      self = .level(try whatIf.level(value, rules))
    } else if let kind, rules.fields.contains(.kindLevels), kind.exists(under: rules) {
      self = .typeLevel(kind, try whatIf.level(value, rules))
    } else if field == "quietHours", let form = rules.quietForm {
      self = .quietHours(try Self.quietHours(value, form, rules, whatIf))
    } else {
      var known = rules.fields.contains(.userLevel) ? ["level"] : []
      if rules.fields.contains(.kindLevels) { known.append("levels.TYPE") }
      if rules.quietForm != nil { known.append("quietHours") }
      let names = known.joined(separator: ", ")
      throw whatIf.problem(
        "users under \(rules.rawValue) have the fields \(names)", isOfField: true)
    }
  }

  /// `23:00-07:00`, or `none`: no window, under open rules also not the app's (O-11).
  private static func quietHours(
    _ value: String, _ form: QuietForm, _ rules: RuleSet, _ whatIf: WhatIf
  ) throws -> QuietHours? {
    if value == "none" { return form == .windows ? .windows(.none) : nil }
    let times = value.split(separator: "-", omittingEmptySubsequences: false).map { time in
      time.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    }
    guard times.count == 2, times.allSatisfy({ $0.count == 2 }) else {
      throw whatIf.problem("quiet hours are like 23:00-07:00, or none")
    }
    let (start, end) = ((times[0][0], times[0][1]), (times[1][0], times[1][1]))
    do throws(SettingsWriteError) {
      return try QuietHours(daily: start, to: end, form: form)
    } catch .spanOutOfRange {
      throw whatIf.problem("start and end of quiet hours must differ under \(rules.rawValue)")
    } catch {
      throw whatIf.problem("quiet hours are like 23:00-07:00, or none")
    }
  }

  func set(in user: inout UserSettings, _ onlyUnset: Bool) {
    switch self {
    case .level(let level):
      if !onlyUnset || !user.level.isSet { user.level = level }
    case .typeLevel(let kind, let level):
      if !onlyUnset || !user.levels[kind].isSet { user.levels[kind] = level }
    case .quietHours(let hours):
      guard !onlyUnset || user.quietHours == nil else { return }
      // In the zone that the window before had.
      user.quietHours = hours.map { $0.with(timeZone: user.quietHours?.timeZone) }
    }
  }
}
