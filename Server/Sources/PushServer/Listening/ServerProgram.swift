internal import Configuration
internal import Foundation
internal import Logging
internal import NIOCore

/// The program `push-fanout-server`.
public enum ServerProgram {
  private static let usage = """
    Serves a store over HTTP.

    usage: push-fanout-server [options]
           push-fanout-server key NAME SCOPES    makes a key, and prints it and its line
           push-fanout-server --help

    Options; each is also a variable, like PUSH_FANOUT_BODY_LIMIT, and a key of --config:

    """

  /// - Parameter arguments: without the program's name.
  /// - Returns: the exit status.
  public static func run(_ arguments: [String]) async -> Int32 {
    if arguments.contains("--help") || arguments.contains("-h") {
      print(usage + OptionList.help)
      return 0
    }
    if arguments.first == "key" { return key(Array(arguments.dropFirst())) }
    do {
      let reader = try await OptionList.reader(
        arguments, environment: ProcessInfo.processInfo.environment)
      let options = try ServerOptions(reader)
      let logger = makeLogger(options.logLevel)
      let server = try PushServer(options, logger: logger)
      if reader.bool(forKey: "checkConfig", default: false) {
        for each in options.ofEachApp
        where !each.creates && !FileManager.default.isReadableFile(atPath: each.store) {
          throw OptionError("there is no store \(each.store) that can be read")
        }
        print("the configuration can be used")
        return 0
      }
      if options.isInsecure {
        logger.warning("no keys: every client that can connect has all scopes")
      }
      NIOSingletons.groupLoopCountSuggestion = options.threads
      // A file that may not grow is an error of the write, and does not end the process.
      _ = signal(SIGXFSZ, SIG_IGN)
      try await server.run()
      logger.notice("ended")
      return 0
    } catch let error as OptionError {
      fail("\(error)")
      return 2
    } catch {
      fail("\(error)")
      return 1
    }
  }

  private static func key(_ arguments: [String]) -> Int32 {
    guard arguments.count == 2, let scopes = Scope.set(arguments[1]), !arguments[0].isEmpty,
      !arguments[0].contains(where: { $0.isWhitespace || $0 == "#" })
    else {
      fail("usage: push-fanout-server key NAME SCOPES, scopes of \(Scope.names) with commas")
      return 2
    }
    let (secret, line) = KeyFile.make(name: arguments[0], scopes: scopes)
    // The key for the client on standard error, the line for the file on standard output.
    fail("the key, shown only now: \(secret)")
    print(line)
    return 0
  }

  private static func fail(_ text: String) {
    FileHandle.standardError.write(Data("push-fanout-server: \(text)\n".utf8))
  }

  private static func makeLogger(_ level: String) -> Logger {
    var logger = Logger(label: "push-fanout") { _ in JSONLogHandler() }
    logger.logLevel = Logger.Level(rawValue: level) ?? .info
    return logger
  }
}
