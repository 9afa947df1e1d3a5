internal import PushContent
internal import PushModel
internal import PushSupport

/// What a setting was and what it is, in words, for an entry of the feed.
struct ChangedValues {
  /// So many characters of each are kept.
  static let limit = 1000

  /// A setting in words.
  struct Setting: Hashable {
    /// What is said where settings of several kinds stand together; empty where the text does.
    let name: String
    let text: String
    var isDefault = false
  }

  /// nil for nothing that was or is set, or no record.
  private(set) var old, new: String?

  /// Nothing is known, or there are many.
  init() {}

  init(old: String?, new: String?) {
    (self.old, self.new) = (old.map(Self.cut), new.map(Self.cut))
  }

  /// - Parameters:
  ///   - before: settings, of which those that differ are kept; nil for no record.
  ///   - isWhole: whether they are of several kinds.
  init(_ before: [Setting]?, _ after: [Setting]?, isWhole: Bool) {
    self.init(
      old: Self.text(before, without: after, isWhole),
      new: Self.text(after, without: before, isWhole))
  }

  /// Of a membership.
  ///
  /// - Parameter channel: whose level is named; nil for those that differ.
  init(
    of change: Change, _ channel: Identifier?, _ before: MemberSettings?, _ after: MemberSettings?,
    _ rules: RuleSet
  ) {
    if change == .channelLevel, let channel {
      let (old, new) = (before?.channels[channel], after?.channels[channel])
      self.init(old: (old ?? .unset).name, new: (new ?? .unset).name)
      return
    }
    let isWhole = change == .member
    let channels = Set((before?.channels ?? [:]).keys).union((after?.channels ?? [:]).keys)
    let old = isWhole ? before : before ?? MemberSettings()
    self.init(
      old?.words(change, rules, channels: channels),
      after?.words(change, rules, channels: channels), isWhole: isWhole)
  }

  /// Of a conversation.
  ///
  /// - Parameter channel: whose level is named.
  init(
    of change: Change, _ channel: Identifier?, _ before: ConversationSettings?,
    _ after: ConversationSettings?, _ rules: RuleSet
  ) {
    switch (change, channel) {
    case (.channelDefault, let channel?):
      let (old, new) = (before?.channels[channel], after?.channels[channel])
      self.init(old: (old ?? .unset).name, new: (new ?? .unset).name)
    case (.groupDefault, _):
      self.init(
        old: (before?.level ?? .unset).name(under: rules),
        new: (after?.level ?? .unset).name(under: rules))
    default:
      let channels = Set((before?.channels ?? [:]).keys).union((after?.channels ?? [:]).keys)
      self.init(
        before?.words(rules, channels: channels), after?.words(rules, channels: channels),
        isWhole: true)
    }
  }

  private static func text(
    _ settings: [Setting]?, without others: [Setting]?, _ isWhole: Bool
  ) -> String? {
    guard let settings else { return nil }
    let differing = settings.filter { setting in
      others.map { !$0.contains(setting) } ?? !setting.isDefault
    }
    if differing.isEmpty { return others == nil ? "nothing set" : nil }
    return differing.map { isWhole && !$0.name.isEmpty ? "\($0.name) \($0.text)" : $0.text }
      .joined(separator: ", ")
  }

  private static func cut(_ text: String) -> String {
    if text.utf8.count <= limit || text.unicodeScalars.count <= limit { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))) + "…"
  }
}

extension ChangedValues.Setting {
  init(_ name: String, _ level: NotificationLevel, _ rules: RuleSet) {
    self.init(name: name, text: level.name(under: rules), isDefault: !level.isSet)
  }

  init(_ name: String, _ isOn: Bool, byDefault: Bool = false) {
    self.init(name: name, text: isOn ? "on" : "off", isDefault: isOn == byDefault)
  }

  /// Nothing for an instant that is not set.
  static func list(_ name: String, _ instant: Instant) -> [Self] {
    instant > .zero ? [Self(name: name, text: instant.rfc3339)] : []
  }

  static func list(_ name: String, _ text: String?) -> [Self] {
    text.map { [Self(name: name, text: $0)] } ?? []
  }

  /// Levels of channels.
  ///
  /// - Parameter ids: those to name, whether they have a level or not.
  static func list(
    _ channels: [Identifier: NotificationLevel], _ ids: Set<Identifier>
  ) -> [Self] {
    ids.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map { id in
      let level = channels[id] ?? .unset
      return Self(name: "channel", text: "\(id) \(level.name)", isDefault: !level.isSet)
    }
  }
}

extension UserSettings {
  /// What a change of the user is about; everything for ``Change/user``.
  func words(_ change: Change, _ rules: RuleSet) -> [ChangedValues.Setting] {
    switch change {
    case .userLevel: return [.init("level", level, rules)]
    case .userMute: return ChangedValues.Setting.list("muted until", mutedUntil)
    case .quietHours:
      let zone = timeZone.map { "time zone \($0)" }
      guard let quietHours else { return ChangedValues.Setting.list("", zone) }
      let text = [quietHours.words, zone].compactMap(\.self).joined(separator: ", ")
      return [.init(name: "quiet hours", text: text)]
    case .typeLevel:
      return ConversationKind.allCases.map { kind in
        let level = levels[kind]
        return .init(name: "", text: "\(kind.rawValue) \(level.name)", isDefault: !level.isSet)
      }
    case .pushWhenDesktopOnline:
      return [.init("push when desktop online", pushWhenDesktopOnline)]
    case .devices: return (devices ?? []).map { .init(name: "device", text: $0.words) }
    case .mutedAllow:
      return [
        .init(name: "muted allow", text: mutedAllow.name, isDefault: mutedAllow.isEmpty)
      ]
    case .allowForce: return [.init("allow force", allowForce, byDefault: true)]
    case .keywords: return keywords.map { .init(name: "keyword", text: $0) }
    case .importantSenders:
      return importantSenders.map { .init(name: "important sender", text: $0.text) }
    case .blockedSenders:
      return blockedSenders.map { .init(name: "blocked sender", text: $0.text) }
    default:
      // The others have changes of their own.
      let single: [Change] = [
        .userLevel, .typeLevel, .quietHours, .userMute, .pushWhenDesktopOnline, .devices,
        .mutedAllow, .allowForce, .keywords, .importantSenders, .blockedSenders,
      ]
      return single.flatMap { words($0, rules) } + [
        .init("local information missing", localInformationMissing),
        .init("handled by the app", localHandledByApp),
      ]
    }
  }
}

extension QuietHours {
  /// As settings are printed.
  fileprivate var words: String {
    switch self {
    case .interval(let interval):
      return ClockTime.text(minuteOfDay: interval.startMinute) + "-"
        + ClockTime.text(minuteOfDay: interval.endMinute)
    case .span(let span):
      var text = ClockTime.text(secondOfDay: span.startSecond) + "+\(span.spanMinutes)"
      text += " level \(span.level.name)"
      if let zone = span.timeZone { text += " in \(zone)" }
      return text
    case .windows(let windows):
      if windows.windows.isEmpty { return "no windows" }
      return windows.windows.map(\.words).joined(separator: "; ")
    }
  }
}

extension QuietWindows.Window {
  /// As settings are printed.
  fileprivate var words: String {
    let times =
      ClockTime.text(minuteOfDay: startMinute) + "-" + ClockTime.text(minuteOfDay: endMinute)
    return
      ((days == Self.everyDay ? [] : namesOfDays) + [times]
      + (allow.isEmpty ? [] : ["allow \(allow.name)"]))
      .joined(separator: " ")
  }
}

extension Device {
  /// As settings are printed.
  fileprivate var words: String {
    var text = "\(id): \(kind.rawValue), \(state.rawValue)"
    if let backgroundSince { text += " since \(backgroundSince.rfc3339)" }
    if let seenAt { text += ", seen \(seenAt.rfc3339)" }
    text += hasToken ? ", token" : ", no token"
    if let notifier { text += " of \(notifier)" }
    if let platform = address.platform { text += ", \(platform.rawValue)" }
    return text
  }
}

extension MemberSettings {
  /// What a change of the membership is about; everything for ``Change/member``.
  ///
  /// - Parameter ids: the channels to name.
  func words(
    _ change: Change, _ rules: RuleSet, channels ids: Set<Identifier>
  ) -> [ChangedValues.Setting] {
    switch change {
    case .memberLevel: return [.init("level", level, rules)]
    case .memberMute: return ChangedValues.Setting.list("muted until", mutedUntil)
    case .channelLevel: return ChangedValues.Setting.list(channels, ids)
    case .important: return [.init("important", isImportant)]
    case .follow:
      return ChangedValues.Setting.list("follow", isFollowing.map { $0 ? "on" : "off" })
    case .roles: return roles.map { .init(name: "role", text: $0.text) }
    default:
      // The others have changes of their own.
      let single: [Change] = [
        .memberLevel, .memberMute, .channelLevel, .important, .follow, .roles,
      ]
      return single.flatMap { words($0, rules, channels: ids) }
        + ChangedValues.Setting.list("since", since)
    }
  }
}

extension ConversationSettings {
  /// - Parameter ids: the channels to name.
  func words(_ rules: RuleSet, channels ids: Set<Identifier>) -> [ChangedValues.Setting] {
    [.init(name: "type", text: kind.rawValue)]
      + ChangedValues.Setting.list("parent", parent?.text)
      + [.init("level", level, rules)] + ChangedValues.Setting.list(channels, ids)
  }
}

extension AppSettings {
  var words: [ChangedValues.Setting] {
    [
      .init(name: "rules", text: rules.rawValue), .init(name: "time zone", text: timeZone),
      .init(name: "device policy", text: devicePolicy.rawValue),
      .init("advanced push", advancedPush, byDefault: true), .init("level", level, rules),
      .init("message notification", messageNotification, byDefault: true),
    ] + ChangedValues.Setting.list("quiet hours", quietHours?.words)
      + optionTexts.map { .init(name: $0.name, text: $0.value) }
  }
}

extension RecipientDisplay {
  var words: [ChangedValues.Setting] {
    ChangedValues.Setting.list("name", name) + ChangedValues.Setting.list("style", style?.rawValue)
      + ChangedValues.Setting.list("language", language?.text)
      + ChangedValues.Setting.list("template", template)
      + [
        .init(
          name: "offline messages", text: "\(offlineMessages)", isDefault: offlineMessages == 1)
      ]
      + remarks.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
      .map { .init(name: "remark", text: "\($0.key) \($0.value)") }
  }
}

extension SettingsQueries {
  /// A user's settings in words; nil for a user without a record.
  func words(ofUser id: Identifier) throws -> [ChangedValues.Setting]? {
    let rules = try rules()
    return try user(id).map { $0.words(.user, rules) + (try display(of: id)).words }
  }

  /// A membership in words; nil for none.
  func words(
    of user: Identifier, in conversation: Identifier
  ) throws -> [ChangedValues.Setting]? {
    let rules = try rules()
    return try member(user, of: conversation).map {
      $0.words(.member, rules, channels: Set($0.channels.keys))
        + ChangedValues.Setting.list("nickname", try nickname(of: user, in: conversation))
    }
  }

  /// A conversation's settings in words; nil for one without a record.
  func words(ofConversation id: Identifier) throws -> [ChangedValues.Setting]? {
    let rules = try rules()
    return try conversation(id).map {
      $0.words(rules, channels: Set($0.channels.keys))
        + ChangedValues.Setting.list("name", try name(of: id))
    }
  }
}
