public import PushContent
public import PushModel
internal import PushSupport

/// Settings as the lines of an equal settings.ndjson.
///
/// The same settings always give the same bytes: fields come in one order, a default is left out,
/// channels are sorted. What the rule set does not have is left out, as it has no effect and a file
/// may not say it.
///
/// - Source: formats.md, "settings.ndjson".
public enum SettingsEncoder {
  /// The app's record, with every option of its rule set.
  public static func app(_ app: AppSettings) -> [UInt8] {
    var line = JSONLine("app")
    line.add("rules", app.rules.rawValue)
    line.add("timeZone", app.timeZone)
    let fields = app.rules.fields
    if fields.contains(.devicePolicy) { line.add("devicePolicy", app.devicePolicy.rawValue) }
    if fields.contains(.advancedPush) { line.add("advancedPush", raw: "\(app.advancedPush)") }
    if fields.contains(.appLevel) { line.add("level", app.level, app.rules) }
    if let quietHours = app.quietHours, fields.contains(.quietWindows) { line.add(quietHours) }
    if fields.contains(.messageNotification) {
      line.add("messageNotification", raw: "\(app.messageNotification)")
    }
    line.open("options")
    for (name, value) in app.optionTexts {
      let isBare = Bool(value) != nil || Int64(value) != nil
      if isBare { line.add(name, raw: value) } else { line.add(name, value) }
    }
    line.close()
    return line.end()
  }

  /// A user's record.
  ///
  /// - Parameter display: how pushes look to the user.
  public static func user(
    _ id: Identifier, _ user: UserSettings, _ rules: RuleSet,
    _ display: RecipientDisplay = RecipientDisplay()
  ) -> [UInt8] {
    var line = JSONLine("user")
    line.add("id", id.text)
    let fields = rules.fields
    if fields.contains(.userLevel) { line.add("level", user.level, rules) }
    let kinds = ConversationKind.allCases.filter {
      $0.exists(under: rules) && user.levels[$0].isSet
    }
    if fields.contains(.kindLevels), !kinds.isEmpty {
      line.open("levels")
      for kind in kinds { line.add(kind.rawValue, user.levels[kind].name) }
      line.close()
    }
    if let quietHours = user.quietHours, fields.contains(quietHours.field) { line.add(quietHours) }
    if let zone = user.timeZone { line.add("timeZone", zone) }
    if fields.contains(.userMute) { line.add("mutedUntil", user.mutedUntil) }
    if fields.contains(.pushWhenDesktopOnline), user.pushWhenDesktopOnline {
      line.add("pushWhenDesktopOnline", raw: "true")
    }
    if fields.contains(.localNotification),
      user.localInformationMissing || user.localHandledByApp
    {
      line.open("localNotification")
      line.add("informationMissing", raw: "\(user.localInformationMissing)")
      line.add("handledByApp", raw: "\(user.localHandledByApp)")
      line.close()
    }
    if fields.contains(.classLevels) { line.addOpenFields(user) }
    if let devices = user.devices { line.add(devices, rules) }
    if display != RecipientDisplay(), fields.contains(.display) { line.add(display, rules) }
    return line.end()
  }

  /// A conversation's record.
  public static func conversation(
    _ id: Identifier, _ settings: ConversationSettings, _ rules: RuleSet, name: String? = nil
  ) -> [UInt8] {
    var line = JSONLine("conversation")
    line.add("id", id.text)
    line.add("type", settings.kind.rawValue)
    if settings.kind == .thread, let parent = settings.parent { line.add("parent", parent.text) }
    if settings.kind == .ultraGroup || rules.fields.contains(.groupLevel) {
      line.add("level", settings.level, rules)
    }
    if settings.kind == .ultraGroup { line.add(settings.channels) }
    if let name { line.add("name", name) }
    return line.end()
  }

  /// The record of a membership.
  ///
  /// - Parameter kind: what the conversation is: it decides which fields a membership may have.
  public static func member(
    _ user: Identifier, of conversation: Identifier, _ kind: ConversationKind,
    _ member: MemberSettings, _ rules: RuleSet, nickname: String? = nil
  ) -> [UInt8] {
    var line = JSONLine()
    line.add(JSONLine(membersOf: conversation).bytes, user, kind, member, rules, nickname)
    return line.bytes
  }
}

/// The lines of many members, one after the other.
package struct MemberLines {
  private let rules: RuleSet
  private let kinds: [Identifier: ConversationKind]
  private let content: ContentDirectory
  private let hasNicknames: Bool
  private var lines = JSONLine()
  /// The beginning of the lines of a conversation's members.
  private var last: (conversation: Identifier, start: [UInt8], kind: ConversationKind)?

  /// - Parameters:
  ///   - kinds: those of the conversations that are no groups.
  ///   - content: how pushes look by the records.
  package init(
    _ count: Int, _ rules: RuleSet, kinds: [Identifier: ConversationKind],
    _ content: ContentDirectory
  ) {
    self.rules = rules
    self.kinds = kinds
    self.content = content
    hasNicknames = rules.fields.contains(.nickname)
    lines.reserve(count * 128)
  }

  package mutating func add(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings
  ) {
    if last?.conversation != conversation {
      last = (conversation, JSONLine(membersOf: conversation).bytes, kinds[conversation] ?? .group)
    }
    guard let last else { return }
    lines.add(
      last.start, user, last.kind, member, rules,
      hasNicknames ? content.nickname(of: user, in: conversation) : nil)
  }

  /// All lines.
  package consuming func end() -> [UInt8] { lines.bytes }
}

// The parts of records.
extension JSONLine {
  fileprivate init(_ kind: String) {
    self.init()
    reserve(128)
    open()
    add("kind", kind)
  }

  /// The beginning of a member's record.
  fileprivate init(membersOf conversation: Identifier) {
    self.init("member")
    add("conversation", conversation.text)
  }

  /// Adds a member's record in place: a copy of many lines for each would take longer with each.
  ///
  /// - Parameter start: that of ``init(membersOf:)``.
  fileprivate mutating func add(
    _ start: [UInt8], _ user: Identifier, _ kind: ConversationKind, _ member: MemberSettings,
    _ rules: RuleSet, _ nickname: String?
  ) {
    append(start)
    add("user", user.text)
    add("level", member.level, rules)
    let fields = rules.fields
    if fields.contains(.memberMute) { add("mutedUntil", member.mutedUntil) }
    if kind != .thread { add("since", member.since) }
    if kind == .ultraGroup { add(member.channels) }
    if member.isImportant, fields.contains(.important) { add("important", raw: "true") }
    if let isFollowing = member.isFollowing, fields.contains(.follow) {
      add("follow", raw: "\(isFollowing)")
    }
    if fields.contains(.roles) { add("roles", member.roles.map(\.text)) }
    if fields.contains(.nickname), let nickname { add("nickname", nickname) }
    append("}\n")
  }

  fileprivate mutating func add(_ name: String, _ level: NotificationLevel, _ rules: RuleSet) {
    guard level.isSet else { return }
    if rules.fields.contains(.classLevels) {
      add(name, level.mask)
    } else {
      add(name, level.name)
    }
  }

  /// A set of classes, by its word where it has one.
  fileprivate mutating func add(_ name: String, _ classes: MessageClasses) {
    if let word = classes.word { add(name, word) } else { add(name, all: classes.names) }
  }

  fileprivate mutating func add(_ name: String, _ instant: Instant) {
    if instant > .zero { add(name, raw: "\(instant.milliseconds)") }
  }

  fileprivate mutating func add(_ quietHours: QuietHours) {
    switch quietHours {
    case .interval(let interval): add(interval)
    case .span(let span): add(span)
    case .windows(let windows): add(windows)
    }
  }

  private mutating func add(_ interval: QuietInterval) {
    open("quietHours")
    add("start", ClockTime.text(minuteOfDay: interval.startMinute))
    add("end", ClockTime.text(minuteOfDay: interval.endMinute))
    close()
  }

  private mutating func add(_ span: QuietSpan) {
    open("quietHours")
    add("start", ClockTime.text(secondOfDay: span.startSecond))
    add("spanMinutes", raw: "\(span.spanMinutes)")
    if span.level.isSet { add("level", span.level.name) }
    if let zone = span.timeZone { add("timeZone", zone) }
    close()
  }

  private mutating func add(_ windows: QuietWindows) {
    addArray("quiet", windows.windows) { line, window in
      line.open()
      if window.days != QuietWindows.Window.everyDay { line.add("days", window.namesOfDays) }
      line.add("start", ClockTime.text(minuteOfDay: window.startMinute))
      line.add("end", ClockTime.text(minuteOfDay: window.endMinute))
      if !window.allow.isEmpty { line.add("allow", window.allow) }
      line.close()
    }
  }

  /// What only open rules have of a user.
  fileprivate mutating func addOpenFields(_ user: UserSettings) {
    if !user.mutedAllow.isEmpty { add("mutedAllow", user.mutedAllow) }
    if !user.allowForce { add("allowForce", raw: "false") }
    add("keywords", user.keywords)
    add("importantSenders", user.importantSenders.map(\.text))
    add("blockedSenders", user.blockedSenders.map(\.text))
  }

  fileprivate mutating func add(_ devices: [Device], _ rules: RuleSet) {
    addArray("devices", devices) { line, device in
      line.open()
      line.add("id", device.id.text)
      if device.kind != .mobile { line.add("type", device.kind.rawValue) }
      if device.state != .offline { line.add("state", device.state.rawValue) }
      if !device.hasToken { line.add("token", raw: "false") }
      if let notifier = device.notifier { line.add("notifier", notifier.text) }
      if let since = device.backgroundSince, rules.fields.contains(.backgroundSince) {
        line.add("backgroundSince", raw: "\(since.milliseconds)")
      }
      if let seen = device.seenAt, rules.fields.contains(.seenAt) {
        line.add("seenAt", raw: "\(seen.milliseconds)")
      }
      line.close()
    }
  }

  fileprivate mutating func add(_ display: RecipientDisplay, _ rules: RuleSet) {
    open("display")
    if let name = display.name { add("name", name) }
    if let style = display.style { add("style", style.rawValue) }
    if rules.fields.contains(.displayLanguage), let language = display.language {
      add("language", language.text)
    }
    if rules.fields.contains(.templates), let template = display.template {
      add("template", template)
    }
    if display.offlineMessages != 1 { add("offlineMessages", raw: "\(display.offlineMessages)") }
    close()
    guard !display.remarks.isEmpty else { return }
    open("remarks")
    let sorted = display.remarks.sorted {
      $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8)
    }
    for (other, remark) in sorted { add(other.text, remark) }
    close()
  }

  fileprivate mutating func add(_ channels: [Identifier: NotificationLevel]) {
    guard !channels.isEmpty else { return }
    open("channels")
    let sorted = channels.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
    for (channel, level) in sorted { add(channel.text, raw: "\"\(level.name)\"") }
    close()
  }
}

/// Writes settings as a settings.ndjson.
///
/// Users come in the order in which their ids first appeared, each with a record, so that a reader
/// gives them the same order.
public struct SettingsWriter {
  private let target: OutputFile
  private var rules = AppSettings().rules
  private var kinds: [Identifier: ConversationKind] = [:]
  private let content: ContentDirectory
  /// How many records were written.
  public private(set) var recordCount = 0

  /// - Parameter content: display settings, which the records contain too.
  public init(_ target: OutputFile, content: ContentDirectory = ContentDirectory()) {
    self.target = target
    self.content = content
  }

  /// The app comes first: it decides which fields the others may have.
  public mutating func write(_ app: AppSettings) throws(OutputProblem) {
    rules = app.rules
    try write(line: SettingsEncoder.app(app))
  }

  /// Writes a user, with content of the user if there is any.
  public mutating func write(
    _ id: Identifier, _ user: UserSettings
  ) throws(OutputProblem) {
    try write(line: SettingsEncoder.user(id, user, rules, content.user(id)))
  }

  /// A conversation comes before its members.
  public mutating func write(
    _ id: Identifier, _ settings: ConversationSettings
  ) throws(OutputProblem) {
    if settings.kind != .group { kinds[id] = settings.kind }
    try write(line: SettingsEncoder.conversation(id, settings, rules, name: content.name(of: id)))
  }

  /// Writes a member of a conversation that was written before.
  public mutating func write(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings
  ) throws(OutputProblem) {
    let kind = kinds[conversation] ?? .group
    let nickname = content.nickname(of: user, in: conversation)
    try write(
      line: SettingsEncoder.member(
        user, of: conversation, kind, member, rules, nickname: nickname))
  }

  /// Writes any record; the app comes first, and a conversation before its members.
  public mutating func write(_ record: SettingsRecord) throws(OutputProblem) {
    switch record {
    case .app(let app): try write(app)
    case .user(let id, let user): try write(id, user)
    case .conversation(let id, let conversation): try write(id, conversation)
    case .member(let user, let conversation, let member, _):
      try write(user, of: conversation, member)
    }
  }

  private mutating func write(line: [UInt8]) throws(OutputProblem) {
    try target.write(line)
    recordCount += 1
  }
}
