import Foundation
import PushModel
import QuietTime
import TestSupport
import Testing

@testable import PushFanout

/// Goal: whatever is wrong with a file is said in a line, and a snapshot that could not be written
/// leaves nothing behind.
@Suite struct SnapshotFileTests {
  private static let identity = SnapshotIdentity(high: 1, low: 0xAB)

  private func fanout(_ count: Int) throws -> Fanout {
    var builder = FanoutBuilder()
    for number in 0..<count { try builder.setMember(Identifier("u\(number)"), of: "g") }
    return try builder.build(threads: 1)
  }

  private func problem(_ path: String, _ identity: SnapshotIdentity = identity) -> String {
    do throws(SnapshotError) {
      _ = try Fanout(snapshot: path, identity: identity)
      return "none"
    } catch {
      return error.description.replacing(path, with: "FILE")
    }
  }

  /// A snapshot whose header was changed and sealed again.
  private func problem(_ change: (inout SnapshotHeader) -> Void) throws -> String {
    let folder = ScratchFolder()
    let path = folder.path("s")
    try fanout(10).writeSnapshot(to: path, identity: Self.identity, sequence: 1)
    var header = try SnapshotHeader(of: try Mapping(path: path), path: path)
    change(&header)
    try folder.write(
      header.bytes + (try folder.bytes("s")[SnapshotHeader.byteCount...]), as: "s")
    return problem(path)
  }

  @Test func whatIsNoSnapshot() throws {
    let folder = ScratchFolder()
    let missing = folder.path("missing")
    #expect(problem(missing) == "snapshot FILE cannot be opened: No such file or directory")
    #expect(problem(folder.url.path) == "snapshot FILE is not a regular file")
    #expect(problem("/dev/null") == "snapshot FILE is not a regular file")
    #expect(problem(try folder.write([], as: "a")) == "snapshot FILE is not a snapshot")
    let text = [UInt8](repeating: 0x20, count: 10_000)
    #expect(problem(try folder.write(text, as: "b")) == "snapshot FILE is not a snapshot")
  }

  @Test func whatBelongsToOthers() throws {
    let folder = ScratchFolder()
    let path = folder.path("s")
    try fanout(10).writeSnapshot(to: path, identity: Self.identity, sequence: 77)
    #expect(problem(path) == "none")
    let other = SnapshotIdentity(high: 1, low: 0xAC)
    #expect(
      problem(path, other)
        == "snapshot FILE belongs to another store, 000000000000000100000000000000ab")
    let info = try SnapshotInfo(path: path)
    #expect(info.identity == Self.identity && info.sequence == 77)
    #expect(info.byteCount == (try folder.bytes("s").count))
    // Each number in front of the identity: the format, the tables, the rows, the machine.
    for (offset, what) in [
      (8, "has an unsupported version: format 2, expected 1"),
      (12, "has an unsupported version: tables 7, expected 6"),
      (16, "has an unsupported version: the layout of rows differs"),
      (20, "has an unsupported version: the byte order or word size differs"),
      (21, "has an unsupported version: the byte order or word size differs"),
      (22, "is malformed: header: 29 sections"),
    ] {
      var bytes = try folder.bytes("s")
      bytes[offset] += 1
      bytes.replaceSubrange(4088..<4096, with: Self.bytes(of: checksum(Array(bytes[..<4088]))))
      #expect(problem(try folder.write(bytes, as: "t")) == "snapshot FILE \(what)")
    }
  }

  private static func bytes(of number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  @Test func headersThatDoNotFit() throws {
    let problem = "is malformed: packedUsers: invalid offset or size"
    let users = Int(SnapshotPart.packedUsers.rawValue) - 1
    #expect(try self.problem { $0.sections[users].offset += 4096 } == "snapshot FILE \(problem)")
    #expect(try self.problem { $0.sections[users].byteCount += 1 } == "snapshot FILE \(problem)")
    #expect(
      try self.problem { $0.sections[users].elementCount -= 1 }
        == "snapshot FILE is malformed: packedUsers: 9 elements, expected 10")
    #expect(
      try self.problem { $0.sections[users].checksum ^= 1 }
        == "snapshot FILE is damaged: checksum mismatch in packedUsers")
    #expect(try self.problem { $0.fileSize += 4096 }.hasPrefix("snapshot FILE is damaged: "))
  }

  /// A snapshot of two conversations of 10 members with overrides, in which a number was replaced
  /// and the checksum with it.
  private func problem(
    _ part: SnapshotPart, _ offset: Int, _ change: (UInt32) -> UInt32
  ) throws -> String {
    let folder = ScratchFolder()
    let path = folder.path("s")
    var builder = FanoutBuilder()
    for number in 0..<20 {
      try builder.setMember(
        Identifier("u\(number)"), of: number % 2 == 0 ? "a" : "b",
        MemberSettings(since: Instant(milliseconds: 1 << 40)))
    }
    try builder.build(threads: 1).writeSnapshot(to: path, identity: Self.identity, sequence: 1)
    var bytes = try folder.bytes("s")
    var header = try SnapshotHeader(of: try Mapping(path: path), path: path)
    let index = Int(part.rawValue) - 1
    let section = header.sections[index]
    let place = section.offset + PageStore.headerSize + offset
    let old = (0..<4).reduce(0 as UInt32) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    for byte in 0..<4 {
      bytes[place + byte] = UInt8(truncatingIfNeeded: change(old) >> UInt32(8 * byte))
    }
    header.sections[index].checksum = SnapshotSection.sum(
      (0..<section.blockCount).map { checksum(Array(bytes[section.block($0)])) })
    try folder.write(header.bytes + bytes[SnapshotHeader.byteCount...], as: "s")
    return problem(path)
  }

  @Test func overridesThatAreNotTheMembers() throws {
    let row = MemoryLayout<ConversationRow>.stride
    let start = try #require(MemoryLayout<ConversationRow>.offset(of: \.overrideStart))
    let count = try #require(MemoryLayout<ConversationRow>.offset(of: \.overrideCount))
    #expect(try problem(.conversations, start) { $0 } == "none")
    let beyond = "snapshot FILE is malformed: conversations: inconsistent elements"
    for (offset, value) in [
      // Beyond the records, with another conversation's, and twice the same.
      (start, 11), (count, 21), (count, .max), (row + start, .max), (count, 11), (row + start, 0),
    ] as [(Int, UInt32)] {
      #expect(try problem(.conversations, offset) { _ in value } == beyond, "\(offset) \(value)")
    }
    // A user again.
    #expect(try problem(.overrides, 12) { _ in 0 } == beyond)
    let wrong = "snapshot FILE is malformed: overrides: value out of range"
    #expect(try problem(.overrides, 12 * 9) { _ in 20 } == wrong)
    #expect(try problem(.overrides, 8) { $0 & 0x3FFF_FFFF } == wrong)
    #expect(try problem(.overrides, 8) { $0 | 0x3FFF_FFFF } == wrong)
    // A set of channel levels that is not there.
    #expect(try problem(.overrides, 8) { _ in 3 << 30 | 1 } == wrong)
  }

  /// A snapshot in which a text of the settings is another of the same length.
  private func problem(replacing old: String, with new: String) throws -> String {
    let folder = ScratchFolder()
    let path = folder.path("s")
    let fanout = try Fanout(app: AppSettings(timeZone: "Asia/Kathmandu"))
    try fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 1)
    var bytes = try folder.bytes("s")
    let place = try #require(bytes.firstRange(of: old.utf8))
    bytes.replaceSubrange(place, with: new.utf8)
    var header = try SnapshotHeader(of: try Mapping(path: path), path: path)
    let settings = header.sections[0]
    header.sections[0].checksum = SnapshotSection.sum([checksum(Array(bytes[settings.range]))])
    bytes.replaceSubrange(..<SnapshotHeader.byteCount, with: header.bytes)
    try folder.write(bytes, as: "s")
    return problem(path)
  }

  @Test func aZoneThatIsNoLongerKnown() throws {
    #expect(
      try problem(replacing: "Kathmandu", with: "Erewhon__")
        == "snapshot FILE has an unknown time zone: \"Asia/Erewhon__\"")
  }

  @Test func otherTimeZoneData() throws {
    let version = try ZoneDatabase.system.get().version
    let other = String(version.reversed())
    #expect(
      try problem(replacing: version, with: other)
        == "snapshot FILE was written with time-zone data \(other), and the system's are \(version)"
    )
  }

  /// Written before the version was kept: what follows the sets of channels is missing.
  @Test func withoutTheVersionOfTimeZoneData() throws {
    var settings = SnapshotSettings(try TableWriter(app: AppSettings()).tables)
    settings.zoneVersion = nil
    let read = try SnapshotSettings(settings.bytes)
    #expect(read.zoneVersion == nil)
    #expect(read.schedules == [QuietSettings()])
    settings.zoneVersion = "2031a"
    #expect(try SnapshotSettings(settings.bytes).zoneVersion == "2031a")
  }

  // MARK: Writing

  @Test func onlyTheOwnerMayReadIt() throws {
    let folder = ScratchFolder()
    let path = try folder.write([1, 2, 3], as: "s")
    try folder.write([1, 2, 3], as: "s.tmp-\(ProcessInfo.processInfo.processIdentifier)")
    try fanout(10).writeSnapshot(to: path, identity: Self.identity, sequence: 1)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try folder.names == ["s"])
    #expect(problem(path) == "none")
  }

  @Test func whereNothingCanBeWritten() throws {
    let folder = ScratchFolder()
    let fanout = try fanout(10)
    for (path, problem) in [
      (folder.path("missing/s"), SnapshotError.Problem.cannotWrite("No such file or directory")),
      (folder.url.path, .notAFile), ("/dev/full", .notAFile),
      (try folder.write([7], as: "f") + "/s", .cannotWrite("Not a directory")),
      ("/proc/s", .cannotWrite("No such file or directory")),
    ] {
      #expect(throws: SnapshotError(path: path, problem: problem)) {
        try fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 1)
      }
    }
    #expect(try folder.names == ["f"])
  }

  /// In a process of its own, which gives up root's rights.
  @Test func withoutPermission() async {
    await #expect(processExitsWith: .success) {
      if geteuid() == 0 { #expect(seteuid(65_534) == 0) }
      let tests = SnapshotFileTests()
      let folder = ScratchFolder()
      let path = folder.path("s")
      try tests.fanout(10).writeSnapshot(to: path, identity: Self.identity, sequence: 1)
      unsafe chmod(path, 0)
      #expect(tests.problem(path) == "snapshot FILE cannot be opened: Permission denied")
      unsafe chmod(folder.url.path, 0o500)
      defer { unsafe chmod(folder.url.path, 0o700) }
      #expect(throws: SnapshotError.self) {
        try tests.fanout(10).writeSnapshot(to: path, identity: Self.identity, sequence: 2)
      }
    }
  }

  /// A file that may not grow is as good as a full disk; the limit is that of a whole process.
  @Test func aFullDiskLeavesTheLastSnapshot() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let folder = ScratchFolder()
      let path = folder.path("s")
      var builder = FanoutBuilder()
      for number in 0..<20_000 { try builder.setMember(Identifier("u\(number)"), of: "g") }
      let fanout = try builder.build(threads: 1)
      try fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 1)
      for limit in [0, 5000, 300_000, 900_000] {
        var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t.max)
        unsafe setrlimit(__rlimit_resource_t(1), &limits)
        do throws(SnapshotError) {
          try fanout.writeSnapshot(to: path, identity: Self.identity, sequence: 2)
          exit(1)
        } catch {
          if error.problem != .cannotWrite("File too large") { exit(2) }
        }
        if (try? folder.names) != ["s"] { exit(3) }
      }
      let opened = try Fanout(snapshot: path, identity: Self.identity)
      if opened.snapshot?.sequence != 1 || opened.userCount != 20_000 { exit(4) }
    }
  }

  // MARK: Parts

  /// From xxHash's own documents and its command line.
  @Test func checksumsAreXXH64() {
    for (text, sum) in [
      ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
      ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
    ] as [(String, UInt64)] {
      #expect(checksum(Array(text.utf8)) == sum, "\(text)")
    }
  }

  /// A field that is added must be added to `AppSettings.code` as well, and there counted here.
  @Test func everyFieldIsWritten() {
    // The last has what only open rules have: quiet hours and options.
    #expect(Mirror(reflecting: AppSettings()).children.count == 8 + 1)
    #expect(Mirror(reflecting: EasemobOptions()).children.count == 13)
    #expect(Mirror(reflecting: RongCloudOptions()).children.count == 7)
    #expect(Mirror(reflecting: QuietSettings()).children.count == 2)
    #expect(MemoryLayout<ConversationRow>.size == MemoryLayout<ConversationRow>.stride)
    #expect(MemoryLayout<DeviceRecord>.size == MemoryLayout<DeviceRecord>.stride)
    #expect(MemoryLayout<OverrideRecord>.size == 12)
    #expect(MemoryLayout<OverrideRecord>.stride == 12)
  }
}
