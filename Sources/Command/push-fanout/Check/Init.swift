import ArgumentParser
import PushFiles
import PushModel

/// `push-fanout init`: a small chat to try, with expectations that hold.
struct Init: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make a folder with a chat of five people to try, and expectations of it.",
    discussion: """
      Each of its eight messages is a case: quiet hours, a mute, a mention, a thread, a device. \
      Its README.md has the words and the commands.

      Examples:

        push-fanout init chat

        push-fanout init --rules easemob chat
      """)

  @Option(help: "Whose rules: open (for your own chat), easemob or rongcloud.")
  var rules = Generate.Rules(.open)

  @Argument(help: ArgumentHelp("The folder, which must not exist yet.", valueName: "folder"))
  var folder: OutputPath

  @OptionGroup var habits: QuietOption

  func run() throws {
    let files = Self.files(of: rules.ruleSet)
    let output = try OutputFolder(path: folder.path, names: files.map(\.name))
    Interruption.beginOutput(folder.path, temporaryNames: output.temporaryNames)
    defer { output.abandon() }
    for (name, text) in files {
      let file = try output.file(name)
      try file.write(text.utf8)
      try file.finish()
    }
    try Interruption.publish { () throws(OutputProblem) in try output.finish() }
    Terminal.note(
      "\(folder.path): \(files.map(\.name).sorted().joined(separator: ", ")); README.md says what to try"
    )
  }

  /// The files of a rule set's chat: sections of chats.txt, each behind a line `== RULES/NAME`.
  private static func files(of rules: RuleSet) -> [(name: String, text: String)] {
    let sections = "\n\(String(decoding: PackageResources.chats_txt, as: UTF8.self))"
      .split(separator: "\n== ")
    return sections.compactMap { section in
      let head = section.prefix { $0 != "\n" }
      let parts = head.split(separator: "/")
      guard parts.first.map(String.init) == rules.rawValue else { return nil }
      let text = section.dropFirst(head.count + 1)
      return (String(parts[1]), text.hasSuffix("\n") ? String(text) : text + "\n")
    }
  }
}
