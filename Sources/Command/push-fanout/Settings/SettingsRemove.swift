import ArgumentParser
import PushModel
import PushStore

/// `push-fanout settings remove`: removes a user, a membership or a conversation.
struct SettingsRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a user, a membership or a conversation.",
    discussion: """
      What is removed is not exported any more, and stands in the change feed. Ids stay in the store \
      and in the entries of the feed: store erase removes them too.

      Examples:

        push-fanout settings remove user --store app.store --user u1

        push-fanout settings remove member --store app.store --user u1 \\
          --conversation g1

        push-fanout settings remove conversation --store app.store \\
          --conversation g1
      """,
    subcommands: [RemoveUser.self, RemoveMember.self, RemoveConversation.self])
}

struct RemoveUser: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user",
    abstract: "Remove a user with settings, devices, display settings and all memberships.",
    discussion: """
      The feed gets one entry, userRemoved; the memberships have none of their own.

      Examples:

        push-fanout settings remove user --store app.store --user u1

        push-fanout settings remove user --store app.store --user u1 \\
          --at 2026-01-31T12:00:00Z
      """)

  @OptionGroup var options: RemoveOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  func run() throws {
    try options.apply(.removeUser(user: Identifier(user)))
  }
}

struct RemoveMember: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "member",
    abstract: "End a membership, with all that was set for it.",
    discussion: """
      Of a group it also ends the user's settings in its threads. Each has an entry in the feed, \
      memberRemoved.

      Examples:

        push-fanout settings remove member --store app.store --user u1 \\
          --conversation g1

        push-fanout settings remove member --store app.store --user u1 \\
          --conversation g1 --wait 60
      """)

  @OptionGroup var options: RemoveOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String
  @Option(help: ArgumentHelp("The conversation's id.", valueName: "id"))
  var conversation: String

  func run() throws {
    try options.apply(
      .removeMember(user: Identifier(user), conversation: Identifier(conversation)))
  }
}

struct RemoveConversation: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conversation",
    abstract: "Remove a conversation with its settings and memberships, and its threads.",
    discussion: """
      The feed gets an entry for it and for each thread, conversationRemoved; the memberships have \
      none of their own.

      Examples:

        push-fanout settings remove conversation --store app.store \\
          --conversation g1

        push-fanout settings remove conversation --store app.store \\
          --conversation g1 --wait 60
      """)

  @OptionGroup var options: RemoveOptions
  @Option(help: ArgumentHelp("The conversation's id.", valueName: "id"))
  var conversation: String

  func run() throws {
    try options.apply(.removeConversation(conversation: Identifier(conversation)))
  }
}

/// The store, and when something is removed.
struct RemoveOptions: ParsableArguments {
  @OptionGroup var target: StoreOption
  @OptionGroup var write: WriteOptions

  func apply(_ operation: SettingsOperation) throws {
    Interruption.say("nothing was changed")
    KnownIDs.use(store: target.path)
    let store = try SettingsStore(
      target.path, .write, waiting: write.waiting.duration, withEngine: false)
    try store.apply([operation], write)
    try store.close()
  }
}
