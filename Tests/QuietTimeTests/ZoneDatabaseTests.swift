import Foundation
import TestSupport
import Testing

@testable import QuietTime

/// Goal: only names of the IANA database are zones, whatever lies in the folder; the version is
/// that of the data; and what is wrong with a folder or a file is said by name.
@Suite struct ZoneDatabaseTests {
  @Test func refusesWhatIsNoName() {
    let refused = [
      "GMT+8", "PST", "UTC+8", "UTC+0800", "GMT+0800", "asia/shanghai", "Europe/berlin",
      "EUROPE/BERLIN", "", " ", "localtime", "posixrules", "Factory", "Europe/Berlin ",
      " Europe/Berlin", "Europe/Berlin/", "posix/Europe/Berlin", "right/UTC", "+08:00", "Z", "utc",
      "Mars/Phobos", "Europe", "CEST", "BST", "../UTC", "../2025b/UTC", "/UTC", "./UTC",
      "Europe/../UTC", "Europe//Berlin", "UTC\0", "\u{212A}wajalein", "tzdata.zi", "zone.tab",
      "+VERSION",
    ]
    #expect(refused.filter { pinned.isName($0) } == [])
    for name in refused {
      #expect(throws: ZoneDataError.unknownName(name)) { try pinned.zone(named: name) }
    }
  }

  @Test func acceptsEveryNameOfTheDatabase() {
    let accepted =
      ["UTC", "GMT", "US/Pacific", "Asia/Calcutta", "Asia/Kolkata", "Etc/GMT+5", "EST5EDT"]
      + TimeZone.knownTimeZoneIdentifiers
    if TimeZone.timeZoneDataVersion == pinned.version {
      #expect(accepted.filter { !pinned.isName($0) } == [])
      #expect(pinned.names.filter { TimeZone(identifier: $0) == nil } == [])
    }
    #expect(pinned.names.count == 597)
    #expect(pinned.names == Self.namesOfSource())
  }

  /// The zones and links of the text that the files were compiled from.
  private static func namesOfSource() -> Set<String> {
    let text = try! String(contentsOfFile: pinnedFolder + "/tzdata.zi", encoding: .utf8)
    var names: Set<String> = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words[0] == "Z" { names.insert(String(words[1])) }
      if words[0] == "L" { names.insert(String(words[2])) }
    }
    return names.subtracting(["Factory"])
  }

  /// What Debian, macOS and old systems have beside the zones.
  @Test func whatElseIsInAFolder() throws {
    let folder = ScratchFolder()
    for name in [
      "UTC", "Factory", "localtime", "posixrules", "zone.tab", "leapseconds", "posix/UTC",
      "right/UTC", "Europe/Berlin", "Europe/.hidden", "Europe/berlin~", "A/B/C/D", "A/B/C/D2/E",
    ] {
      try put(try zoneBytes("UTC"), as: name, in: folder)
    }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("Zulu"), withDestinationPath: "UTC")
    try folder.write(Array("2031a\n".utf8), as: "+VERSION")
    let database = try ZoneDatabase(folder: folder.url.path)
    #expect(database.names == ["UTC", "Zulu", "Europe/Berlin", "A/B/C/D"])
    #expect(try database.zone(named: "Zulu").offsetSeconds(at: 0) == 0)
  }

  // MARK: The version

  @Test func versions() throws {
    func version(_ files: [String: String]) throws -> String {
      let folder = ScratchFolder()
      try put(try zoneBytes("UTC"), as: "UTC", in: folder)
      for (name, text) in files { try folder.write(Array(text.utf8), as: name) }
      return try ZoneDatabase(folder: folder.url.path).version
    }
    let hash = try version([:])
    #expect(hash.wholeMatch(of: /hash-[0-9a-f]{16}/) != nil)
    #expect(try version(["tzdata.zi": "# version 2031a\n# x"]) == "2031a")
    #expect(try version(["tzdata.zi": "# version 2031a", "+VERSION": "2030b"]) == "2031a")
    #expect(try version(["+VERSION": "2030b\n"]) == "2030b")
    // Files that do not say it.
    let long = String(repeating: "9", count: 60)
    #expect(try version(["tzdata.zi": "# a comment\n", "+VERSION": "\n"]) == hash)
    #expect(try version(["tzdata.zi": "# version \(long)\n", "+VERSION": "2031\u{e4}"]) == hash)
    #expect(try version(["Zulu": ""]) != hash, "the hash is of all zones")
  }

  @Test func theZonesOfAnArchiveAreFoundFromItsPrograms() {
    let zones = "/a b/share/push-fanout/zoneinfo"
    let folders = [
      "/a b/bin/push-fanout", "/a b/libexec/push-fanout/push-fanout-server", "/p", nil,
    ]
    .map { ZoneDatabase.archivedFolders(program: $0) }
    #expect(
      folders == [
        [zones, "/share/push-fanout/zoneinfo"],
        ["/a b/libexec/share/push-fanout/zoneinfo", zones], [], [],
      ])
  }

  // MARK: What is wrong

  @Test func missingFolders() throws {
    let folder = ScratchFolder()
    let path = folder.path("missing")
    #expect(throws: ZoneDataError.noDatabase(folders: [path])) { try ZoneDatabase(folder: path) }
    let file = try folder.write([], as: "file")
    #expect(throws: ZoneDataError.noDatabase(folders: [file])) { try ZoneDatabase(folder: file) }
    #expect(
      "\(ZoneDataError.noDatabase(folders: ["/a", "/b"]))"
        == "no time-zone database in /a or /b; install tzdata, or set TZDIR to the folder of "
        + "compiled time zones")
    let empty = ScratchFolder().url.path
    #expect(throws: (any Error).self) { try ZoneDatabase(folder: empty) }
  }

  @Test func filesThatCannotBeUsed() throws {
    let folder = ScratchFolder()
    let berlin = try zoneBytes("Europe/Berlin")
    let long = [UInt8](repeating: 0, count: 1 << 20 + 1)
    try put(Array("nonsense".utf8), as: "Bad/Magic", in: folder)
    try put(Array(berlin.dropLast(30)), as: "Bad/Cut", in: folder)
    try put([], as: "Bad/Empty", in: folder)
    try put(long, as: "Bad/Long", in: folder)
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: folder.path("Bad/Link"), withDestinationPath: "/nonexistent")
    try files.createSymbolicLink(
      atPath: folder.path("Bad/Folder"), withDestinationPath: folder.url.path)
    try files.createSymbolicLink(
      atPath: folder.path("Bad/Device"), withDestinationPath: "/dev/zero")
    try folder.write(Array("2031a\n".utf8), as: "+VERSION")
    let database = try ZoneDatabase(folder: folder.url.path)
    func said(_ name: String) -> String {
      do throws(ZoneDataError) {
        _ = try database.zone(named: name)
        return "nothing"
      } catch {
        return "\(error)".replacing(folder.url.path, with: "FOLDER")
      }
    }
    let again = "; install tzdata again"
    #expect(
      ["Magic", "Cut", "Empty", "Long", "Link", "Folder", "Device"].map { said("Bad/\($0)") } == [
        "time-zone data FOLDER/Bad/Magic is malformed: it does not begin with TZif" + again,
        "time-zone data FOLDER/Bad/Cut is malformed: it is cut off" + again,
        "time-zone data FOLDER/Bad/Empty is malformed: it is cut off" + again,
        "time-zone data FOLDER/Bad/Long is malformed: 1048577 bytes" + again,
        "time-zone data FOLDER/Bad/Link cannot be read: No such file or directory",
        "time-zone data FOLDER/Bad/Folder cannot be read: it is not a regular file",
        "time-zone data FOLDER/Bad/Device cannot be read: it is not a regular file",
      ])
  }

  /// What the system's own zones say otherwise is no failure: it is printed.
  @Test func theSystemsZones() throws {
    guard let system = try? ZoneDatabase(folder: "/usr/share/zoneinfo") else {
      return print("The system has no time zones.")
    }
    var different: [String] = []
    for name in system.names.intersection(pinned.names).sorted() {
      let (theirs, ours) = (try? system.zone(named: name), try pinned.zone(named: name))
      if theirs != ours { different.append(theirs == nil ? "\(name) (unreadable)" : name) }
    }
    let own = system.names.symmetricDifference(pinned.names).sorted()
    print(
      "The system's time zones are of version \(system.version), the pinned ones "
        + "\(pinned.version). Different: \(different). Names of one of them: \(own).")
  }
}

/// The bytes of a pinned zone.
func zoneBytes(_ name: String, in folder: String = pinnedFolder) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
}

/// Writes a file, and the folders that it is in.
func put(_ bytes: [UInt8], as name: String, in folder: ScratchFolder) throws {
  let parent = URL(filePath: folder.path(name)).deletingLastPathComponent()
  try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
  try folder.write(bytes, as: name)
}
