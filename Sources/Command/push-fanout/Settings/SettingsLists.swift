import ArgumentParser
import Foundation
import PushModel
import PushStore

/// A page of a list.
struct PageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The last conversation of the page before.", valueName: "conversation"))
  var after: String?

  @Option(help: ArgumentHelp("So many lines at most. (default: all)", valueName: "count"))
  var limit: Int?

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit \(limit) is not 1 or more.") }
  }

  /// Reads page by page, up to the limit.
  func read<Item>(
    _ page: (_ after: Identifier?, _ limit: Int) throws -> [Item], id: (Item) -> Identifier,
    show: ([Item]) throws -> Void
  ) throws {
    var last = after.map { Identifier($0) }
    var rest = limit ?? .max
    while rest > 0 {
      let size = min(rest, 1000)
      let items = try page(last, size)
      try show(items)
      if items.isEmpty, rest == limit ?? .max { Terminal.note("there are none") }
      guard items.count == size, let end = items.last else { return }
      last = id(end)
      rest -= size
    }
  }
}

/// `push-fanout settings list`: all that a user has set for conversations.
struct SettingsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List a user's settings for conversations.",
    discussion: """
      Conversations that inherit are left out, and so are durations that are over by --at. Levels \
      are the conversations' own.

      Examples:

        push-fanout settings list --store app.store --user u1

        push-fanout settings list --store app.store --user u1 --limit 100 \\
          --after g7 --json
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String
  @OptionGroup var time: TimeOption
  @OptionGroup var page: PageOptions

  func run() throws {
    let user = Identifier(user)
    let now = try time.now
    try options.reading(of: user) { store in
      let rules = try store.reader.app().rules
      try page.read(
        { try store.conversationLevels(of: user, at: now, after: $0, limit: $1) },
        id: { $0.conversation },
        show: { try options.show($0.map { OwnSetting(user, $0, rules) }) })
    }
  }
}

/// `push-fanout settings blocked`: the conversations whose own level is none.
struct SettingsBlocked: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "blocked",
    abstract: "List the conversations that a user has set to none.",
    discussion: """
      It is the conversation's own level that counts, not the effective one.

      Examples:

        push-fanout settings blocked --store app.store --user u1

        push-fanout settings blocked --store app.store --user u1 --type group \\
          ultraGroup
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Only conversations of these types. (default: all)", valueName: "type"))
  var type: [ConversationKind] = []
  @OptionGroup var page: PageOptions

  func run() throws {
    let user = Identifier(user)
    try options.reading(of: user) { store in
      try page.read(
        {
          try store.blockedConversations(
            of: user, kinds: type.isEmpty ? nil : type, after: $0, limit: $1)
        }, id: { $0 },
        show: { try options.show($0.map { BlockedResult(conversation: $0.text) }) })
    }
  }
}

/// `push-fanout settings events`: the change feed.
struct SettingsEvents: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events",
    abstract: "Print what has changed, and with --follow what changes.",
    discussion: """
      Every entry begins with its cursor: its number, and a random tag. --after takes the \
      cursor of the last entry that was processed, or 0 for the beginning. When the store does not \
      have that entry, as after an old copy was restored, or an export was imported again, changes \
      were missed: the command reports it and exits with status 1. So it does when entries behind \
      the cursor were removed (store compact, store erase). Reload everything then, and go on from \
      the cursor that store stats prints.

      --announced keeps what a user's devices are notified of, and --on leaves out what that device \
      wrote itself.

      Examples:

        push-fanout settings events --store app.store --after 0

        push-fanout settings events --store app.store \\
          --after 17-5f0c2b7a91d3e846 --user u1 --announced --on p1 --follow \\
          --json
      """)

  @OptionGroup var options: StoreOptions
  @Option(
    help: ArgumentHelp(
      "Only entries behind this one, 0 being the beginning. (default: all that there are)",
      valueName: "cursor"))
  var after: String?
  @Option(help: ArgumentHelp("Only what concerns a user.", valueName: "id"))
  var user: String?
  @Flag(help: "Only what the user's devices are notified of.")
  var announced = false
  @Option(help: ArgumentHelp("Leave out what this device wrote.", valueName: "device"))
  var on: String?
  @Flag(help: "Go on until interrupted.")
  var follow = false

  func validate() throws {
    if let after, FeedCursor(after) == nil {
      throw ValidationError(
        "--after \(after) is not a cursor; give the first word of an entry, or 0 for all.")
    }
    if announced, user == nil { throw ValidationError("--announced goes with --user.") }
    if on != nil, !announced { throw ValidationError("--on goes with --announced.") }
  }

  func run() throws {
    let user = user.map { Identifier($0) }
    let device = on.map { Identifier($0) }
    try options.reading { store in
      var last = try after.flatMap { FeedCursor($0) } ?? store.reader.startOfFeed()
      while true {
        let events =
          if announced, let user {
            try store.announcements(to: user, on: device, after: last)
          } else {
            try store.changes(after: last, of: user)
          }
        try options.show(events.map { EventResult($0) })
        if let end = events.last { last = end.cursor }
        guard events.isEmpty else { continue }
        guard follow else { return }
        Thread.sleep(forTimeInterval: 0.2)
      }
    }
  }
}
