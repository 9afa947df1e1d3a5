import ArgumentParser
import Foundation
import PushFanout
import PushFiles
import PushImport
import PushReplay
import PushModel
import PushService
import PushStore
import PushSupport
import QuietTime

/// A word where a command is expected that is none.
struct UnknownCommand: Error, CustomStringConvertible {
  /// The commands in front of it, each with a blank in front.
  let parent: String
  private let word: String
  private let nearest: String?
  /// Words for what another command does beside.
  private static let others = [
    (parent: " store", words: ["create", "init", "make", "new"], says: "store import makes one")
  ]

  var description: String {
    let shown = "\(parent) \(word)".dropFirst()
    let other = Self.others.first { $0.parent == parent && $0.words.contains(word) }
    let advice =
      other.map { "; \($0.says)" } ?? nearest.map { "; did you mean\(parent) \($0)?" } ?? ""
    return "there is no command \(shown)\(advice)"
  }

  /// Finds a mistyped command before its options are read, which are then unknown to what is in front
  /// of it.
  ///
  /// - Parameter root: the program.
  static func check(
    _ arguments: [String], of root: any ParsableCommand.Type
  ) throws(UnknownCommand) {
    var type = root
    var parent = ""
    for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
      let commands = type.configuration.subcommands
      if commands.isEmpty || word.hasPrefix("-") { return }
      guard let next = commands.first(where: { $0._commandName == word }) else {
        let names = commands.map { $0._commandName } + (parent.isEmpty ? ["help"] : [])
        throw UnknownCommand(
          parent: parent, word: word, nearest: EditDistance.nearest(to: word, in: names))
      }
      type = next
      parent += " \(word)"
    }
  }
}

/// `push-fanout`: parses, calls, prints; it decides nothing.
///
/// Results go to standard output and nothing else does, so that the output can be piped.
@main
struct Program: ParsableCommand {
  /// The program's, and that of the time-zone data in use.
  static var version: String {
    switch ZoneDatabase.system {
    case .success(let zones): "\(Version.text)\ntime-zone data \(zones.version), \(zones.folder)"
    case .failure(let error): "\(Version.text)\n\(error)"
    }
  }

  static let configuration = CommandConfiguration(
    commandName: "push-fanout",
    abstract: "Decides who gets a push for a chat message, and why not.",
    discussion: """
      There are three rule sets: those of Easemob and RongCloud, and open rules for your own chat. \
      Settings and messages are NDJSON or CSV files, with .gz or without; the app's record in the \
      settings names the rule set, Easemob's where there is none.

      Exit status: 0 success, 1 problems found (in a file, or while writing), 2 wrong usage.
      """,
    version: version,
    subcommands: [
      Evaluate.self, Replay.self, Compare.self, Report.self, Generate.self, Profile.self,
      Render.self,
      Explain.self, NextChange.self, Check.self, Test.self, Init.self, Import.self,
      SettingsCommand.self, Store.self, Serve.self,
    ])

  static func main() {
    do {
      // First: where /proc is not mounted, Dispatch ends the process soon after its first use.
      let arguments = try CommandArguments.read()
      try Interruption.prepare()
      try UnknownCommand.check(arguments, of: Program.self)
      var command = try parseAsRoot(arguments)
      try FileConflict.check(command)
      try command.run()
    } catch let problem as FileProblem {
      Terminal.fail(KnownIDs.text(problem))
    } catch let problem as ImportProblem {
      Terminal.fail("\(problem)")
    } catch let problem as ReplayFileProblem {
      Terminal.fail("\(problem)")
    } catch let problem as OutputProblem {
      Terminal.fail(problem)
    } catch let error as FanoutError {
      Terminal.fail("push-fanout: \(KnownIDs.text(error))")
    } catch let error as StoreError {
      Terminal.fail("push-fanout: \(KnownIDs.text(error))")
    } catch let error as ServiceError {
      Terminal.fail("push-fanout: \(error)")
    } catch let error as SettingsWriteError {
      Terminal.fail("push-fanout: \(error)")
    } catch let error as SnapshotError {
      Terminal.fail("push-fanout: \(error)")
    } catch let error as ZoneDataError {
      Terminal.fail("push-fanout: \(error)")
    } catch let problem as WhatIf.Problem {
      Terminal.fail("push-fanout: \(problem)")
    } catch let missing as MissingMessage {
      Terminal.fail("push-fanout: \(missing)")
    } catch let failure as Failure {
      Terminal.fail("push-fanout: \(failure.text)")
    } catch let error as CommandArguments.Unreadable {
      Terminal.fail("push-fanout: \(error)")
    } catch let argument as CommandArguments.NotUTF8 {
      failUsage(["\(argument)"])
    } catch let unknown as UnknownCommand {
      failUsage(["\(unknown)", "See 'push-fanout\(unknown.parent) --help' for more information."])
    } catch let conflict as FileConflict {
      guard conflict.isOfStandardError else { failUsage(["\(conflict)"]) }
      // A message on standard error would be written into the file that is to be kept.
      Terminal.printResult(TerminalText.escaped("Error: \(conflict)"))
      Terminal.exit(2)
    } catch let code as ExitCode {
      Terminal.exit(code.rawValue)
    } catch {
      // Help and version are asked for this way; anything else is wrong usage.
      guard exitCode(for: error).isSuccess else { failUsage(usageLines(error)) }
      Terminal.printResult(fullMessage(for: error))
      Terminal.exit(0)
    }
  }

  /// What is wrong with the arguments, in one line, and where help is found, in another.
  private static func usageLines(_ error: any Error) -> [String] {
    var message = message(for: error)
    // A long list of values stands on lines of its own.
    if let list = message.firstRange(of: "one of the following:\n  - ") {
      let values = message[list.upperBound...].components(separatedBy: "\n  - ")
      message = message[..<list.lowerBound] + "one of " + values.joined(separator: ", ") + "."
    }
    if let levels = levels(message) { message += ". \(levels)." }
    if let nearest = nearestValue(message) { message += " Did you mean '\(nearest)'?" }
    if message == "Missing expected argument '<file> ...'", CommandLine.arguments.count > 2 {
      message += "; options take all files behind them, so name those of the command first"
    }
    if let store = unnamedStore(message) { message += ". Did you mean '--store \(store)'?" }
    if let mistyped = mistypedOption(message, fullMessage(for: error)) { message = mistyped }
    let help = fullMessage(for: error).split(separator: "\n").last
    return [message] + (help.map { [String($0.drop { $0 == " " })] } ?? [])
  }

  /// What to say where a required option is missing and another was given that there is not.
  ///
  /// - Parameter usage: the options that there are.
  private static func mistypedOption(_ message: String, _ usage: String) -> String? {
    guard message.hasPrefix("Missing expected argument '--") else { return nil }
    let options = Set(usage.matches(of: /--[a-z-]+/).map { String($0.output) })
    for argument in CommandLine.arguments.dropFirst() where argument.hasPrefix("--") {
      let given = String(argument.prefix { $0 != "=" })
      guard !options.contains(given),
        let nearest = EditDistance.nearest(to: given, in: options.sorted())
      else { continue }
      return "Unknown option '\(given)'. Did you mean '\(nearest)'?"
    }
    return nil
  }

  /// The file that a command of stores was given without the option.
  private static func unnamedStore(_ message: String) -> String? {
    let arguments = CommandLine.arguments
    guard message == "Missing expected argument '--store <file>'", arguments.count > 3,
      arguments[1] == "store", !arguments[3].hasPrefix("-")
    else { return nil }
    return arguments[3]
  }

  /// The value that was most likely meant by one that is none of an option's.
  private static func nearestValue(_ message: String) -> String? {
    guard let value = message.firstMatch(of: invalidValue) else { return nil }
    let list = message.firstMatch(of: /Please provide (?:one of )?(.*)\.$/)?.output.1
    let values =
      list.map { $0.split(whereSeparator: { ", '".contains($0) }).map(String.init) }
      ?? (value.output.2 == nil ? [] : levelNames + MessageClasses.all.names)
    // Of a list of classes each.
    let parts = value.output.1.split(separator: ",", omittingEmptySubsequences: false)
    let nearest = parts.map { part in
      EditDistance.nearest(to: String(part), in: values.filter { $0 != "or" })
    }
    return nearest.contains(nil) ? nil : nearest.compactMap { $0 }.joined(separator: ",")
  }

  /// What may be typed for a level or for classes; nil for another option.
  private static func levels(_ message: String) -> String? {
    guard let option = message.firstMatch(of: invalidValue)?.output.2 else { return nil }
    let names = option == "level" ? levelNames : RuleSet.open.levelNames
    return "\(option == "level" ? "Levels" : "They") are \(names.joined(separator: ", ")), or "
      + "classes with commas between: \(MessageClasses.all.names.joined(separator: ", "))"
  }

  private static let levelNames =
    NotificationLevel.ofVendors.map(\.name)
    + RuleSet.open.levelNames.filter { name in
      !NotificationLevel.ofVendors.contains { $0.name == name }
    }

  private static var invalidValue: Regex<(Substring, Substring, Substring?)> {
    /The value '(.*)' is invalid for '.*?(?:<(level|classes)>)?'/
  }

  /// Ends with exit status 2, saying why.
  private static func failUsage(_ lines: [String]) -> Never {
    Terminal.say("Error: \(lines[0])")
    for line in lines.dropFirst() { Terminal.say(line) }
    Terminal.exit(2)
  }
}
