import Dispatch
import Foundation
import PushServer

@main struct Program {
  static func main() {
    // Before any asynchronous work, which waits for ever where no thread can be started.
    if let problem = ServerProgram.threadProblem { exit(problem) }
    Task { exit(await ServerProgram.run(Array(CommandLine.arguments.dropFirst()))) }
    dispatchMain()
  }
}
