import Foundation
import TestSupport
import Testing

/// Goal: whatever a command writes, it never writes over what it reads, or over another of its
/// outputs; it says which two are the same file, ends with status 2 and has changed nothing.
@Suite struct FileConflictTests {
  private typealias Argument = CommandTree.Argument

  /// The options that are written; all other files are read.
  private static let outputs: Set = ["output", "held"]

  /// Values for arguments that a command cannot do without.
  private static let required = [
    "store": "app.store", "messages": "messages.ndjson", "b": "everyone.level=none",
    "output": "free", "user": "u1", "message": "m1", "conversation": "g1", "at": "5",
    "device": "p1", "state": "offline", "result": "r.json", "file": "world.ndjson",
    "export": "messages.ndjson",
    "verb": "list", "which": "important",
  ]

  /// What commands ask for otherwise.
  private static let enough = [
    "settings set": ["--level", "all"], "settings clear": ["--quiet-hours"],
    "settings defaults": ["--app"], "explain": ["--content"],
    "store rebuild": ["--from-snapshot"], "store compact": ["--keep", "1d"],
    "store erase": ["--user", "u1"], "import mattermost": ["--api-users", "world.ndjson"],
  ]

  /// A command line with values for some arguments, and for what else there must be.
  private static func line(
    _ command: CommandTree.Command, _ values: [(argument: Argument, value: String)]
  ) throws -> [String] {
    var values = values
    let given = { (name: String) in values.contains { $0.argument.name == name } }
    for argument in command.arguments where !argument.isOptional && !given(argument.name) {
      let value = try #require(
        required[argument.name], "\(command.name): add a value for \(argument.shown) above")
      values.append((argument, value))
    }
    // A world is files or a store, and a command says so itself.
    if !given("store") || command.name == "store import", !given("settings"),
      let settings = command.arguments.first(where: { $0.name == "settings" })
    {
      values.append((settings, "world.ndjson"))
    }
    let options = values.filter { $0.argument.kind != .positional }
    let positional = values.filter { $0.argument.kind == .positional }
    return command.words + (enough[command.name] ?? [])
      + (positional + options).flatMap { $0.argument.words($0.value) }
  }

  /// What an argument is called; one of several values by all of them.
  private static func shown(_ argument: Argument, _ command: CommandTree.Command) -> String {
    let several = ["check": "<files>", "test": "<expectations>"]
    return argument.kind == .positional ? several[command.name] ?? argument.shown : argument.shown
  }

  private static func message(
    _ output: String, _ other: Argument, _ path: String
  ) -> String {
    other.name == "store"
      ? "Error: \(output) belongs to the store \(path); write somewhere else\n"
      : "Error: \(output) and \(other.shown) \(path) are the same file; write somewhere else\n"
  }

  @Test func everyFileOfACommandIsKnownAsOne() throws {
    let files: Set = ["file", "folder", "result", "change", "export"]
    for command in try CommandTree.commands() {
      let wrong = command.arguments.filter { $0.isFile != files.contains($0.valueName) }
      #expect(wrong.map(\.shown) == [], "\(command.name)")
    }
  }

  @Test(.tags(.slow), .unlessFast, arguments: ["ln", "ln -s", "true"])
  func anOutputIsNoOtherFileOfTheCommand(link: String) throws {
    var pairs = 0
    for command in try CommandTree.commands() {
      let files = command.arguments.filter(\.isFile)
      for output in files where Self.outputs.contains(output.name) {
        for other in files where other != output {
          try withWorkplace { place in
            // Under one name, or two.
            let path = link == "true" ? "./target" : "other"
            try place.shell("echo kept >target; \(link) target other")
            let before = place.names()
            let run = try place.run(Self.line(command, [(output, "target"), (other, path)]))
            let messages = [
              Self.message("\(output.shown) target", other, path)
                .replacing(other.shown, with: Self.shown(other, command)),
              // Of two outputs either comes first.
              Self.message("\(other.shown) \(path)", output, "target"),
            ]
            #expect(messages.contains(run.errors), "\(command.name): \(run.errors)")
            #expect(run.status == 2 && run.output == "", "\(command.name) \(other.shown)")
            #expect(try place.read("target") == "kept\n")
            #expect(place.names() == before, "\(command.name) \(other.shown)")
          }
          pairs += 1
        }
      }
    }
    #expect(pairs > 30)
  }

  @Test func standardOutputIsNoFileOfTheCommand() throws {
    var count = 0
    for command in try CommandTree.commands() {
      for file in command.arguments where file.isFile {
        try withWorkplace { place in
          try place.shell("echo kept >target")
          let target = try #require(FileHandle(forUpdatingAtPath: place.path("target")))
          try target.seekToEnd()
          let run = try place.run(Self.line(command, [(file, "target")]), output: target)
          let shown = Self.shown(file, command)
          #expect(
            run.errors.replacing(shown, with: file.shown)
              == Self.message("standard output", file, "target"),
            "\(command.name)")
          #expect(run.status == 2, "\(command.name) \(file.shown)")
          #expect(try place.read("target") == "kept\n", "\(command.name) \(file.shown)")
        }
        count += 1
      }
    }
    #expect(count > 60)
  }

  /// What is said then goes to standard output, as the file is to stay as it is.
  @Test func standardErrorIsNoFileOfTheCommand() throws {
    try withWorkplace { place in
      try place.shell(
        "cp messages.ndjson m; cp world.ndjson w; echo kept >app.store; echo old >out")
      let world = "--settings w --messages"
      for (script, other) in [
        ("evaluate \(world) m 2>>m", "--messages m"),
        ("evaluate \(world) - <m 2>>m", "--messages -"),
        ("evaluate \(world) m 2>>w", "--settings w"),
        ("replay \(world) m -o out 2>>out", "--output out"),
        ("check w m 2>>m", "<files> m"),
      ] {
        let before = try ["m", "w", "out"].map { try place.read($0) }
        let run = try place.shell("\"$0\" \(script)")
        #expect(
          run.output
            == "Error: standard error and \(other) are the same file; write somewhere else\n")
        #expect(run.status == 2, "\(script)")
        #expect(try ["m", "w", "out"].map { try place.read($0) } == before, "\(script)")
      }
      let stored = try place.shell("\"$0\" store check --store app.store 2>>app.store")
      #expect(stored.output.hasPrefix("Error: standard error belongs to the store app.store"))
      #expect(try stored.status == 2 && place.read("app.store") == "kept\n")
      // A file of its own, or that of the results, is nobody else's.
      let allowed = try place.shell("\"$0\" evaluate \(world) m >both 2>&1")
      #expect(allowed.status == 0)
    }
  }

  /// Scripts of the shell that are refused, and what is said.
  private static let refused: [(script: String, message: String)] = [
    (
      "replay --held out -o ./folder/../out",
      "--held out and --output ./folder/../out are the same file"
    ),
    ("replay --held dangling -o absent", "--held dangling and --output absent are the same file"),
    (
      "replay --held folder/link/new -o folder/new",
      "--held folder/link/new and --output folder/new are the same file"
    ),
    ("evaluate --messages - -o m <m", "--output m and --messages - are the same file"),
    ("evaluate --messages /dev/stdin -o m <m", "--output m and --messages /dev/stdin are the same"),
    ("evaluate --messages m >m", "standard output and --messages m are the same file"),
    ("evaluate --messages m 1<>m", "standard output and --messages m are the same file"),
    ("evaluate --messages - <m >>m", "standard output and --messages - are the same file"),
    ("replay -o out >out", "standard output and --output out are the same file"),
    ("replay -o /dev/stdout >out", "standard output and --output /dev/stdout are the same file"),
    ("compare --a m --b world.ndjson -o m", "--output m and --a m are the same file"),
  ]

  @Test func whatLeadsToOneFileIsFound() throws {
    try withWorkplace { place in
      try place.write(ReplayTests.messages, as: "messages.ndjson")
      try place.shell("mkdir folder; ln -s ../folder folder/link; ln -s absent dangling")
      for (script, message) in Self.refused {
        try place.shell("cp messages.ndjson m; rm -f out")
        let messages = script.contains("--messages") ? "" : " --messages messages.ndjson"
        let run = try place.shell("\"$0\" \(script)\(messages) --settings world.ndjson")
        #expect(run.errors.hasPrefix("Error: \(message)"), "\(script): \(run.errors)")
        #expect(run.errorLines.count == 1 && run.status == 2, "\(script)")
        // The shell has emptied it already.
        if !script.hasSuffix(" >m") {
          #expect(try place.read("m") == place.read("messages.ndjson"), "\(script)")
        }
        let left = place.names().filter { $0.contains(".part") || $0 == "absent" }
        #expect(left == [], "\(script)")
      }
    }
  }

  /// Pipes, devices, free names and files that are only read may be named as often as one likes.
  @Test func whatIsNotOneFileIsAllowed() throws {
    try withWorkplace { place in
      try place.write(ReplayTests.messages, as: "messages.ndjson")
      let scripts = [
        "\"$0\" replay -o /dev/null --held /dev/null >/dev/null",
        "\"$0\" replay -o a.json --held a.csv >a.txt 2>&1",
        "\"$0\" replay -o /dev/stdout --json | cat >/dev/null",
        "\"$0\" evaluate -o dangling",
        "\"$0\" check messages.ndjson messages.ndjson",
      ]
      try place.shell("ln -s absent dangling")
      for script in scripts {
        let files = " --settings world.ndjson --messages messages.ndjson"
        let line =
          script.contains("check")
          ? script : script.replacing(/(replay|evaluate)/) { "\($0.output.0)\(files)" }
        let run = try place.shell(line)
        #expect(!run.errors.contains("same file"), "\(script): \(run.errors)")
        #expect(script.contains("check") || run.status == 0, "\(script): \(run.errors)")
      }
      let target = try place.shell("test -L dangling && test -s absent")
      #expect(target.status == 0, "the link is still one, and leads to the output")
    }
  }
}
