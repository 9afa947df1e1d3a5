import CPushSQLite
import Foundation
import Testing
import TestSupport

/// Goal: what is left of a store is never taken for another, and a changed bit never decides.
@Suite struct StoreDamageTests {
  private static let message = #"{"id":"m1","conversation":"g","sender":"a","at":1700000000000}"#

  private func makeStore(_ place: Workplace) throws {
    var lines = [#"{"kind":"app","rules":"easemob"}"#]
    for number in 0..<300 {
      lines.append(#"{"kind":"user","id":"u\#(number)","timeZone":"Asia/Kathmandu"}"#)
      let level = number % 3 == 0 ? #","level":"none""# : ""
      lines.append(#"{"kind":"member","conversation":"g","user":"u\#(number)"\#(level)}"#)
    }
    try place.write(lines, as: "many.ndjson")
    try place.write([Self.message], as: "m.ndjson")
    let made = try place.run("store", "import", "--store", "s", "--settings", "many.ndjson")
    #expect(made.status == 0, "\(made.errors)")
  }

  private func decide(_ place: Workplace) throws -> Run {
    try place.run("evaluate", "--store", "s", "--messages", "m.ndjson")
  }

  @Test func anEmptyFileIsNoNewStore() throws {
    try withWorkplace { place in
      try makeStore(place)
      let before = try decide(place)
      #expect(before.status == 0, "\(before.errors)")
      let snapshot = try Data(contentsOf: place.url.appending(path: "s.snapshot"))
      try Data().write(to: place.url.appending(path: "s"))
      for arguments in [
        ["settings", "set", "--store", "s", "--user", "u1", "--level", "all"],
        ["store", "import", "--store", "s", "--settings", "many.ndjson"],
        ["store", "check", "--store", "s"],
      ] {
        let refused = try place.run(arguments)
        #expect(
          refused.errors == "push-fanout: s is not a push-fanout store: it is empty; restore a "
            + "backup, or rebuild it from its snapshot: push-fanout store rebuild --from-snapshot\n"
        )
        #expect(refused.status == 1)
      }
      #expect(try Data(contentsOf: place.url.appending(path: "s")).isEmpty)
      #expect(try Data(contentsOf: place.url.appending(path: "s.snapshot")) == snapshot)

      let rebuilt = try place.run("store", "rebuild", "--from-snapshot", "--store", "s")
      #expect(rebuilt.status == 0)
      #expect(
        rebuilt.errors
          == "300 users, 1 conversation, as of change 1 of the lost store; what it has not, as no "
          + "snapshot has it: display settings, remarks, nicknames, names of conversations, the "
          + "change feed, later changes\n")
      #expect(try decide(place).output == before.output)
      #expect(try place.run("store", "check", "--store", "s").errors == "0 problems\n")
      let again = try place.run("store", "rebuild", "--from-snapshot", "--store", "s")
      #expect(again.errors == "push-fanout: s exists; give a name that is not in use\n")
      #expect(again.status == 1)
      #expect(try place.run("store", "rebuild", "--store", "s").status == 2)
    }
  }

  /// Each command says what to do with a store of another format, and changes nothing.
  @Test func aStoreOfAnotherFormatIsRefused() throws {
    try withWorkplace { place in
      try makeStore(place)
      let url = place.url.appending(path: "s")
      var bytes = [UInt8](try Data(contentsOf: url))
      // https://www.sqlite.org/fileformat.html, 1.3.
      bytes[63] = 5
      let sum = unsafe ps_checksum(bytes, 1)
      unsafe withUnsafeBytes(of: sum) {
        unsafe bytes.replaceSubrange(ps_page_size - ps_checksum_size..<ps_page_size, with: $0)
      }
      try Data(bytes).write(to: url)
      let snapshot = try Data(contentsOf: place.url.appending(path: "s.snapshot"))
      for command in [
        "store check --store s", "store check --fast --store s", "store stats --store s",
        "store verify --store s", "store export --store s --output e.ndjson",
        "store backup --store s --output copy", "store import --store s --settings many.ndjson",
        "store snapshot --store s", "store rebuild --from-snapshot --store s",
        "store compact --store s --keep-entries 1", "store erase --store s --user u1",
        "settings set --store s --user u1 --level all", "settings get --store s --user u1",
        "settings remove user --store s --user u1", "settings events --store s --after 0",
        "evaluate --store s --messages m.ndjson",
      ] {
        let run = try place.run(command.split(separator: " ").map(String.init))
        #expect(
          run.errors
            == "push-fanout: s has format 5, and this version of push-fanout reads format "
            + "4: export it with the version that wrote it (store export), and import that into "
            + "a new store\n", "\(command)")
        #expect(run.status == 1 && run.output.isEmpty, "\(command)")
        #expect(try [UInt8](Data(contentsOf: url)) == bytes, "\(command)")
      }
      #expect(try Data(contentsOf: place.url.appending(path: "s.snapshot")) == snapshot)
      let names = place.names().filter { !$0.hasPrefix("s-") }
      #expect(!names.contains("copy") && !names.contains("e.ndjson"), "\(names)")
    }
  }

  @Test func aFlippedBitNeverDecides() throws {
    try withWorkplace { place in
      try makeStore(place)
      let before = try decide(place)
      try FileManager.default.removeItem(at: place.url.appending(path: "s.snapshot"))
      let url = place.url.appending(path: "s")
      let bytes = try Data(contentsOf: url)
      var random = SeededGenerator(seed: 37)
      var wrong: [String] = []
      var noticed = 0
      for _ in 0..<40 {
        var changed = bytes
        let at = Int.random(in: 0..<bytes.count, using: &random)
        changed[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try changed.write(to: url)
        let run = try decide(place)
        if run.status != 0 { noticed += 1 }
        if run.isCrash || (run.status == 0 && run.output != before.output) {
          wrong.append("byte \(at): \(run.status) \(run.errors)")
        }
        #expect(try place.run("store", "check", "--store", "s").status == 1, "byte \(at)")
      }
      #expect(wrong == [])
      #expect(noticed > 0)
    }
  }

  /// The rate that an import prints is that of the whole command: it is printed when its snapshot
  /// was written, or could not be, which makes the import no less complete.
  @Test func anImportCountsItsSnapshot() throws {
    try withWorkplace { place in
      try makeStore(place)
      try FileManager.default.removeItem(at: place.url.appending(path: "s.snapshot"))
      try FileManager.default.createDirectory(
        at: place.url.appending(path: "s.snapshot"), withIntermediateDirectories: false)
      try Data().write(to: place.url.appending(path: "s.snapshot/file"))
      let run = try place.run("store", "import", "--store", "s", "--settings", "many.ndjson")
      #expect(run.status == 0)
      let lines = run.errors.split(separator: "\n")
      try #require(lines.count == 2, "\(run.errors)")
      #expect(lines[0].hasPrefix("push-fanout: the import is complete; no snapshot was written"))
      #expect(lines[1].hasSuffix("records/s"))
    }
  }
}
