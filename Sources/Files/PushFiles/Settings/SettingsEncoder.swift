public import PushContent
public import PushModel
internal import PushSupport

/// Settings as the lines of an equal settings.ndjson.
///
/// The same settings always give the same bytes: fields come in one order, a default is left out,
/// channels are sorted. What the rule set does not have is left out, as it has no effect and a file
/// may not say it.
///
/// Tokens and installation ids of devices are left out unless they are asked for: a token that is a
/// string is written `true`.
///
/// - Source: formats.md, "settings.ndjson".
public enum SettingsEncoder {
  /// The app's record, with every option of its rule set.
  public static func app(_ app: AppSettings) -> [UInt8] {
    var line = JSONWriter("app")
    line.add("rules", app.rules.rawValue)
    line.addFields(of: app, app.rules)
    line.open("options")
    for (name, value) in app.optionTexts {
      let isBare = Bool(value) != nil || Int64(value) != nil
      if isBare { line.add(name, raw: value) } else { line.add(name, value) }
    }
    line.close()
    return line.endLine()
  }

  /// A user's record.
  ///
  /// - Parameters:
  ///   - display: how pushes look to the user.
  ///   - tokens: whether tokens and installation ids are written.
  public static func user(
    _ id: Identifier, _ user: UserSettings, _ rules: RuleSet,
    _ display: RecipientDisplay = RecipientDisplay(), withTokens tokens: Bool = false
  ) -> [UInt8] {
    var line = JSONWriter("user")
    line.add("id", id.text)
    var user = user
    if rules.fields.contains(.kindLevels), user.levels != KindLevels() {
      for kind in ConversationKind.allCases where !kind.exists(under: rules) {
        user.levels[kind] = .unset
      }
    }
    line.addFields(of: user, rules, withTokens: tokens)
    if display != RecipientDisplay(), rules.fields.contains(.display) { line.add(display, rules) }
    return line.endLine()
  }

  /// A conversation's record.
  public static func conversation(
    _ id: Identifier, _ settings: ConversationSettings, _ rules: RuleSet, name: String? = nil
  ) -> [UInt8] {
    var line = JSONWriter("conversation")
    line.add("id", id.text)
    line.add("type", settings.kind.rawValue)
    if settings.kind == .thread, let parent = settings.parent { line.add("parent", parent.text) }
    if settings.kind == .ultraGroup || rules.fields.contains(.groupLevel) {
      line.add(settings.level, rules)
    }
    if settings.kind == .ultraGroup, !settings.channels.isEmpty {
      line.name(plain: "channels")
      line.value(settings.channels)
    }
    if let name { line.add("name", name) }
    return line.endLine()
  }

  /// The record of a membership.
  ///
  /// - Parameter kind: what the conversation is: it decides which fields a membership may have.
  public static func member(
    _ user: Identifier, of conversation: Identifier, _ kind: ConversationKind,
    _ member: MemberSettings, _ rules: RuleSet, nickname: String? = nil
  ) -> [UInt8] {
    var line = JSONWriter()
    line.add(JSONWriter(membersOf: conversation).bytes, user, kind, member, rules, nickname)
    return line.bytes
  }
}

/// The lines of many members, one after the other.
package struct MemberLines {
  private let rules: RuleSet
  private let kinds: [Identifier: ConversationKind]
  private let content: ContentDirectory
  private let hasNicknames: Bool
  private var lines = JSONWriter()
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
      last = (
        conversation, JSONWriter(membersOf: conversation).bytes, kinds[conversation] ?? .group
      )
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
extension JSONWriter {
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
    // Levels by channel are of ultra groups, and a thread's members are those of its parent.
    var member = member
    if kind != .ultraGroup, !member.channels.isEmpty { member.channels = [:] }
    if kind == .thread { member.since = .zero }
    addFields(of: member, rules)
    if rules.fields.contains(.nickname), let nickname { add("nickname", nickname) }
    append("}\n")
  }

  /// Adds the fields of a record that are set and that the rules have.
  fileprivate mutating func addFields<Record: RecordFields>(
    of record: Record, _ rules: RuleSet, withTokens tokens: Bool = false
  ) {
    var encoder = FieldEncoder(record: record, rules: rules, withTokens: tokens)
    swap(&encoder.line, &self)
    Record.visitFields(&encoder)
    swap(&encoder.line, &self)
  }

  /// Adds a level, if it is set.
  fileprivate mutating func add(_ level: NotificationLevel, _ rules: RuleSet) {
    guard level.isSet else { return }
    name(plain: "level")
    value(level, rules)
  }

  fileprivate mutating func value(_ level: NotificationLevel, _ rules: RuleSet) {
    if let names = level.classNames(under: rules) {
      value(names)
    } else {
      value(level.name(under: rules))
    }
  }

  /// A set of classes, by its word where it has one.
  fileprivate mutating func value(_ classes: MessageClasses) {
    if let word = classes.word { value(word) } else { value(classes.names) }
  }

  fileprivate mutating func value(_ quietHours: QuietHours) {
    switch quietHours {
    case .interval(let interval):
      open()
      add("start", ClockTime.text(minuteOfDay: interval.startMinute))
      add("end", ClockTime.text(minuteOfDay: interval.endMinute))
      close()
    case .span(let span):
      open()
      add("start", ClockTime.text(secondOfDay: span.startSecond))
      add("spanMinutes", raw: "\(span.spanMinutes)")
      if span.level.isSet { add("level", span.level.name) }
      if let zone = span.timeZone { add("timeZone", zone) }
      close()
    case .windows(let windows):
      value(windows.windows) { line, window in
        line.open()
        if window.days != QuietWindows.Window.everyDay {
          line.add("days", texts: window.namesOfDays)
        }
        line.add("start", ClockTime.text(minuteOfDay: window.startMinute))
        line.add("end", ClockTime.text(minuteOfDay: window.endMinute))
        if !window.allow.isEmpty {
          line.name(plain: "allow")
          line.value(window.allow)
        }
        line.close()
      }
    }
  }

  fileprivate mutating func value(
    _ devices: [Device], _ rules: RuleSet, withTokens: Bool
  ) {
    value(devices) { line, device in
      line.open()
      line.add("id", device.id.text)
      if device.kind != .mobile { line.add("type", device.kind.rawValue) }
      if device.state != .offline { line.add("state", device.state.rawValue) }
      let address = rules.fields.contains(.deviceAddress) ? device.address : DeviceAddress()
      if !device.hasToken {
        line.add("token", raw: "false")
      } else if let token = address.token {
        if withTokens { line.add("token", token) } else { line.add("token", raw: "true") }
      }
      if let notifier = device.notifier { line.add("notifier", notifier.text) }
      if let platform = address.platform { line.add("platform", platform.rawValue) }
      if withTokens, let fid = address.fid { line.add("fid", fid) }
      if let since = device.backgroundSince, rules.fields.contains(.backgroundSince) {
        line.add("backgroundSince", raw: "\(since.milliseconds)")
      }
      if let seen = device.seenAt, rules.fields.contains(.seenAt) {
        line.add("seenAt", raw: "\(seen.milliseconds)")
      }
      line.close()
    }
  }

  fileprivate mutating func value(_ channels: [Identifier: NotificationLevel]) {
    open()
    let sorted = channels.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
    for (channel, level) in sorted { add(channel.text, level.name) }
    close()
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
}

/// Writes the fields of a record that are set and that the rules have.
private struct FieldEncoder<Record>: FieldVisitor {
  let record: Record
  let rules: RuleSet
  let withTokens: Bool
  var line = JSONWriter()

  @inline(__always)
  mutating func visit(_ field: RecordField<Record>) {
    guard let owner = field.owner(in: record), rules.fields.isSuperset(of: owner) else { return }
    line.name(plain: field.name)
    switch field.value {
    case .level(let path): line.value(record[keyPath: path], rules)
    case .kindLevels(let path):
      let levels = record[keyPath: path]
      line.open()
      for kind in ConversationKind.allCases where levels[kind].isSet {
        line.add(kind.rawValue, levels[kind].name)
      }
      line.close()
    case .channelLevels(let path): line.value(record[keyPath: path])
    case .quietHours(let path), .quietWindows(let path):
      if let quietHours = record[keyPath: path] { line.value(quietHours) }
    case .zone(let path): line.value(record[keyPath: path])
    case .ownZone(let path): line.value(record[keyPath: path] ?? "")
    case .instant(let path): line.value(raw: "\(record[keyPath: path].milliseconds)")
    case .flag(let path, _): line.value(raw: "\(record[keyPath: path])")
    case .answer(let path): line.value(raw: "\(record[keyPath: path] ?? false)")
    case .localNotification(let missing, let handled):
      line.open()
      line.add("informationMissing", raw: "\(record[keyPath: missing])")
      line.add("handledByApp", raw: "\(record[keyPath: handled])")
      line.close()
    case .classes(let path): line.value(record[keyPath: path])
    case .texts(let path, _): line.value(record[keyPath: path])
    case .ids(let path, _): line.value(record[keyPath: path].map(\.text))
    case .devicePolicy(let path): line.value(record[keyPath: path].rawValue)
    case .devices(let path): line.value(record[keyPath: path] ?? [], rules, withTokens: withTokens)
    }
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
