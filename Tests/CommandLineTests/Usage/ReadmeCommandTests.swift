import Foundation
import TestSupport
import Testing

/// Goal: what the README shows is what the program prints: commands and their output, to the figure.
@Suite struct ReadmeCommandTests {
  private static let root = Repository.root

  /// The blocks of code, without their fences.
  private static func blocks() throws -> [[String]] {
    let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    return text.components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 1 }
      .map { $0.element.components(separatedBy: "\n").dropFirst().map { $0 } }
  }

  /// A command as it is typed, and the lines below it.
  private static func transcript(_ command: String) throws -> (line: String, output: [String]) {
    let block = try #require(
      blocks().first { $0.first?.hasPrefix("$ push-fanout \(command) ") ?? false })
    return (String(block[0].dropFirst(2)), Array(block.dropFirst()))
  }

  /// Runs a line of the README in a folder where its files are.
  private static func run(_ line: String, in place: Workplace) throws -> [String] {
    let run = try place.shell("\"$0\"" + line.dropFirst("push-fanout".count))
    #expect(run.status == 0, "\(run.errors)")
    return run.output.components(separatedBy: "\n")
  }

  /// The first example is the smaller of the real days in data/.
  @Test func theSummaryIsThatOfTheData() throws {
    let (line, output) = try Self.transcript("evaluate")
    try withWorkplace { place in
      let data = Self.root.appending(path: "data").path
      for name in ["users", "members", "messages"] {
        try place.shell("gzip -dc '\(data)/fcc-2016-03-03.\(name).csv.gz' >\(name).csv")
      }
      let found = try Self.run(line, in: place)
      // The ellipsis stands for the rest.
      #expect(output.last == "…" && output.count > 8)
      #expect(Array(found.prefix(output.count - 1)) == Array(output.dropLast()))
      #expect(found.count > output.count)
    }
  }

  /// The answer to a question, of the other real day in data/.
  @Test func theComparisonIsThatOfTheData() throws {
    let (line, output) = try Self.transcript("compare")
    try withWorkplace { place in
      let data = Self.root.appending(path: "data").path
      let found = try Self.run(line.replacing(" data/", with: " '\(data)'/"), in: place)
      #expect(output.last == "…" && output.count == 2)
      #expect(found[0].replacing("\u{A0}", with: " ") == output[0])
    }
  }

  /// The first steps, each with the files of the one before; of fewer users.
  @Test func theFirstStepsRun() throws {
    let block = try #require(
      Self.blocks().first { $0.first?.hasPrefix("push-fanout generate --output world") ?? false })
    #expect(block.count >= 5)
    try withWorkplace { place in
      for line in block {
        let small = line.replacing("--users 20000", with: "--users 300")
        let found = try Self.run(small + " >out.txt && wc -c <out.txt", in: place)
        if line.contains(" replay ") {
          let text = try place.shell("cat out.txt").output
          for row in ["messages", "presence rows", "settings changes", "pushes"] {
            #expect(text.contains("\n" + row) || text.hasPrefix(row), "\(line): \(found)")
          }
        }
      }
      let files = try place.shell("ls").output.split(separator: "\n")
      #expect(["app.store", "world", "world.html", "world.replay.json"].allSatisfy(files.contains))
    }
  }

  @Test func thePayloadIsThatOfTheExample() throws {
    let (line, output) = try Self.transcript("render")
    try withWorkplace { place in
      try place.write(
        [
          #"{"kind":"app","rules":"easemob"}"#,
          #"{"kind":"user","id":"u1","display":{"style":"messageSummary"}}"#,
          #"{"kind":"user","id":"u9","display":{"name":"Ann"}}"#,
          #"{"kind":"member","conversation":"g1","user":"u1"}"#,
        ], as: "world.ndjson")
      try place.write(
        [#"{"kind":"template","name":"detail","title":"{$dynamicFrom}","content":"{$msg}"}"#],
        as: "templates.ndjson")
      try place.write(
        [
          #"{"id":"m1","conversation":"g1","sender":"u9","at":"2024-06-03T12:00:00Z","#
            + #""text":"hello"}"#
        ], as: "today.ndjson")
      #expect(try Self.run(line, in: place) == output + [""])
    }
  }

  /// The overview names commands and options that there are, and every command.
  @Test func theOverviewNamesWhatThereIs() throws {
    let block = try #require(
      Self.blocks().first { $0.first?.hasPrefix("push-fanout evaluate ") ?? false })
    let commands = try CommandTree.commands()
    for line in block {
      let words = line.split(whereSeparator: { " []|…".contains($0) }).map(String.init)
      let name = try #require(words.dropFirst().first)
      let found = commands.filter { $0.words.first == name }
      let names = Set(found.flatMap { $0.arguments.map(\.shown) })
      #expect(words.filter { $0.hasPrefix("--") && !names.contains($0) } == [], "\(line)")
      let subcommands = found.filter { $0.words.count == 2 }.map { $0.words[1] }
      #expect(subcommands.filter { !words.contains($0) } == [], "\(line)")
    }
    let named = block.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    #expect(named.sorted() == commands.filter { $0.words.count == 1 }.map(\.name).sorted())
  }
}
