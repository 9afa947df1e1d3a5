internal import Glibc
internal import PushFanout
internal import PushModel
internal import PushSupport

extension WhatIf {
  /// The problem of a text that is no change under any rule set and no file, but looks like a
  /// change; nil when it is one of them, or the name of a file that is not there.
  ///
  /// - Complexity: O(length of the text), times the number of keys.
  public var mistake: String? {
    guard let path else { return wrongPart }
    guard path != "-", unsafe access(path, F_OK) != 0 else { return nil }
    if let wrongCondition { return "neither a change nor a file; \(wrongCondition)" }
    if path == "rooms" { return "neither a change nor a file; \(ChangeCondition.quoting)" }
    let parts = path.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let key = String(parts.first ?? "")
    let nearest = Self.nearestKey(to: key)
    guard parts.count == 2 || nearest != nil else { return nil }
    let advice =
      nearest.map { "did you mean \($0)=\(parts.count == 2 ? parts[1] : "VALUE")?" }
      ?? "a change begins with everyone., unset., app. or option."
    return "neither a change nor a file; \(advice)"
  }

  /// What is wrong with the field or the value of a change, whatever the rules are.
  private var wrongPart: String? {
    let problems = RuleSet.allCases.compactMap { problem(under: $0) }
    guard problems.count == RuleSet.allCases.count, let (key, value) = keyAndValue else {
      return nil
    }
    // Of which rules the settings are is not known yet: those that have the field are named.
    let ofValue = problems.filter { !$0.isOfField }
    let reasons = (ofValue.isEmpty ? problems : ofValue).map(\.reason)
    let reason = reasons.indices.filter { !reasons[..<$0].contains(reasons[$0]) }
      .map { reasons[$0] }.joined(separator: "; ")
    guard Self.keys.contains(key) else {
      let nearest = Self.nearestKey(to: key)
      let conditions = text.dropLast(key.count + 1 + value.count)
      let advice = nearest.map { "did you mean \(conditions)\($0)=\(value)?" }
      return "no change; \(advice ?? reason)"
    }
    let field = key.split(separator: ".").dropFirst().first
    let values =
      field == "level" || field == "levels"
      ? NotificationLevel.ofVendors.map(\.name) + MessageClasses.words.map(\.word)
        + MessageClasses.all.names
      : ["true", "false"] + AppSettings.DevicePolicy.allCases.map(\.rawValue) + Self.choices
    let nearest = EditDistance.nearest(to: value, in: values)
    let isChange = nearest.map { value in
      RuleSet.allCases.contains { with(value: value).problem(under: $0) == nil }
    }
    let advice = isChange == true ? nearest.map { "; did you mean \($0)?" } : nil
    return "no change: \(reason)\(advice ?? "")"
  }

  /// The values of options that are words.
  private static let choices: [String] = RuleSet.allCases.flatMap(\.options).flatMap { option in
    if case .choice(let allowed, _, _) = option.value { return allowed }
    return []
  }

  /// The keys of changes, those of users first: they are what a field without a prefix most likely
  /// means.
  private static let keys: [String] = {
    let kinds = ConversationKind.allCases.filter { $0.exists(under: .rongcloud) }
    let fields = ["level", "quietHours"] + kinds.map { "levels.\($0.rawValue)" }
    let app = ["timeZone", "devicePolicy", "advancedPush", "messageNotification", "level"]
    let options = RuleSet.allCases.flatMap { rules in
      AppSettings(rules: rules).optionTexts.map(\.name)
    }
    return ["everyone", "unset"].flatMap { who in fields.map { "\(who).\($0)" } }
      + app.map { "app.\($0)" } + options.map { "option.\($0)" }
  }()

  /// The key that is fewest changes of a letter away, if they are few: with its prefix, or without.
  private static func nearestKey(to text: String) -> String? {
    let text = Array(text.lowercased().utf8)
    let limit = EditDistance.limit(text.count)
    var nearest: (key: String, distance: Int)?
    for key in keys {
      let bytes = Array(key.lowercased().utf8)
      let field = bytes.drop { $0 != UInt8(ascii: ".") }.dropFirst()
      let distance = min(EditDistance.between(text, bytes), field.elementsEqual(text) ? 1 : .max)
      if distance <= limit, distance < nearest?.distance ?? .max { nearest = (key, distance) }
    }
    return nearest?.key
  }
}
