import Foundation
import PushReference
import PushRules
import Testing

/// Goal: the README's example is the code below, and says what comes out.
@Suite struct ReadmeTests {
  @Test func theExampleAnswersAsItSays() throws {
    // README
    var settings = FanoutSettings(app: AppSettings(rules: .easemob, timeZone: "Asia/Shanghai"))
    var user = UserSettings()
    user.quietHours = try QuietInterval.parse(start: "22:00", end: "8:00").map { .interval($0) }
    settings.setUser("u1", user)
    settings.setMember("u1", of: "g1")

    var evaluator = ReferenceEvaluator(settings)
    let night = Instant(rfc3339: "2024-06-03T23:30:00+08:00")!
    let message = Message(id: "m1", conversation: "g1", at: night, sender: "u9")
    let key =
      evaluator.decide(message, for: "u1")?.outcome.key  // "none/quietHours/app"
    // end
    #expect(key == "none/quietHours/app")
  }

  @Test func theExampleIsTheOneAbove() throws {
    let readme = try String(
      contentsOf: ArchitectureTests.root.appending(path: "README.md"), encoding: .utf8)
    let code = try String(contentsOfFile: #filePath, encoding: .utf8)
    let start = try #require(code.range(of: "    // README\n"))
    let end = try #require(code.range(of: "    // end\n"))
    let lines = code[start.upperBound..<end.lowerBound].split(separator: "\n")
      .map { $0.drop { $0 == " " } }.filter { $0 != "let key =" }
    #expect(!lines.isEmpty)
    for line in lines { #expect(readme.contains("\n\(line)\n"), "\(line)") }
  }
}
