import ArgumentParser
import PushFanout
import PushFiles
import PushRules

/// `push-fanout`: parses, calls, prints; it decides nothing.
///
/// Results go to standard output and nothing else does, so that the output can be piped.
@main
struct Program: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "push-fanout",
    abstract: "Decides who gets a push for a group message, and why not.",
    discussion: """
      Settings and messages are NDJSON or CSV files, with .gz or without. The rules are those of \
      Easemob and RongCloud.

      Exit status: 0 success, 1 problems found (in a file, or while writing), 2 wrong usage.
      """,
    version: version,
    subcommands: [Evaluate.self, Explain.self, NextChange.self, Check.self])

  static func main() {
    Interruption.prepare()
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let problem as FileProblem {
      Terminal.fail("\(problem)")
    } catch let problem as OutputProblem {
      Terminal.fail("push-fanout: \(problem)")
    } catch let error as FanoutError {
      Terminal.fail("push-fanout: \(error)")
    } catch let failure as Failure {
      Terminal.fail("push-fanout: \(failure.text)")
    } catch let code as ExitCode {
      Terminal.exit(code.rawValue)
    } catch {
      // Help and version are asked for this way; anything else is wrong usage.
      let isWanted = exitCode(for: error).isSuccess
      let text = fullMessage(for: error)
      if isWanted { Terminal.printResult(text) } else { Terminal.say(text) }
      Terminal.exit(isWanted ? 0 : 2)
    }
  }
}

/// Something asked for that is not there.
struct Failure: Error {
  let text: String
}

/// The files of a world, for every command that decides.
struct WorldOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Settings, NDJSON: the app, users, conversations, members. Several are read as one.",
      valueName: "file"))
  var settings: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Users, CSV, read after the settings.", valueName: "file"))
  var users: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Members, CSV, read after the users.", valueName: "file"))
  var members: [String] = []

  /// Reads the world into the engine, with a progress bar.
  func loadFanout(threads: Int?) throws -> Fanout {
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    let paths = SettingsPaths(settings: settings, users: users, members: members)
    return try SettingsLoader.loadFanout(paths, threads: threads) { bar.update($0) }
  }

  /// Reads the world as values, with a progress bar.
  func load() throws(FileProblem) -> FanoutSettings {
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    let paths = SettingsPaths(settings: settings, users: users, members: members)
    return try SettingsLoader.load(paths) { bar.update($0) }
  }

  func validate() throws {
    if settings.isEmpty && members.isEmpty {
      throw ValidationError("Name the members: --settings FILE, or --members FILE.")
    }
  }
}
