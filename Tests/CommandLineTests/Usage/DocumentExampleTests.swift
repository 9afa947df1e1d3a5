import Foundation
import TestSupport
import Testing

/// Goal: what README.md and docs/ show can be pasted, and prints what stands below it.
///
/// scripts/docs-examples runs the pages; `make docs-examples` writes the output into them.
@Suite struct DocumentExampleTests {
  /// The pages with commands. That of docs/bring-your-own-data.md needs DuckDB: Bindings/Python/tests.
  private static let pages: [String] = {
    let docs = Repository.root.appending(path: "docs")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: docs.path)) ?? []
    return (["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" })
      .filter { page in
        let text = try? String(contentsOf: Repository.root.appending(path: page), encoding: .utf8)
        return text?.contains("```sh\n") == true && text?.contains("```sql\n") == false
      }
  }()

  private static func examples(of page: String, in place: Workplace) throws -> Run {
    let script = Repository.root.appending(path: "scripts/docs-examples").path
    return try place.run(
      ["python3", script, Workplace.program.path, page], executable: URL(filePath: "/usr/bin/env"))
  }

  @Test func thePagesAreFound() {
    #expect(Set(Self.pages).isSuperset(of: ["README.md", "docs/replay.md", "docs/store.md"]))
  }

  @Test(arguments: pages)
  func thePageSaysWhatIsPrinted(page: String) throws {
    try withWorkplace { place in
      let run = try Self.examples(of: page, in: place)
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    }
  }

  /// Each page has one fault, which is named with its line.
  @Test(arguments: [
    ("```sh\necho 1\n```\n\n<!-- output -->\n\n```text\n2\n```", "8: the page has\n  2\n"),
    ("```sh\nseq 3\n```\n<!-- output: lines 1-2 -->\n```text\n1\n2\n```", "8: the page has"),
    ("```sh\npush-fanout evalute\n```", "1: the block ends with status 2"),
    ("```sh\nfalse | true\n```", "1: the block ends with status 1"),
    ("```sh\ntest -e data/gone.csv\n```", "1: the block ends with status 1"),
    ("a\n```\necho 1\n```", "2: the block does not say its language"),
    ("```sh\necho 1", "1: the block does not end"),
    ("<!-- output -->\n```text\n1\n```", "2: no command stands above the output"),
  ])
  func faultsAreFound(text: String, problem: String) throws {
    try withWorkplace { place in
      try place.write([text], as: "page.md")
      let page = place.path("page.md")
      let run = try Self.examples(of: page, in: place)
      #expect(run.status == 1)
      #expect(run.errors.hasPrefix("docs-examples: \(page):\(problem)"), "\(run.errors)")
      #expect(try place.read("page.md") == text + "\n")
    }
  }

  @Test func aSoundPageIsTrue() throws {
    try withWorkplace { place in
      let text = """
        ```sh
        ls data | head -1 >name
        ```
        <!-- not run: it fails -->
        ```sh
        false
        ```
        ```sh
        cat name; seq 9
        ```
        <!-- output: lines 1-2, 5 -->
        ```text
        README.md
        1
        …
        4
        …
        ```
        """
      try place.write([text], as: "page.md")
      let run = try Self.examples(of: place.path("page.md"), in: place)
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    }
  }

  /// The overview names commands and options that there are, and every command.
  @Test func theOverviewNamesWhatThereIs() throws {
    let text = try String(
      contentsOf: Repository.root.appending(path: "docs/command-line.md"), encoding: .utf8)
    let block = try #require(
      text.components(separatedBy: "\n```").map { $0.components(separatedBy: "\n").dropFirst() }
        .first { $0.first?.hasPrefix("push-fanout evaluate ") ?? false })
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
