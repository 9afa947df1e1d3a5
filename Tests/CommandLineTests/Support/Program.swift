import Foundation
import TestSupport
import Testing

/// What a run of the program gave.
struct Run {
  let status: Int32
  let output: String
  let errors: String

  var lines: [String] { output.split(separator: "\n").map(String.init) }
  /// The lines on standard error; a blank one ends a progress line and is not among them.
  var errorLines: [String] { errors.split(separator: "\n").map(String.init) }

  /// Whether it looks as if the program had crashed.
  var isCrash: Bool {
    let signs = ["Fatal error", "Backtrace", "Crash", "Segmentation", "Illegal instruction"]
    return signs.contains { errors.contains($0) }
  }
}

/// A folder in which the built program runs.
struct Workplace {
  let url: URL

  /// The program beside the tests' own binary, wherever and however they were built.
  static let program = Bundle.main.executableURL!.deletingLastPathComponent()
    .appending(path: "push-fanout")

  func path(_ name: String) -> String { url.appending(path: name).path }

  func write(_ lines: [String], as name: String) throws {
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url.appending(path: name))
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
  }

  /// The names of the files in the folder, sorted.
  func names() -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
  }

  func run(_ arguments: String...) throws -> Run { try run(arguments) }

  /// Runs the program in the folder and waits for its end.
  ///
  /// - Parameters:
  ///   - output: where its standard output goes instead of into the result.
  ///   - meanwhile: called once the program runs.
  func run(
    _ arguments: [String], executable: URL = program, output: FileHandle? = nil,
    meanwhile: (Process) -> Void = { _ in }
  ) throws -> Run {
    let files = ScratchFolder()
    defer { withExtendedLifetime(files) {} }
    let urls = ["output", "errors"].map { files.url.appending(path: $0) }
    for url in urls { try Data().write(to: url) }
    let handles = try urls.map { try FileHandle(forWritingTo: $0) }

    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.currentDirectoryURL = url
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? handles[0]
    process.standardError = handles[1]
    try process.run()
    meanwhile(process)
    try wait(for: process)
    for handle in handles { try handle.close() }
    let texts = try urls.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
    let run = Run(status: process.terminationStatus, output: texts[0], errors: texts[1])
    #expect(process.terminationReason == .exit)
    #expect(!run.isCrash, "\(run.errors)")
    return run
  }

  /// Runs a script of the shell, in which `$0` is the program.
  @discardableResult func shell(_ script: String) throws -> Run {
    try run(
      ["-c", script, Self.program.path], executable: URL(filePath: "/bin/sh"))
  }

  /// A script in which `$0` is the program, its status, and its first line on standard error.
  typealias Case = (script: String, status: Int32, message: String)

  /// Expects of each script its status, its first line on standard error, and no output.
  func expect(_ cases: [Case]) throws {
    var wrong: [String] = []
    for (script, status, message) in cases {
      let run = try shell("\"$0\" \(script)")
      if run.status != status || run.errorLines.first != message || run.output != "" {
        wrong.append("\(script): \(run.status) \(run.errors)\(run.output)")
      }
    }
    #expect(wrong == [])
  }

  private func wait(for process: Process) throws {
    guard waits(for: { !process.isRunning }) else {
      process.terminate()
      throw TimeLimitExceeded()
    }
  }

  struct TimeLimitExceeded: Error {}
}

/// Gives a test a folder with a small world in it and removes it afterwards.
func withWorkplace<Result>(_ body: (Workplace) throws -> Result) throws -> Result {
  try ScratchFolder.with { url in
    let place = Workplace(url: url)
    try place.write(SmallWorld.settings, as: "world.ndjson")
    try place.write(SmallWorld.messages, as: "messages.ndjson")
    return try body(place)
  }
}

/// Three people in a group: one has quiet hours, one wants mentions only, one has set nothing.
enum SmallWorld {
  static let settings = [
    #"{"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}"#,
    #"{"kind":"user","id":"u1","quietHours":{"start":"22:00","end":"08:00"},"#
      + #""devices":[{"id":"p1"},{"id":"p2","token":false}]}"#,
    #"{"kind":"user","id":"u2","level":"mention"}"#,
    #"{"kind":"member","conversation":"g1","user":"u1"}"#,
    #"{"kind":"member","conversation":"g1","user":"u2"}"#,
    #"{"kind":"member","conversation":"g1","user":"u3"}"#,
  ]

  /// At night from outside; at noon from u3 to u2; and the first one's id again, to nobody.
  static let messages = [
    #"{"id":"m1","conversation":"g1","sender":"u9","at":"2024-06-03T23:30:00+08:00"}"#,
    #"{"id":"m2","conversation":"g1","sender":"u3","at":"2024-06-03T12:00:00+08:00","#
      + #""mentions":["u2"]}"#,
    #"{"id":"m1","conversation":"g9","at":1717401600000}"#,
  ]

  /// What evaluates it.
  static let evaluate = ["evaluate", "--settings", "world.ndjson", "--messages", "messages.ndjson"]

  /// Lines of a world in which evaluating takes long: a group of 2,000, and 20,000 messages.
  static func writeLarge(to place: Workplace) throws {
    try place.write(
      (0..<2000).map { #"{"kind":"member","conversation":"g1","user":"u\#($0)"}"# },
      as: "world.ndjson")
    try place.write(
      (0..<20_000).map { #"{"id":"m\#($0)","conversation":"g1","at":1717401600000}"# },
      as: "messages.ndjson")
  }
}
