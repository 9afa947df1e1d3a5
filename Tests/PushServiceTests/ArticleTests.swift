import Foundation
import TestSupport
import Testing

/// Goal: the code of PushService's article is that of a program, which runs and compares what comes
/// out.
@Suite struct ServiceArticleTests {
  private static let name = "ADispatchServiceFromEndToEnd"

  @Test(arguments: ["main", "Function"])
  func theCodeIsTheArticles(file: String) throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let article = try String(
      contentsOf: root.appending(path: "Sources/PushService/PushService.docc/\(Self.name).md"),
      encoding: .utf8)
    let code = try String(
      contentsOf: root.appending(path: "Tests/ArticlePrograms/\(Self.name)/\(file).swift"),
      encoding: .utf8)
    let shown = lines(of: article, from: "```swift", to: "```")
    #expect(!shown.isEmpty)
    #expect(shown == lines(of: code, from: "// snippet", to: "// end"))
  }

  @Test func theProgramRuns() throws {
    let folder = ScratchFolder()
    let output = URL(fileURLWithPath: try folder.write([], as: "output"))
    let program = Process()
    program.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appending(path: "article-\(Self.name)")
    program.standardInput = FileHandle.nullDevice
    program.standardOutput = try FileHandle(forWritingTo: output)
    try program.run()
    program.waitUntilExit()
    #expect(program.terminationStatus == 0)
    #expect(try String(contentsOf: output, encoding: .utf8) == "done\n")
  }

  /// The lines between two marks, without blanks before them.
  private func lines(of text: String, from start: String, to end: String) -> [Substring] {
    var found: [Substring] = []
    var isInside = false
    for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
      if line == start {
        isInside = true
      } else if line == end {
        isInside = false
      } else if isInside {
        found.append(line)
      }
    }
    return found
  }
}
