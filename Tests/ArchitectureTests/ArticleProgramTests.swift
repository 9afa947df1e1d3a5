import Foundation
import Testing
import TestSupport

/// Goal: the code of every article is compiled and run as a program, and it is the code that stands in
/// the article.
@Suite struct ArticleProgramTests {
  private static let root = Repository.root

  /// Every text with code in Swift, by its name without the extension.
  private static let articles: [String: URL] = {
    let folders = ["", "docs", "docs/internals"] + doccFolders
    let texts = folders.flatMap { folder in
      (try? FileManager.default.contentsOfDirectory(
        at: root.appending(path: folder), includingPropertiesForKeys: nil)) ?? []
    }
    let withCode = texts.filter { url in
      url.pathExtension == "md"
        && (try? String(contentsOf: url, encoding: .utf8))?.contains("```swift") == true
    }
    return Dictionary(uniqueKeysWithValues: withCode.map { (name(of: $0), $0) })
  }()

  private static let doccFolders: [String] = {
    let paths = FileManager.default.enumerator(atPath: root.appending(path: "Sources").path)
    return (paths?.allObjects as? [String] ?? []).filter { $0.hasSuffix(".docc") }
      .map { "Sources/\($0)" }
  }()

  private static func name(of article: URL) -> String {
    article.deletingPathExtension().lastPathComponent
  }

  @Test func theArticlesAreFound() {
    #expect(
      Set(Self.articles.keys).isSuperset(
        of: [
          "FromADispatchService", "ADispatchServiceFromEndToEnd", "README", "content", "replay",
        ]))
  }

  @Test(arguments: articles.keys.sorted())
  func theCodeIsTheArticles(article: String) throws {
    let text = try String(contentsOf: try #require(Self.articles[article]), encoding: .utf8)
    let shown = lines(of: text, from: "```swift", to: "```")
    let program = Self.root.appending(path: "Tests/ArticlePrograms/\(article)/main.swift")
    let code = try String(contentsOf: program, encoding: .utf8)
    // What is read without being used has a name in the code, on a line of its own.
    let compiled = lines(of: code, from: "// snippet", to: "// end").filter {
      $0.wholeMatch(of: /let [A-Za-z]+ =/) == nil
    }
    #expect(shown == compiled)
  }

  /// The programs compare what comes out with what the articles say, and wait until the timer fires.
  @Test(arguments: articles.keys.sorted())
  func theProgramRuns(article: String) throws {
    let folder = ScratchFolder()
    let output = URL(fileURLWithPath: try folder.write([], as: "output"))
    let program = Process()
    program.executableURL = Bundle.main.executableURL!.deletingLastPathComponent()
      .appending(path: "article-\(article)")
    program.standardInput = FileHandle.nullDevice
    program.standardOutput = try FileHandle(forWritingTo: output)
    program.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try program.run()
    program.waitUntilExit()
    #expect(program.terminationReason == .exit)
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
