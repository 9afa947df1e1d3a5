import Foundation
import PushFiles
import TestSupport
import Testing

/// Goal: help shows examples, and wrong usage ends with status 2, a message on standard error and
/// nothing on standard output.
@Suite struct UsageTests {
  @Test(.tags(.slow), .unlessFast) func everyCommandHasHelpWithExamples() throws {
    try withWorkplace { place in
      for (number, command) in try CommandTree.commands().enumerated() {
        let words = command.words
        // Each is asked in one of the three ways, which are the parser's.
        let ways = [words + ["--help"], words + ["-h"], ["help"] + words]
        let run = try place.run(ways[number % ways.count])
        let help = run.output
        #expect(run.status == 0 && run.errors == "", "\(command.name)")
        #expect(
          help.contains("Examples:") || help.contains("Examples (easemob):"), "\(command.name)")
        let examples = help.components(separatedBy: "\n  push-fanout \(command.name) ").count - 1
        // Operations of devices are alike.
        #expect(examples >= (words.count > 2 ? 1 : 2), "\(command.name)")
      }
    }
  }

  /// Pasted where none of the files is there: each fails for the files, and not for how it is written.
  @Test(.tags(.slow), .unlessFast) func examplesOfHelpCanBePasted() throws {
    try withWorkplace { place in
      try FileManager.default.createSymbolicLink(
        at: URL(filePath: place.path("push-fanout")), withDestinationURL: Workplace.program)
      var pasted = 0
      for command in try CommandTree.commands() {
        let help = try place.run(command.words + ["--help"]).output
        var example = ""
        for line in help.split(separator: "\n") {
          guard !example.isEmpty || line.hasPrefix("  push-fanout ") else { continue }
          #expect(line.count <= 76, "\(line)")
          example += line + "\n"
          if line.hasSuffix("\\") { continue }
          // Worlds that need no file are for other tests.
          if !example.contains("push-fanout generate") {
            let run = try place.shell("PATH=\"$PWD:$PATH\"; \(example)")
            // The server, where it was built, has statuses of its own.
            let isRead = run.status < 2 || run.errors.hasPrefix("push-fanout-server:")
            #expect(isRead && !run.errors.hasPrefix("Error:"), "\(example)\(run.errors)")
            pasted += 1
          }
          example = ""
        }
      }
      #expect(pasted > 60)
    }
  }

  /// The option is the library's list of formats.
  @Test func everyFormatOfDecisionsIsInTheHelp() throws {
    try withWorkplace { place in
      let help = try place.run("evaluate", "--help").output.split { $0.isWhitespace }
      let formats = DecisionFormat.allCases.map(\.rawValue)
      let text = formats.dropLast().joined(separator: ", ") + " or " + formats[formats.count - 1]
      #expect(help.joined(separator: " ").contains("--format <format> \(text). (default:"))
    }
  }

  @Test func theProgramHasHelpAndAVersion() throws {
    try withWorkplace { place in
      let help = try place.run("--help")
      #expect(help.status == 0)
      let names = try CommandTree.commands().filter { $0.words.count == 1 }.map(\.name)
      #expect(names.filter { !help.output.contains("\n  \($0) ") } == [])
      #expect(try place.run([]).output == help.output)
      let version = try place.run("--version")
      #expect(version.status == 0)
      let lines =
        /push-fanout [0-9]+\.[0-9]+\.[0-9]+ \(development\)\ntime-zone data 2025b, .*2025b\n/
      #expect(version.output.wholeMatch(of: lines) != nil, "\(version.output)")
      #expect(version.errors == "")
    }
  }

  /// Arguments, and how the message on standard error begins.
  private typealias Case = (arguments: [String], message: String)
  private static let change = ["next-change", "--settings", "world.ndjson", "--user", "u1"]

  private static let wrong: [Case] = {
    let evaluate = SmallWorld.evaluate
    return [
      (["frobnicate"], "Error: there is no command frobnicate"),
      (["--frobnicate"], "Error: Unknown option '--frobnicate'"),
      (evaluate + ["--frobnicate"], "Error: Unknown option '--frobnicate'"),
      (["evaluate", "extra"] + evaluate.dropFirst(), "Error: Unexpected argument 'extra'"),
      (["evaluate", "--settings", "world.ndjson"], "Error: Missing expected argument '--messages"),
      (["evaluate", "--messages", "messages.ndjson"], "Error: Name the members: "),
      (
        evaluate + ["--format", "xml"],
        "Error: The value 'xml' is invalid for '--format <format>'. Please provide one of ndjson, "
          + "csv, counts, pushlist, summary, npy.\n"
      ),
      (evaluate + ["--format"], "Error: Missing value for '--format"),
      (evaluate + ["--output"], "Error: Missing value for '--output"),
      (evaluate + ["--json", "--format", "csv"], "Error: --json goes with --format summary; csv"),
      (evaluate + ["--devices", "--format", "csv"], "Error: --devices goes with --format ndjson."),
      (evaluate + ["--devices", "--json"], "Error: --devices goes with --format ndjson."),
      (evaluate + ["--devices", "--format", "npy", "-o", "out"], "Error: --devices goes with "),
      (evaluate + ["--json", "--format", "npy", "-o", "out"], "Error: --json goes with --format "),
      (evaluate + ["--format", "npy"], "Error: --format npy writes a folder: name it with --out"),
      (
        evaluate + ["--format", "npy", "-o", "out", "--engine", "reference"],
        "Error: --threads and formats that are folders go with --engine packed."
      ),
      (
        evaluate + ["--threads", "2", "--engine", "reference"],
        "Error: --threads and formats that are folders go with --engine packed."
      ),
      (evaluate + ["--engine", "fast"], "Error: The value 'fast' is invalid for '--engine"),
      (evaluate + ["--threads", "0"], "Error: --threads 0 is not 1...1024."),
      (evaluate + ["--threads=-1"], "Error: --threads -1 is not 1...1024."),
      (evaluate + ["--threads", "1025"], "Error: --threads 1025 is not 1...1024."),
      (evaluate + ["--threads", "x"], "Error: The value 'x' is invalid for '--threads <count>'"),
      (evaluate + ["--threads"], "Error: Missing value for '--threads"),
      (
        ["explain", "--settings", "world.ndjson", "--messages", "messages.ndjson", "--user", "u1"],
        "Error: Missing expected argument '--message "
      ),
      (change + ["--at", "5"], "Error: Missing expected argument '--conversation "),
      (["check"], "Error: Missing expected argument '<file>"),
      (["store", "check"], "Error: Missing expected argument '--store <file>'"),
      (["store", "backup", "--store", "s"], "Error: Missing expected argument '--output <file>'"),
      (["store", "import", "--store", "s"], "Error: Name what to import: --settings, --users or"),
    ]
  }()

  private static let wrongInstants: [Case] = [
    "now", "-1", "2024-06-33", "2024-06-03T25:00:00", "1.5", "9007199254740992",
  ].map { text in
    (change + ["--conversation", "g1", "--at=\(text)"], "Error: --at \(text) is not an instant; ")
  }

  @Test func wrongUsageEndsWithStatus2() throws {
    try withWorkplace { place in
      let rows = Self.wrong + Self.wrongInstants
      let runs = try rows.map { try place.run($0.arguments) }
      let wrong = zip(runs, rows).filter { run, row in
        run.status != 2 || run.output != "" || !run.errors.hasPrefix(row.message)
          || run.errorLines.count != 2
          || run.errorLines[1].wholeMatch(of: /See 'push-fanout .*--help' for more.*/) == nil
      }
      #expect(wrong.map { "\($1.arguments): \($0.status) \($0.errors)" } == [])
      #expect(place.names() == ["messages.ndjson", "world.ndjson"])
    }
  }
}
