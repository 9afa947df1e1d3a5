import Foundation
import TestSupport
import Testing

@testable import PushImport

/// Goal: archives are read as they are, and hostile ones end with an error that names the entry.
@Suite struct ArchiveTests {
  private static let text = [Line.town, Line.user("ann"), Line.post("hi", by: "x"), ""]
    .joined(separator: "\n")

  private func mattermost(_ archive: [UInt8], _ name: String = "a.zip") throws -> Imported {
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    return try Importer().imported(
      .mattermost(MattermostOptions()), try folder.write(archive, as: name))
  }

  private func problem(_ archive: [UInt8], _ name: String = "a.zip") -> String {
    Importer.problem { try mattermost(archive, name) }
  }

  @Test(arguments: [
    "zip:compression=store", "zip:compression=deflate", "zip:zip64,zip:compression=deflate",
    "zip:zip64,zip:compression=store",
  ])
  func zips(options: String) throws {
    let archive = Archive.make(
      [("data/", ""), ("data/x.jsonl", "no"), ("import.jsonl", Self.text), ("data/a.png", "x")],
      zip: true, options: options)
    let result = try mattermost(archive)
    #expect(try result.pushes() == [])
    #expect(result.messages.count == 1)
    #expect(result.report.counts.values.first?.examples == ["a.zip/import.jsonl:2"])
  }

  /// Names are UTF-8 in any locale.
  @Test func namesOfAnyCharacters() throws {
    let archive = Archive.make([("data/日本.png", "x"), ("übung.jsonl", "{")], zip: true)
    #expect(problem(archive) == "a.zip/übung.jsonl:1: the JSON text is cut off")
  }

  @Test func gzip() throws {
    let folder = ScratchFolder()
    let plain = try folder.write(Array(Self.text.utf8), as: "import.jsonl")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", plain]
    try process.run()
    process.waitUntilExit()
    let packed = try folder.bytes("import.jsonl.gz")
    #expect(try mattermost(packed, "import.jsonl.gz").messages.count == 1)
    // By its content, and several members behind each other.
    #expect(try mattermost(packed + packed, "x").report.records.messages == 2)
    #expect(problem(Array(packed.dropLast(9)), "x").hasPrefix("x: it cannot be read: "))
  }

  @Test func tar() throws {
    let archive = Archive.make(
      [
        ("e/uploads/2/realm.json", "no"), ("e/messages-000001.json", #"{"zerver_message":[]}"#),
        ("e/realm.json", #"{"zerver_userprofile":[{"id":1}]}"#),
        ("e/uploads/messages-1.json", "no"),
      ], zip: false)
    let folder = ScratchFolder()
    let path = try folder.write(archive, as: "e.tar.gz")
    #expect(try Importer().imported(.zulip, path).report.records.users == 1)
    let broken = Archive.make([("./e/realm.json", "{\n[")], zip: false)
    let found = Importer.problem {
      try Importer().imported(.zulip, try folder.write(broken, as: "b.tar.gz"))
    }
    #expect(found == "b.tar.gz/./e/realm.json:2: this is not JSON")
  }

  /// Entries elsewhere are none that are looked for.
  @Test func hostileNames() throws {
    let names = ["../import.jsonl", "/import.jsonl", "a/../import.jsonl", #"..\import.jsonl"#]
    for name in names {
      let archive = Archive.make([(name, Self.text)], zip: true)
      #expect(problem(archive) == "a.zip: there is no .jsonl outside folders in it")
    }
    let both = Archive.make([("import.jsonl", Self.text), ("b.jsonl", Self.text)], zip: true)
    #expect(
      problem(both) == "a.zip/b.jsonl: it is a second .jsonl outside folders, beside import.jsonl")
    for name in ["../realm.json", "/realm.json", "e/../realm.json", "a/b/realm.json"] {
      let folder = ScratchFolder()
      let path = try folder.write(Archive.make([(name, "{}")], zip: false), as: "e.tar.gz")
      let found = Importer.problem { try Importer().imported(.zulip, path) }
      #expect(found == "e.tar.gz: there is no realm.json in it")
    }
  }

  /// Wherever an archive is cut, the import ends, and names the entry once one was begun.
  @Test func cutArchives() throws {
    var random = SeededGenerator(seed: 7)
    let lines = (0..<30_000).map { Line.post("\(random.next())\(random.next())", by: "x", at: $0) }
    let text = Self.text + lines.joined(separator: "\n")
    let zip = Archive.make([("import.jsonl", text), ("data/a.png", "x")], zip: true)
    for count in stride(from: 100, to: zip.count, by: 19_997) {
      let found = problem(Array(zip.prefix(count)))
      #expect(
        found.hasPrefix("a.zip/import.jsonl: ") || found.hasPrefix("a.zip/data/a.png: "),
        "\(count): \(found)")
    }
    let last = problem(Array(zip.dropLast(23)))
    #expect(last == "a.zip/data/a.png: the archive is cut off behind it")
    let tar = Archive.make([("import.jsonl", text)], zip: false)
    // The entry's header is in the first 64 KiB that are unpacked.
    let firstBlock = [10, 30, 1000, 10_000].map { problem(Array(tar.prefix($0)), "a.tar.gz") }
    #expect(firstBlock.filter { !$0.hasPrefix("a.tar.gz: it cannot be read: ") } == [])
    for count in stride(from: 100_000, to: tar.count - 40, by: 49_997) {
      let found = problem(Array(tar.prefix(count)), "a.tar.gz")
      #expect(found.hasPrefix("a.tar.gz/import.jsonl: "), "\(count): \(found)")
    }
  }

  /// Sizes that are not those of the content, and content that is damaged.
  @Test func sizesThatLie() throws {
    let zip = Archive.make(
      [("import.jsonl", Self.text)], zip: true, options: "zip:compression=store")
    let directory = try #require(zip.indices.last { zip[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
    for size in [1, 100, 1 << 30] {
      var lying = zip
      for byte in 0..<4 {
        for place in [22, directory + 24] {
          lying[place + byte] = UInt8(truncatingIfNeeded: size >> (8 * byte))
        }
      }
      let found = problem(lying)
      #expect(found.hasPrefix("a.zip/import.jsonl: it cannot be read: "), "\(size): \(found)")
    }
    var damaged = zip
    damaged[directory / 2] ^= 1
    #expect(problem(damaged).hasPrefix("a.zip/import.jsonl"))
  }

  /// What unpacks to far more than any export does.
  @Test func bombs() throws {
    let blank = String(repeating: "\n", count: 160 << 20)
    let bomb = Archive.make([("import.jsonl", blank)], zip: true)
    #expect(
      problem(bomb)
        == "a.zip/import.jsonl: it unpacks to more than 200 times its size, which no export does")
  }

  @Test func filesThatAreNone() throws {
    #expect(problem([]) == "a.zip: it is empty")
    let folder = ScratchFolder()
    let system = ImportSystem.mattermost(MattermostOptions())
    let found = [folder.url.path, folder.path("none")].map { path in
      Importer.problem { try Importer().imported(system, path) }
    }
    #expect(found[0].hasSuffix(": it is a folder"))
    #expect(found[1] == "none: it cannot be opened: No such file or directory")
    let text = try folder.write([0x7B], as: "realm.json")
    let plain = Importer.problem { try Importer().imported(.zulip, text) }
    #expect(plain == "realm.json: it is neither a folder nor an archive")
  }
}
