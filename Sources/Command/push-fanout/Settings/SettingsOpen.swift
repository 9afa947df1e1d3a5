import ArgumentParser
import PushModel
import PushStore
import PushSupport

/// What `settings set` writes of open rules, besides the level.
struct OpenSetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Mute the user or the conversation until an instant, 0 for no mute (open).",
      valueName: "instant"))
  var mutedUntil: String?

  @Option(help: ArgumentHelp("What passes the user's mutes (open).", valueName: "classes"))
  var mutedAllow: ClassesText?

  @Option(
    help: ArgumentHelp(
      "Whether messages with force pass mutes and quiet windows, on or off (open).",
      valueName: "switch"))
  var allowForce: SettingsApp.Switch?

  @Option(
    help: ArgumentHelp(
      "Whether the conversation skips the user's mute and windows, on or off (open).",
      valueName: "switch"))
  var important: SettingsApp.Switch?

  @Option(
    help: ArgumentHelp(
      "Whether the user follows the thread: on, off or unset (open).", valueName: "follow"))
  var follow: Follow?

  enum Follow: String, CaseIterable, ExpressibleByArgument {
    case on, off, unset
  }

  var isEmpty: Bool {
    mutedUntil == nil && mutedAllow == nil && allowForce == nil && important == nil
      && follow == nil
  }

  func validate() throws {
    if let mutedUntil, Instant(text: mutedUntil) == nil {
      throw ValidationError(
        "--muted-until \(mutedUntil) is not an instant; give Unix milliseconds or an RFC 3339 time."
      )
    }
  }

  /// The operations of the flags.
  ///
  /// - Throws: ``Failure`` for a flag that is of another scope.
  func operations(_ user: Identifier, in id: Identifier?) throws(Failure) -> [SettingsOperation] {
    if id != nil, mutedAllow != nil || allowForce != nil {
      throw Failure(
        text: "--muted-allow and --allow-force are the user's; leave out --conversation")
    }
    if id == nil, important != nil || follow != nil {
      throw Failure(
        text: "--important and --follow are of a conversation; name --conversation")
    }
    var operations: [SettingsOperation] = []
    if let end = mutedUntil.flatMap({ Instant(text: $0) }) {
      operations.append(
        .muteUntil(user: user, conversation: id, mutedUntil: end))
    }
    if let mutedAllow {
      operations.append(.setMutedAllow(user: user, allow: mutedAllow.classes))
    }
    if let allowForce {
      operations.append(.setAllowForce(user: user, allowForce: allowForce == .on))
    }
    guard let id else { return operations }
    if let important {
      operations.append(
        .setImportant(user: user, conversation: id, important: important == .on))
    }
    if let follow {
      operations.append(
        .setFollow(
          user: user, conversation: id, follow: follow == .unset ? nil : follow == .on))
    }
    return operations
  }
}

/// Classes on the command line: a word, or names with commas between.
struct ClassesText: ExpressibleByArgument {
  let classes: MessageClasses

  init?(argument: String) {
    guard let classes = try? MessageClasses(typed: argument) else { return nil }
    self.classes = classes
  }
}

/// A level for those who have set none.
struct OpenDefault: SettingResult, Encodable {
  /// nil for the app.
  let conversation: String?
  /// nil for unset.
  let level: MessageClasses?

  var text: String {
    (conversation.map { "conversation \($0)" } ?? "app")
      + ": level \(level?.name ?? "default")"
  }
}

/// What a user of open rules has set; named like the fields of settings files.
struct OpenSetting: SettingResult, Encodable {
  /// A window, and its place in the list.
  struct Window: SettingResult, Encodable {
    let position: Int
    let days: [String]?
    let start, end: String
    let allow: MessageClasses?
    /// Whose it is, if it is not the user's.
    private(set) var scope: String?

    init(_ window: QuietWindows.Window, _ position: Int) {
      self.position = position
      days = window.days == QuietWindows.Window.everyDay ? nil : window.namesOfDays
      start = ClockTime.text(minuteOfDay: window.startMinute)
      end = ClockTime.text(minuteOfDay: window.endMinute)
      allow = window.allow.isEmpty ? nil : window.allow
    }

    var words: String {
      ((days ?? []) + ["\(start)-\(end)"] + (allow.map { ["allow \($0.name)"] } ?? []))
        .joined(separator: " ")
    }

    var text: String { "\(position) \(words)" }

    func of(scope: String) -> Window {
      var window = self
      window.scope = scope
      return window
    }
  }

  let user: String
  var conversation: String?
  /// nil for unset.
  let level: MessageClasses?
  let mutedUntil: Int64?
  var quiet: [Window]?
  var timeZone: String?
  var mutedAllow: MessageClasses?
  var allowForce: Bool?
  var keywords, importantSenders, blockedSenders: [String]?
  var important, follow: Bool?
  /// Whether the user follows the thread, by a record in it (O-1); nil for what is no thread.
  var follows: Bool?
  var roles: [String]?

  init(_ user: Identifier, _ own: UserSettings) {
    self.user = user.text
    level = own.level.isSet ? own.level.mask : nil
    mutedUntil = own.mutedUntil > .zero ? own.mutedUntil.milliseconds : nil
    quiet = Self.windows(own.quietHours)
    timeZone = own.timeZone
    mutedAllow = own.mutedAllow.isEmpty ? nil : own.mutedAllow
    allowForce = own.allowForce ? nil : false
    keywords = own.keywords.isEmpty ? nil : own.keywords
    importantSenders = Self.texts(own.importantSenders)
    blockedSenders = Self.texts(own.blockedSenders)
  }

  init(
    _ user: Identifier, in conversation: Identifier, _ own: MemberSettings, follows: Bool?
  ) {
    self.user = user.text
    self.conversation = conversation.text
    level = own.level.isSet ? own.level.mask : nil
    mutedUntil = own.mutedUntil > .zero ? own.mutedUntil.milliseconds : nil
    important = own.isImportant ? true : nil
    follow = own.isFollowing
    self.follows = follows
    roles = Self.texts(own.roles)
  }

  /// The windows of a user or of the app; nil where there is no list.
  static func windows(_ quiet: QuietHours?) -> [Window]? {
    guard case .windows(let windows) = quiet else { return nil }
    return windows.windows.enumerated().map { Window($1, $0 + 1) }
  }

  private static func texts(_ ids: [Identifier]) -> [String]? {
    ids.isEmpty ? nil : ids.map(\.text)
  }

  var text: String {
    var parts: [String] = []
    if let level { parts.append("level \(level.name)") }
    if let mutedUntil {
      parts.append("muted until \(Instant(milliseconds: mutedUntil).rfc3339)")
    }
    if let quiet {
      let windows = quiet.map(\.words).joined(separator: "; ")
      parts.append("quiet hours \(quiet.isEmpty ? "no windows" : windows)")
    }
    if let timeZone { parts.append("time zone \(timeZone)") }
    if let mutedAllow { parts.append("muted allow \(mutedAllow.name)") }
    if allowForce == false { parts.append("allow force off") }
    parts += (keywords ?? []).map { "keyword \($0)" }
    parts += (importantSenders ?? []).map { "important sender \($0)" }
    parts += (blockedSenders ?? []).map { "blocked sender \($0)" }
    if important == true { parts.append("important") }
    if let follow { parts.append("follow \(follow ? "on" : "off")") }
    parts += (roles ?? []).map { "role \($0)" }
    if parts.isEmpty { parts.append("nothing set") }
    if follow == nil, let follows {
      parts.append(follows ? "follows the thread" : "does not follow the thread")
    }
    return "user \(user)" + (conversation.map { ", conversation \($0)" } ?? "") + ": "
      + parts.joined(separator: ", ")
  }
}
