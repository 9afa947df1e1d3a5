import ArgumentParser
import PushFanout
import PushModel
import PushStore

/// `push-fanout settings set`: writes a user's settings; what is not named stays.
struct SettingsSet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Write a user's settings, and print the result.",
    discussion: """
      What is not named stays. A duration counts from now, or --at; 0 minutes end it.

      Examples (easemob):

        push-fanout settings set --store app.store --user u1 --level mention \\
          --quiet-hours 22:00-08:00

        push-fanout settings set --store app.store --user u1 --conversation g1 \\
          --minutes 240

      Examples (rongcloud):

        push-fanout settings set --store app.store --user u1 --type group \\
          --level 5

        push-fanout settings set --store app.store --user u1 \\
          --quiet-hours 22:00:00+600 --quiet-level none --quiet-zone Asia/Shanghai

        push-fanout settings set --store app.store --user u1 \\
          --push-when-desktop-online on

      Examples (open):

        push-fanout settings set --store app.store --user u1 --level direct

        push-fanout settings set --store app.store --user u1 --conversation t1 \\
          --level me,reply --follow on
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var scopeOptions: ScopeOptions
  @OptionGroup var writing: WriteOptions

  @Option(parsing: .unconditional, help: .level)
  var level: LevelText?

  @Option(
    help: ArgumentHelp("Do not disturb for so long, 0...10080 (easemob).", valueName: "minutes"))
  var minutes: Int64?

  @Option(
    name: .customLong("quiet-hours"),
    help: ArgumentHelp(
      "H:M-H:M or, for none, '' (easemob); HH:MM:SS+minutes (rongcloud).", valueName: "window"))
  var quiet: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "What the window lets through: none, mention or default (rongcloud).", valueName: "level"))
  var quietLevel: LevelText?

  @Option(
    help: ArgumentHelp("The window's own time zone (rongcloud).", valueName: "name"))
  var quietZone: String?

  @Flag(name: .customLong("remove-quiet-hours"), help: "Remove the quiet hours.")
  var removeQuiet = false

  @Option(help: ArgumentHelp("The user's time zone, an IANA name.", valueName: "name"))
  var timeZone: String?

  @Flag(help: "Remove the user's time zone, so that the app's counts.")
  var removeTimeZone = false

  @Option(
    help: ArgumentHelp(
      "Whether a phone gets pushes while only a desktop is connected: on or off (rongcloud).",
      valueName: "switch"))
  var pushWhenDesktopOnline: SettingsApp.Switch?

  @OptionGroup var open: OpenSetOptions

  @Option(
    help: ArgumentHelp(
      """
      What an older client writes: dnd or notify (rongcloud); no-push or push of a conversation, \
      or whole hours, 0 through 24, like 22-8; 0-24 is all day (easemob).
      """, valueName: "state"))
  var legacy: String?

  func validate() throws {
    let others =
      level == nil && minutes == nil && quiet == nil && !removeQuiet && timeZone == nil
      && !removeTimeZone && pushWhenDesktopOnline == nil && open.isEmpty
    if others && legacy == nil {
      throw ValidationError(
        """
        Say what to set: --level, --minutes, --quiet-hours, --remove-quiet-hours, --time-zone, \
        --remove-time-zone, --push-when-desktop-online, --legacy or a flag of open rules.
        """)
    }
    if legacy != nil && !others {
      throw ValidationError("--legacy writes all by itself: leave out other settings.")
    }
    if legacy != nil, scopeOptions.channel != nil || scopeOptions.type != nil {
      throw ValidationError(
        "Older clients know neither channels nor types: leave out --channel and --type.")
    }
    let hasScope = scopeOptions.conversation != nil || scopeOptions.type != nil
    if timeZone != nil, hasScope {
      throw ValidationError(
        "The time zone is the user's: leave out --conversation, --channel and --type.")
    }
    if pushWhenDesktopOnline != nil, hasScope {
      throw ValidationError(
        "--push-when-desktop-online is the user's: leave out --conversation, --channel and --type.")
    }
    if timeZone != nil, removeTimeZone {
      throw ValidationError("--time-zone and --remove-time-zone contradict each other.")
    }
    if let legacy, LegacyText(legacy) == nil {
      throw ValidationError("--legacy \(legacy) is not dnd, notify, no-push, push or hours H-H.")
    }
    if quiet != nil && removeQuiet {
      throw ValidationError("--quiet-hours and --remove-quiet-hours contradict each other.")
    }
    if quietLevel != nil || quietZone != nil, quiet == nil {
      throw ValidationError("--quiet-level and --quiet-zone go with --quiet-hours.")
    }
    if let quiet, QuietText(quiet) == nil {
      throw ValidationError("--quiet-hours \(quiet) is not a window, H:M-H:M or HH:MM:SS+minutes.")
    }
  }

  func run() throws {
    let user = Identifier(scopeOptions.user)
    try options.writing(writing, user: user) { store in
      if let text = legacy, let legacy = LegacyText(text) {
        try store.apply([operation(legacy, user)], writing)
      } else {
        try store.apply(operations(user, try store.reader.app().rules), writing)
      }
      // Of a conversation there are none, and under RongCloud they are refused.
      let ignoresQuiet = quiet != nil || removeQuiet
      try store.show(
        user, scopeOptions.scope, options,
        ignored: ignoresQuiet && scopeOptions.conversation != nil ? ["quietHours"] : nil)
    }
  }

  private func operation(
    _ legacy: LegacyText, _ user: Identifier
  ) throws(Failure) -> SettingsOperation {
    switch (legacy, scopeOptions.conversation.map { Identifier($0) }) {
    case (.state(let isOn), let id?):
      return .setConversationNotificationStatus(user: user, conversation: id, doNotDisturb: isOn)
    case (.noPush(let isListed), let id?):
      return .updatePushServiceForGroups(user: user, conversations: [id], noPush: isListed)
    case (.hours(let start, let end), nil):
      return .setNoDisturbing(user: user, startHour: start, endHour: end)
    case (.hours, _):
      throw Failure(text: "quiet hours belong to the user; leave out --conversation")
    case (_, nil): throw Failure(text: "a state belongs to a conversation; name --conversation")
    }
  }
}

/// A window as typed on the command line.
enum QuietText {
  case interval(start: String, end: String)
  case span(start: String, minutes: Int)

  init?(_ text: String) {
    if text.isEmpty {
      self = .interval(start: "", end: "")
    } else if let plus = text.firstIndex(of: "+") {
      guard let minutes = Int(text[text.index(after: plus)...]) else { return nil }
      self = .span(start: String(text[..<plus]), minutes: minutes)
    } else {
      guard let dash = text.firstIndex(of: "-") else { return nil }
      self = .interval(
        start: String(text[..<dash]), end: String(text[text.index(after: dash)...]))
    }
  }

  /// Easemob's; both times empty are not set (E-4).
  func interval() throws -> (start: String, end: String) {
    guard case .interval(let start, let end) = self else { throw StoreError.otherRules(.easemob) }
    _ = try QuietInterval.parse(start: start, end: end)
    return (start, end)
  }

  func span() throws -> (start: String, minutes: Int) {
    guard case .span(let start, let minutes) = self else { throw StoreError.otherRules(.rongcloud) }
    return (start, minutes)
  }
}

/// What older clients know.
private enum LegacyText {
  /// Whether it is do not disturb.
  case state(Bool)
  case noPush(Bool)
  case hours(Int64, Int64)

  init?(_ text: String) {
    switch text {
    case "dnd": self = .state(true)
    case "notify": self = .state(false)
    case "no-push": self = .noPush(true)
    case "push": self = .noPush(false)
    default:
      let hours = text.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
      guard hours.count == 2, let start = hours[0], let end = hours[1] else { return nil }
      self = .hours(start, end)
    }
  }
}

/// `push-fanout settings clear`: takes a setting back, so that the next scope decides.
struct SettingsClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Clear a level or the quiet hours, so that the next scope decides.",
    discussion: """
      Of a conversation only the level is cleared; a running duration stays (easemob).

      Examples:

        push-fanout settings clear --store app.store --user u1 --conversation g1

        push-fanout settings clear --store app.store --user u1 --quiet-hours
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var scopeOptions: ScopeOptions
  @OptionGroup var writing: WriteOptions

  @Flag(name: .customLong("quiet-hours"), help: "Remove the user's quiet hours.")
  var quiet = false

  func validate() throws {
    let hasScope = scopeOptions.conversation != nil || scopeOptions.type != nil
    if hasScope == quiet {
      throw ValidationError("Say what to clear: --conversation, --type or --quiet-hours.")
    }
  }

  func run() throws {
    let (user, scope) = (Identifier(scopeOptions.user), scopeOptions.scope)
    try options.writing(writing, user: user) { store in
      let rules = try store.reader.app().rules
      try store.apply([scope.clearing(of: user, rules)], writing)
      try store.show(user, scope, options)
    }
  }
}
