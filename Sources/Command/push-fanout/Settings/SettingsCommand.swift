import ArgumentParser
import Foundation
import PushModel
import PushStore
import PushSupport

/// `push-fanout settings`: reads and writes users' settings in a store with the vendors'
/// operations.
struct SettingsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Read and change settings in a store, by the operations of its rule set.",
    discussion: """
      The store's rule set determines the operations. A refused operation changes nothing.

      Examples:

        push-fanout settings set --store app.store --user u1 --level mention

        push-fanout settings get --store app.store --user u1 --conversation g1 \\
          --json

        push-fanout settings events --store app.store --after 0 --user u1 --follow

      Exit status: 0 success, 1 refused or not possible, 2 wrong usage.
      """,
    subcommands: [
      SettingsGet.self, SettingsSet.self, SettingsClear.self, SettingsList.self,
      SettingsBlocked.self, SettingsEvents.self, SettingsDevice.self, SettingsDisplay.self,
      SettingsDefaults.self, SettingsApp.self, SettingsRemove.self,
      SettingsTemplate.self, SettingsQuiet.self, SettingsKeywords.self, SettingsSenders.self,
      SettingsRoles.self,
    ])
}

/// The store, and how results are printed.
struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The store.", valueName: "file"))
  var store: StorePath

  @Flag(help: "One JSON object a line.")
  var json = false

  @OptionGroup var habits: QuietOption

  /// Reads a store; other processes may write meanwhile.
  func reading<Value>(_ body: (SettingsStore) throws -> Value) throws -> Value {
    KnownIDs.use(store: store.path)
    let store = try SettingsStore(store.path, .read, withEngine: false)
    return try body(store)
  }

  /// Reads what a user has set.
  ///
  /// - Throws: ``StoreError/unknownUser(_:)`` also for one who was removed.
  func reading(of user: Identifier, _ body: (SettingsStore) throws -> Void) throws {
    try reading { store in
      guard try store.reader.hasUser(user) else { throw StoreError.unknownUser(user) }
      try body(store)
    }
  }

  /// Opens the store, writes, and closes it.
  ///
  /// - Parameter user: whose settings are written. One who was not there is named: the id may be
  ///   mistyped.
  func writing<Value>(
    _ writing: WriteOptions, user: Identifier? = nil, _ body: (SettingsStore) throws -> Value
  ) throws -> Value {
    Interruption.say("nothing was changed")
    let path = store.path
    KnownIDs.use(store: path)
    let store = try SettingsStore(
      path, .write, waiting: writing.waiting.duration, withEngine: false)
    let isNew = try user.map { try !store.reader.hasUser($0) } ?? false
    let advice = isNew ? KnownIDs.advice(user: user?.text) : ""
    let value = try body(store)
    if isNew, let user, try store.reader.hasUser(user) {
      Terminal.note("new user \"\(user)\"\(advice)")
    }
    try store.close()
    return value
  }

  /// Prints results, of which there may be none.
  func show(_ results: [some SettingResult]) throws {
    guard !results.isEmpty else { return }
    Terminal.printResult(
      json
        ? try results.map { try $0.json() }.joined(separator: "\n")
        : TerminalText.lines(results.map(\.text)))
  }
}

/// When a write is made, and by which device.
struct WriteOptions: ParsableArguments {
  @OptionGroup var time: TimeOption

  @Option(
    help: ArgumentHelp(
      "The user's device that writes, which need not be notified. (default: an administrator)",
      valueName: "device"))
  var from: String?

  @OptionGroup var waiting: WaitOption

  var now: Instant { get throws { try time.now } }
  var device: Identifier? { from.map { Identifier($0) } }
}

/// Which of a user's settings is meant.
struct ScopeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Option(
    help: ArgumentHelp("A conversation's id; without it, the user's own.", valueName: "id"))
  var conversation: String?

  @Option(help: ArgumentHelp("A channel of an ultra group (rongcloud).", valueName: "id"))
  var channel: String?

  @Option(
    help: ArgumentHelp("A type of conversation, like group (rongcloud).", valueName: "type"))
  var type: ConversationKind?

  func validate() throws {
    if channel != nil, conversation == nil {
      throw ValidationError("--channel is one of an ultra group: name it with --conversation.")
    }
    if type != nil, conversation != nil {
      throw ValidationError("--type and --conversation are two scopes: name one.")
    }
  }

  var scope: SettingScope {
    if let type { return .kind(type) }
    guard let conversation else { return .user }
    let id = Identifier(conversation)
    return channel.map { .channel(id, Identifier($0)) } ?? .conversation(id)
  }
}

/// Where a setting of a user lives.
enum SettingScope {
  case user
  case kind(ConversationKind)
  case conversation(Identifier)
  case channel(Identifier, Identifier)
}

/// A level on the command line: its name in files, a vendor's own spelling, or classes.
struct LevelText: ExpressibleByArgument {
  private let text: String

  init?(argument: String) {
    let isKnown =
      NotificationLevel.named(argument) != nil
      || NotificationLevel.easemobSpelling(argument) != nil || Int64(argument) != nil
      || ClassesText(argument: argument) != nil
    guard isKnown else { return nil }
    text = argument
  }

  /// - Throws: ``SettingsWriteError/unknownLevel(_:)``, or ``Failure`` for a spelling of the other
  ///   vendor.
  func level(_ rules: RuleSet) throws -> NotificationLevel {
    if let level = NotificationLevel.typed(text, rules) { return level }
    let classes = ClassesText(argument: text)?.classes
    let isName = NotificationLevel.named(text) != nil
    let form: VendorFields =
      if Int64(text) != nil { .levelNumbers } else if classes != nil { .classLevels } else if isName
      {
        .mentionLevel
      } else { .levelSpellings }
    if let number = Int64(text), rules.fields.contains(form) {
      return try NotificationLevel(rongCloudNumber: number)
    }
    let owner = RuleSet.owner(of: form)?.rawValue ?? "other rules"
    let nearest =
      isName || classes != nil ? EditDistance.nearest(to: text, in: rules.levelNames) : nil
    throw Failure(
      text: "\(text) is a level of \(owner), not of the store's rules"
        + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}

extension ArgumentHelp {
  static let level = ArgumentHelp(
    """
    all, mention, mentionUsers, mentionAll, none or default, or the vendor's spelling: ALL, AT, \
    NONE, DEFAULT (easemob), -1, 0, 1, 2, 4, 5 (rongcloud); all, mentions, direct, none, default, or \
    classes like me,private (open).
    """, valueName: "level")
}
