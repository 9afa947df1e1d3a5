import ArgumentParser
import Glibc
import PushSupport

/// `push-fanout serve`: becomes the server, which is a program of its own.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve a store over HTTP.",
    discussion: """
      Becomes the program push-fanout-server, which is built with the package in Server/ \
      (make -C Server serve, docs/service.md). It is looked for at PUSH_FANOUT_SERVER, beside this program, \
      in ../libexec/push-fanout, and in PATH. All arguments are its own: push-fanout serve -- \
      --help lists them.

      Examples:

        push-fanout serve --store app.store --keys keys

        push-fanout serve key dispatcher decide,read
      """)

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp("Arguments of the server.", valueName: "argument"))
  var arguments: [String] = []

  func run() throws {
    // They are captured with the rest.
    if let first = arguments.first, first == "--help" || first == "-h" {
      throw CleanExit.helpRequest(self)
    }
    let environment = unsafe getenv("PUSH_FANOUT_SERVER").map { unsafe String(cString: $0) }
    let search = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? ""
    let candidates = ServerSearch.candidates(
      environment: environment, program: ServerSearch.ownPath, search: search)
    guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else {
      throw Failure(
        text: environment.map {
          "PUSH_FANOUT_SERVER=\($0) is not a program; name push-fanout-server"
        }
          ?? "there is no push-fanout-server beside this program or in PATH; build it "
          + "(make -C Server), and name it with PUSH_FANOUT_SERVER")
    }
    Interruption.undo()
    let given = arguments.first == "--" ? Array(arguments.dropFirst()) : arguments
    let copies = unsafe ([path] + given).map { unsafe strdup($0) } + [nil]
    unsafe execv(path, copies)
    throw Failure(text: "\(path) cannot be started: \(unsafe String(cString: strerror(errno)))")
  }
}

/// Where the server's program may be.
enum ServerSearch {
  static let name = "push-fanout-server"

  /// In the order in which they are tried; only that of the environment, if there is one.
  static func candidates(environment: String?, program: String?, search: String) -> [String] {
    if let environment { return [environment] }
    var candidates: [String] = []
    if let program, let slash = program.lastIndex(of: "/") {
      let folder = program[..<slash]
      candidates += ["\(folder)/\(name)", "\(folder)/../libexec/push-fanout/\(name)"]
    }
    // An empty entry is the working directory.
    return candidates
      + search.split(separator: ":", omittingEmptySubsequences: false).map {
        ($0.isEmpty ? "." : $0) + "/\(name)"
      }
  }

  /// The file of this program; nil where /proc is not mounted.
  static var ownPath: String? { FilePath.real("/proc/self/exe") }
}
