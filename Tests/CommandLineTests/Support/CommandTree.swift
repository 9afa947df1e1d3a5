import Foundation
import Testing

/// The program's commands and their arguments, as it tells them itself: so that no test has to list
/// them by hand.
struct CommandTree: Decodable {
  let commandName: String
  private let arguments: [Argument]?
  private let subcommands: [CommandTree]?

  struct Argument: Decodable, Hashable {
    enum Kind: String, Decodable { case positional, option, flag }
    private struct Name: Decodable, Hashable { let name: String }
    private struct Completion: Decodable, Hashable {
      struct File: Decodable, Hashable {}
      let file: File?
    }

    let kind: Kind
    let isOptional: Bool
    let valueName: String
    private let preferredName: Name?
    private let completionKind: Completion?

    /// `messages` of `--messages`; of a positional argument the name of its value.
    var name: String { preferredName?.name ?? valueName }
    /// Whether the program knows that it is a file.
    var isFile: Bool { completionKind?.file != nil }
    /// What messages call it.
    var shown: String { kind == .positional ? "<\(name)>" : "--\(name)" }

    /// The words of a command line that give it a value.
    func words(_ value: String) -> [String] { kind == .positional ? [value] : [shown, value] }
  }

  /// A command and the words that call it.
  struct Command: Sendable {
    let words: [String]
    let arguments: [Argument]
    let hasSubcommands: Bool

    var name: String { words.joined(separator: " ") }
  }

  /// Every command below the program itself, but `help`.
  static func commands() throws -> [Command] { try all.get() }

  /// Told once: it takes the program a second in debug builds.
  private static let all = Result { try told() }

  private static func told() throws -> [Command] {
    struct Dump: Decodable { let command: CommandTree }
    let run = try withWorkplace { try $0.run("--experimental-dump-help") }
    try #require(run.status == 0)
    let root = try JSONDecoder().decode(Dump.self, from: Data(run.output.utf8)).command
    let commands = root.commands(behind: []).dropFirst().filter { $0.name != "help" }
    try #require(commands.count > 30)
    return Array(commands)
  }

  private func commands(behind words: [String]) -> [Command] {
    let children = subcommands ?? []
    return [Command(words: words, arguments: arguments ?? [], hasSubcommands: !children.isEmpty)]
      + children.flatMap { $0.commands(behind: words + [$0.commandName]) }
  }
}
