import Foundation
import Glibc
import TestSupport
import Testing

/// Goal: on a terminal, every command that can take longer than a second shows how far it is and how
/// long it still takes; interrupted, it leaves no file.
@Suite struct ProgressTests {
  private static let world = [
    "--settings", "world/settings.ndjson", "--users", "world/users.csv",
    "--members", "world/members.csv",
  ]
  private static let messages = ["--messages", "world/messages.csv"]
  private static let size = [
    "--users", "50000", "--memberships", "500000", "--messages", "50000",
  ]

  /// A world in which each command has some tenths of a second to do, and a store of it.
  private static func withWorld(_ body: (Workplace) throws -> Void) throws {
    try withWorkplace { place in
      let commands = [
        ["generate", "--output", "world", "--seed", "1"] + size,
        ["store", "import", "--store", "a.store"] + world,
      ]
      for command in commands { try #require(place.run(command).status == 0) }
      try place.write(export, as: "world/export.jsonl")
      try body(place)
    }
  }

  /// Forty megabytes of Mattermost.
  private static var export: [String] {
    let body = #""team":"t","channel":"c","user":"u","message":"@u hi""#
    return [#"{"type":"channel","channel":{"team":"t","name":"c"}}"#]
      + (0..<350_000).map { #"{"type":"post","post":{\#(body),"create_at":\#($0)}}"# }
  }

  /// What each command's bar is called, and what has to be there before it.
  private static let commands: [(title: String, words: [String], before: String)] = [
    ("deciding", ["evaluate", "--format", "ndjson"] + world + messages, ""),
    ("opening", ["evaluate", "--store", "a.store"] + messages, "rm a.store.snapshot"),
    ("rendering", ["render"] + world + messages, ""),
    ("replaying", ["replay"] + world + messages, ""),
    ("comparing", ["compare", "--b", "rooms>5.unset.level=mention"] + world + messages, ""),
    ("measuring", ["profile"] + world + messages, ""),
    ("checking", ["check"] + world.filter { $0.contains("/") } + ["world/messages.csv"], ""),
    (
      "generating", ["generate", "--output", "other"] + size, ""
    ),
    ("(reading|importing)", ["store", "import", "--store", "b.store"] + world, ""),
    ("importing", ["import", "mattermost", "world/export.jsonl", "--output", "other"], ""),
    ("exporting", ["store", "export", "--store", "a.store"], ""),
    ("checking", ["store", "check", "--store", "a.store"], ""),
    ("copying", ["store", "backup", "--store", "a.store", "--output", "b.store"], ""),
    ("verifying", ["store", "verify", "--store", "a.store"], ""),
    ("writing the snapshot", ["store", "snapshot", "--store", "a.store"], "rm a.store.snapshot"),
    ("rebuilding", ["store", "rebuild", "--from-snapshot", "--store", "a.store"], "rm a.store"),
    (
      "compacting", ["store", "compact", "--keep-entries", "1", "--shrink", "--store", "a.store"],
      ""
    ),
    ("erasing", ["store", "erase", "--user", "u1", "--store", "a.store"], ""),
  ]

  @Test(.tags(.slow), .unlessFast)
  func everyCommandShowsHowFarItIs() throws {
    try Self.withWorld { place in
      for (title, words, before) in Self.commands {
        let copy = Workplace(url: place.url.appending(path: "copy"))
        // How much time is left is said when the first hundredth is done.
        let bar = try Regex(title + #" \[[#.]+\] \d+ %, \d+ s left"#)
        var (files, shown) = (Set<String>(), "")
        // A machine that is busy may give a command so much time at once that it is done before.
        for _ in 0..<4 where !shown.contains(bar) {
          try place.shell("rm -rf copy; mkdir copy; cp -r world a.store* copy; cd copy; \(before)")
          files = Set(copy.names())
          shown = try copy.screen(of: words) { $0.contains(bar) }
        }
        #expect(shown.contains(bar), "\(words): \(shown.suffix(300))")
        // It was interrupted then. A log that SQLite leaves is removed by who opens the store next.
        let left = copy.names().filter { !files.contains($0) && !$0.hasSuffix("-shm") }
        #expect(left.filter { !$0.hasSuffix("-wal") } == [], "\(words)")
      }
    }
  }
}

extension Workplace {
  /// What a command writes to a terminal that is its standard error, while it is given a small part of
  /// the time until something is there; then it is interrupted.
  fileprivate func screen(
    of arguments: [String], until isThere: (String) -> Bool
  ) throws -> String {
    let terminal = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    try #require(terminal >= 0)
    defer { close(terminal) }
    // TIOCSPTLCK and TIOCGPTN of Linux, which are macros: its other end may be opened, as which file.
    var (isLocked, number): (Int32, Int32) = (0, 0)
    try #require(unsafe ioctl(terminal, 0x4004_5431, &isLocked) == 0)
    try #require(unsafe ioctl(terminal, 0x8004_5430, &number) == 0)
    let output = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    _ = fcntl(terminal, F_SETFL, O_NONBLOCK)

    let process = Process()
    process.executableURL = Self.program
    process.arguments = arguments
    process.currentDirectoryURL = url
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = output
    try process.run()
    try output.close()
    var (shown, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    func read() {
      while true {
        let count = unsafe Glibc.read(terminal, &buffer, buffer.count)
        if count <= 0 { return }
        shown += buffer.prefix(count)
      }
    }
    waits(while: { process.isRunning }) {
      kill(process.processIdentifier, SIGSTOP)
      Thread.sleep(forTimeInterval: 0.15)
      kill(process.processIdentifier, SIGCONT)
      Thread.sleep(forTimeInterval: 0.01)
      read()
      return isThere(String(decoding: shown, as: UTF8.self))
    }
    process.interrupt()
    waits { !process.isRunning }
    read()
    return String(decoding: shown, as: UTF8.self)
  }
}
