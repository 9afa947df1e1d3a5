internal import ArgumentParser
internal import Foundation
internal import Logging
internal import NIOCore
internal import PushFanout
internal import PushSupport

/// The program `push-fanout-server`.
public enum ServerProgram {
  /// The exit status where the system does not start a thread for each core, which is said; nil where
  /// it does.
  public static var threadProblem: Int32? {
    if ThreadSupply.workers == .max { return nil }
    fail(ThreadSupply.problem)
    return 1
  }

  /// - Parameter arguments: without the program's name.
  /// - Returns: the exit status.
  public static func run(_ arguments: [String]) async -> Int32 {
    do {
      var command = try ServerCommand.parseAsRoot(arguments)
      if command is ServerCommand { return try await serve(arguments) }
      try command.run()
      return 0
    } catch let error as OptionError {
      fail("\(error)")
      return 2
    } catch  where ServerCommand.exitCode(for: error).isSuccess {
      // Help is asked for this way.
      print(ServerCommand.fullMessage(for: error))
      return 0
    } catch {
      fail("\(OptionError(error))")
      return 2
    }
  }

  private static func serve(_ arguments: [String]) async throws(OptionError) -> Int32 {
    let configuration = try await ServerConfiguration(
      arguments, environment: ProcessInfo.processInfo.environment)
    let options = configuration.options
    var logger = Logger(label: "push-fanout") { _ in JSONLogHandler() }
    logger.logLevel = options.logLevel
    let server = try PushServer(configuration, logger: logger)
    if options.checkConfig {
      for each in configuration.ofEachApp
      where !each.create && !FileManager.default.isReadableFile(atPath: each.store) {
        throw OptionError("there is no store \(each.store) that can be read")
      }
      print("the configuration can be used")
      return 0
    }
    NIOSingletons.groupLoopCountSuggestion = options.threads ?? Fanout.coreCount
    // A file that may not grow is an error of the write, and does not end the process.
    _ = signal(SIGXFSZ, SIG_IGN)
    do {
      try await server.run()
      logger.notice("ended")
      return 0
    } catch let error as OptionError {
      throw error
    } catch {
      fail("\(error)")
      return 1
    }
  }

  fileprivate static func fail(_ text: String) {
    FileHandle.standardError.write(Data("push-fanout-server: \(text)\n".utf8))
  }
}

/// The command line. What it leaves out is looked for elsewhere (``ServerConfiguration``).
struct ServerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push-fanout-server", abstract: "Serve a store over HTTP.",
    discussion: """
      push-fanout serve becomes this program. Each option is also a variable, like \
      PUSH_FANOUT_BODY_LIMIT for --body-limit, and a key of the file of --config, like bodyLimit; \
      flags come before variables, and these before the file.

      Examples:

        push-fanout-server key app decide,read,write,admin >> app.keys

        push-fanout-server --store app.store --create --keys app.keys

        push-fanout-server --config server.json --check-config

      Exit status: 0 success, 1 not possible, 2 wrong usage.
      """,
    subcommands: [KeyCommand.self])

  @OptionGroup var options: ServerOptions
}

/// `push-fanout-server key`: makes a key.
struct KeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key", abstract: "Make a key, and print it and its line.",
    discussion: """
      The line for the file of --keys is printed, and the key for the client on standard error.

      Examples:

        push-fanout-server key app decide,read >> app.keys

        push-fanout-server key guest read --until 2027-01-31 >> app.keys
      """)

  @Argument(help: ArgumentHelp("What logs call its holder.", valueName: "NAME"))
  var name: String

  @Argument(
    help: ArgumentHelp("\(Scope.names), with commas.", valueName: "SCOPES"), transform: scopeSet)
  var scopes: Set<Scope>

  @Option(
    help: ArgumentHelp(
      "The last day of the key in UTC, like 2027-01-31, or an instant.", valueName: "DATE"))
  var until: String?

  func validate() throws {
    if let until, KeyFile.end("until=\(until)") == nil {
      throw ValidationError("--until \(until) is not a date like 2027-01-31")
    }
    guard !name.isEmpty, !name.contains(where: { $0.isWhitespace || $0 == "#" }) else {
      throw ValidationError("A name has no blanks and no #")
    }
  }

  func run() {
    let (secret, line) = KeyFile.make(name: name, scopes: scopes, until: until)
    ServerProgram.fail("the key, shown only now: \(secret)")
    print(line)
  }
}
