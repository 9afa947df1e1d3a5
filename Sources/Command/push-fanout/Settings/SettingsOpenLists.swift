import ArgumentParser
import PushModel
import PushStore
import PushSupport

// Lists of open rules: a verb, and what to add or remove. Every command prints the list.

/// `push-fanout settings quiet`: a user's quiet windows.
struct SettingsQuiet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quiet",
    abstract: "List, add, remove or clear a user's quiet windows (open).",
    discussion: """
      A window is removed by its place in the list. A user without windows has the app's: clear \
      leaves it at that, and the first window that is added replaces all of the app's. One whose \
      last window was removed has none, as after none.

      Examples:

        push-fanout settings quiet add 22:00-7:00 --store app.store --user u1 \\
          --days sun,mon,tue,wed,thu --allow direct

        push-fanout settings quiet remove 1 --store app.store --user u1

        push-fanout settings quiet list --store app.store --user u1 --json
      """)

  enum Verb: String, CaseIterable, ExpressibleByArgument {
    case list, add, remove, clear, none
  }

  @Argument(help: "list, add, remove, clear or none.")
  var verb: Verb
  @Argument(help: ArgumentHelp("H:M-H:M to add, or a place to remove.", valueName: "window"))
  var window: String?
  @OptionGroup var list: OpenListOptions

  @Option(
    help: ArgumentHelp(
      "The days on which it starts, like sat,sun. (default: every day)", valueName: "days"))
  var days: String?

  @Option(help: ArgumentHelp("What it lets through. (default: none)", valueName: "classes"))
  var allow: ClassesText?

  func validate() throws {
    if days != nil || allow != nil, verb != .add {
      throw ValidationError("--days and --allow go with add.")
    }
    switch (verb, window) {
    case (.add, let text?) where times(text) != nil: break
    case (.add, _): throw ValidationError("Name the window to add, H:M-H:M.")
    case (.remove, let text?) where Int64(text) != nil: break
    case (.remove, _): throw ValidationError("Name the window to remove, 1 being the first.")
    case (_, nil): break
    default: throw ValidationError("\(verb.rawValue) takes no window.")
    }
  }

  private func times(_ text: String) -> (start: String, end: String)? {
    guard case .interval(let start, let end) = QuietText(text), !start.isEmpty else { return nil }
    return (start, end)
  }

  private func operation(_ user: Identifier) -> SettingsOperation? {
    switch verb {
    case .list: nil
    case .add:
      window.flatMap { times($0) }.map { times in
        .addQuietWindow(
          user: user, days: days.map { $0.split(separator: ",").map(String.init) },
          start: times.start, end: times.end, allow: allow?.classes)
      }
    case .remove:
      window.flatMap { Int64($0) }.map { .removeQuietWindow(user: user, position: $0) }
    case .clear: .clearQuietWindows(user: user)
    case .none: .clearQuietWindows(user: user, keepsNone: true)
    }
  }

  func run() throws {
    let user = Identifier(list.user)
    // Whether the app's windows hold before the first of one's own is added.
    var hasOwn = true
    do {
      try list.run(operation(user).map { [$0] } ?? []) { store in
        hasOwn = try store.openSettings(of: user).quietHours != nil
      } show: { store in
        let ofApp = OpenSetting.windows(try store.reader.app().quietHours) ?? []
        try show(OpenSetting.windows(try store.openSettings(of: user).quietHours), ofApp)
        if !hasOwn, verb == .add, !ofApp.isEmpty {
          let windows = ofApp.map { $0.days == nil ? "\($0.words) every day" : $0.words }
          Terminal.note(
            "\(user)'s own windows now replace the app's (\(windows.joined(separator: "; ")))")
        }
      }
    } catch StoreError.otherRules(let rules) {
      let window = rules.fields.contains(.quietSpan) ? "22:00:00+600" : "22:00-08:00"
      throw Failure(
        text: "the store's rules are \(rules.rawValue)'s: use settings set --quiet-hours \(window)")
    }
  }

  /// Prints the windows that hold for the user: the own ones; without any, whose do.
  ///
  /// - Parameter own: nil where the app's hold.
  private func show(_ own: [OpenSetting.Window]?, _ ofApp: [OpenSetting.Window]) throws {
    if let own, !own.isEmpty { return try list.options.show(own) }
    if list.options.json {
      return try list.options.show(own == nil ? ofApp.map { $0.of(scope: "app") } : [])
    }
    let words = ofApp.map(\.words).joined(separator: "; ")
    let line =
      switch (own == nil, ofApp.isEmpty) {
      case (true, true): "none of its own, and the app has none"
      case (true, false): "none of its own; the app's: \(words)"
      case (false, true): "none"
      case (false, false): "none, and not the app's: \(words)"
      }
    Terminal.printResult(TerminalText.escaped(line))
  }
}

/// What is done to a list.
enum ListVerb: String, CaseIterable, ExpressibleByArgument {
  case list, add, remove

  /// - Throws: `ValidationError` for values without a verb that takes them, or the other way round.
  func validate(_ values: [String]) throws {
    if (self == .list) != values.isEmpty {
      throw ValidationError(
        self == .list ? "list takes nothing more." : "Say what to \(rawValue).")
    }
  }
}

/// `push-fanout settings keywords`: a user's keywords.
struct SettingsKeywords: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keywords",
    abstract: "List, add or remove a user's keywords (open).",
    discussion: """
      Examples:

        push-fanout settings keywords add deploy "on call" --store app.store \\
          --user u1

        push-fanout settings keywords list --store app.store --user u1
      """)

  @Argument(help: "list, add or remove.")
  var verb: ListVerb
  @Argument(help: ArgumentHelp("Words or phrases.", valueName: "keyword"))
  var keywords: [String] = []
  @OptionGroup var list: OpenListOptions

  func validate() throws { try verb.validate(keywords) }

  func run() throws {
    let user = Identifier(list.user)
    let operations: [SettingsOperation] = keywords.map { keyword in
      verb == .add
        ? .addKeyword(user: user, keyword: keyword) : .removeKeyword(user: user, keyword: keyword)
    }
    try list.run(operations) { store in
      let own = try store.openSettings(of: user)
      try list.options.show(own.keywords.map { ListedText(name: "keyword", value: $0) })
    }
  }
}

/// `push-fanout settings senders`: a user's important or blocked senders.
struct SettingsSenders: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "senders",
    abstract: "List, add or remove a user's important or blocked senders (open).",
    discussion: """
      Nobody can be in both lists.

      Examples:

        push-fanout settings senders important add boss --store app.store \\
          --user u1

        push-fanout settings senders blocked list --store app.store --user u1
      """)

  @Argument(help: "important or blocked.")
  var which: SenderList
  @Argument(help: "list, add or remove.")
  var verb: ListVerb
  @Argument(help: ArgumentHelp("Ids of users.", valueName: "id"))
  var ids: [String] = []
  @OptionGroup var list: OpenListOptions

  func validate() throws { try verb.validate(ids) }

  func run() throws {
    let user = Identifier(list.user)
    let operations: [SettingsOperation] = ids.map { id in
      verb == .add
        ? .addSender(user: user, other: Identifier(id), list: which)
        : .removeSender(user: user, other: Identifier(id), list: which)
    }
    try list.run(operations) { store in
      let own = try store.openSettings(of: user)
      let ids = which == .important ? own.importantSenders : own.blockedSenders
      try list.options.show(ids.map { ListedText(name: "sender", value: $0.text) })
    }
  }
}

/// `push-fanout settings roles`: a member's roles.
struct SettingsRoles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "roles",
    abstract: "List or set a member's roles in a conversation (open).",
    discussion: """
      set replaces all of them, and leaves none without any.

      Examples:

        push-fanout settings roles list --store app.store --user u1 \\
          --conversation g1

        push-fanout settings roles set oncall design --store app.store --user u1 \\
          --conversation g1
      """)

  enum Verb: String, CaseIterable, ExpressibleByArgument {
    case list, set
  }

  @Argument(help: "list or set.")
  var verb: Verb
  @Argument(help: ArgumentHelp("The roles.", valueName: "role"))
  var roles: [String] = []
  @OptionGroup var list: OpenListOptions
  @Option(help: ArgumentHelp("The conversation's id.", valueName: "id"))
  var conversation: String

  func validate() throws {
    if verb == .list, !roles.isEmpty { throw ValidationError("list takes nothing more.") }
  }

  func run() throws {
    let (user, id) = (Identifier(list.user), Identifier(conversation))
    let operation = SettingsOperation.setRoles(
      user: user, conversation: id, roles: roles.map { Identifier($0) })
    try list.run(verb == .set ? [operation] : []) { store in
      let own = try store.openSettings(of: user, in: id)
      try list.options.show(own.roles.map { ListedText(name: "role", value: $0.text) })
    }
  }
}

/// Whose list, in which store.
struct OpenListOptions: ParsableArguments {
  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String
  @OptionGroup var writing: WriteOptions

  /// Applies operations, and then shows; without any it only reads.
  ///
  /// - Parameter before: looks at what is there before.
  func run(
    _ operations: [SettingsOperation], before: (SettingsStore) throws -> Void = { _ in },
    show: (SettingsStore) throws -> Void
  ) throws {
    if operations.isEmpty {
      return try options.reading(of: Identifier(user), show)
    }
    try options.writing(writing, user: Identifier(user)) { store in
      try before(store)
      try store.apply(operations, writing)
      try show(store)
    }
  }
}

/// An entry of a list.
private struct ListedText: SettingResult {
  let name, value: String
  var text: String { value }
  func json() throws -> String { try [name: value].encoded() }
}
