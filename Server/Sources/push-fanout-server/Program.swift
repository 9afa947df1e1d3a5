import Foundation
import PushServer

@main struct Program {
  static func main() async {
    exit(await ServerProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
