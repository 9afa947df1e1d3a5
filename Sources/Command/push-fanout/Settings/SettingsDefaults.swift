import ArgumentParser
import PushModel
import PushStore

/// `push-fanout settings defaults`: levels that owners set, not members.
struct SettingsDefaults: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "defaults",
    abstract: "Read or write the level of a conversation, or of all, for those who have set none.",
    discussion: """
      With --level it writes, without it reads. Under RongCloud's rules ultra groups
      and their channels have a level; under open rules, groups and private
      conversations, with the levels of these rules, such as mentions or me,reply.

      Examples:

        push-fanout settings defaults --store app.store --conversation g1 \\
          --level mentions

        push-fanout settings defaults --store app.store --conversation ug1 \\
          --channel c1

        push-fanout settings defaults --store app.store --app --level all
      """)

  @OptionGroup var options: StoreOptions

  @Option(help: ArgumentHelp("The conversation's id.", valueName: "id"))
  var conversation: String?

  @Option(help: ArgumentHelp("One of its channels (rongcloud).", valueName: "id"))
  var channel: String?

  @Flag(help: "The app, RongCloud's App Key: the last level in the search.")
  var app = false

  @Option(parsing: .unconditional, help: .level)
  var level: LevelText?

  @OptionGroup var writing: WriteOptions

  func validate() throws {
    if app == (conversation != nil) {
      throw ValidationError("Say whose default: --conversation or --app.")
    }
    if channel != nil, conversation == nil {
      throw ValidationError("--channel is one of an ultra group: name it with --conversation.")
    }
  }

  func run() throws {
    if let text = level {
      try options.writing(writing) { store in
        try store.apply([try operation(text, store)], writing)
        try show(store)
      }
    } else {
      try options.reading { store in try show(store) }
    }
  }
}
