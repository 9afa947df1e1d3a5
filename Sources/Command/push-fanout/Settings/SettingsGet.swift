import ArgumentParser
import PushFanout
import PushModel
import PushStore

/// `push-fanout settings get`: what is set at one scope.
struct SettingsGet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a user's settings.",
    discussion: """
      Prints the scope's own setting, not the effective one. --batch reads several \
      conversations at once, 20 at most, and leaves out those that inherit or have expired by --at \
      (easemob). Of a thread it says whether the user follows it, by a record there, empty or not \
      (open).

      Examples:

        push-fanout settings get --store app.store --user u1

        push-fanout settings get --store app.store --user u1 --conversation g1 \\
          --channel c1

        push-fanout settings get --store app.store --user u1 --batch g1 g2 g3 \\
          --json
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var scopeOptions: ScopeOptions

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Several conversations at once (easemob).", valueName: "id"))
  var batch: [String] = []

  @OptionGroup var time: TimeOption

  @Flag(help: "What a two-state client reads: notify or dnd (rongcloud).")
  var legacy = false

  func validate() throws {
    if time.at != nil, batch.isEmpty { throw ValidationError("--at goes with --batch.") }
    if !batch.isEmpty, scopeOptions.conversation != nil || scopeOptions.type != nil || legacy {
      throw ValidationError("--batch names the conversations: leave out other scopes.")
    }
    if legacy, scopeOptions.conversation == nil || scopeOptions.channel != nil {
      throw ValidationError("--legacy reads a conversation: name it with --conversation.")
    }
  }

  func run() throws {
    let user = Identifier(scopeOptions.user)
    try options.reading(of: user) { store in
      if !batch.isEmpty {
        let found = try store.silentModes(
          of: user, in: batch.map { Identifier($0) }, at: try time.now)
        return try options.show(found.map { OwnSetting(user, $0) })
      }
      if legacy, let conversation = scopeOptions.conversation {
        let state = try store.legacyState(of: user, in: Identifier(conversation))
        return try options.show([
          LegacyResult(
            user: user.text, conversation: conversation,
            state: state == .notify ? "notify" : "dnd")
        ])
      }
      try store.show(user, scopeOptions.scope, options)
    }
  }
}

private struct LegacyResult: SettingResult, Encodable {
  let user, conversation, state: String
  var text: String { "user \(user), conversation \(conversation): \(state)" }
}
