import ArgumentParser
import PushModel
import PushStore

/// `push-fanout settings defaults`: levels that owners set, not members.
struct SettingsDefaults: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "defaults",
    abstract: "Read or write the default of an ultra group, a channel or the App Key (rongcloud).",
    discussion: """
      With --level it writes, without it reads.

      Examples:

        push-fanout settings defaults --store app.store --conversation ug1 \\
          --level mention

        push-fanout settings defaults --store app.store --conversation ug1 \\
          --channel c1

        push-fanout settings defaults --store app.store --app-key --level all
      """)

  @OptionGroup var options: StoreOptions

  @Option(help: ArgumentHelp("An ultra group's id.", valueName: "id"))
  var conversation: String?

  @Option(help: ArgumentHelp("One of its channels.", valueName: "id"))
  var channel: String?

  @Flag(help: "The App Key, the last level in the search.")
  var appKey = false

  @Option(parsing: .unconditional, help: .level)
  var level: LevelText?

  @OptionGroup var writing: WriteOptions

  func validate() throws {
    if appKey == (conversation != nil) {
      throw ValidationError("Say whose default: --conversation or --app-key.")
    }
    if channel != nil, conversation == nil {
      throw ValidationError("--channel is one of an ultra group: name it with --conversation.")
    }
  }

  func run() throws {
    let (group, channel) = (conversation.map { Identifier($0) }, channel.map { Identifier($0) })
    if let text = level {
      try options.writing(writing) { store in
        // Checked first, so that the error for the other vendor's store precedes that for the
        // spelling.
        _ = try store.appKeyLevel()
        let level = try text.level(.rongcloud)
        let operation: SettingsOperation =
          switch (group, channel) {
          case (let group?, let channel?):
            .setUltraGroupConversationChannelDefaultNotificationLevel(
              conversation: group, level: level, channel: channel)
          case (let group?, nil):
            .setUltraGroupConversationDefaultNotificationLevel(conversation: group, level: level)
          case (nil, _): .setAppKeyLevel(level: level)
          }
        try store.apply([operation], writing)
        try show(store, group, channel)
      }
    } else {
      try options.reading { store in try show(store, group, channel) }
    }
  }

  private func show(
    _ store: SettingsStore, _ group: Identifier?, _ channel: Identifier?
  ) throws {
    let level =
      switch (group, channel) {
      case (let group?, let channel?):
        try store.defaultLevel(ofUltraGroup: group, channel: channel)
      case (let group?, nil): try store.defaultLevel(ofUltraGroup: group)
      case (nil, _): try store.appKeyLevel()
      }
    try options.show([
      DefaultResult(conversation: group?.text, channel: channel?.text, level: level.name)
    ])
  }
}
