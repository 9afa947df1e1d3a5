import Foundation
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: a file that is gzip, whatever its name, is read as what it unpacks to, also over several buffers and
/// members, and one that was cut off or damaged is refused.
@Suite struct GzipTests {
  /// The text, packed by the system's gzip.
  private func packed(_ text: String, in folder: TestFolder) throws -> Data {
    let name = "packed-\(UUID())"
    let path = try folder.write(text.utf8, as: name)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "--fast", path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return try Data(contentsOf: folder.url.appending(path: name + ".gz"))
  }

  /// Lines of users whose ids pack badly.
  private func users(_ count: Int, seed: UInt64 = 1) -> [String] {
    var state = seed
    return (0..<count).map { index in
      let digits = (0..<3).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return String(state >> 8, radix: 36)
      }
      return #"{"kind":"user","id":"\#(index)-\#(digits.joined())"}"#
    }
  }

  /// The ids of a world in one file, or what is wrong with it.
  private func read(_ bytes: Data, _ folder: TestFolder, as name: String = "w.ndjson.gz")
    throws -> [String]
  {
    let path = try folder.write(bytes, as: name)
    let paths = SettingsPaths(settings: [path])
    let problem = folder.problem(paths)
    guard problem == "loaded" else { return [problem] }
    return try folder.world(paths).users.map(\.id.text)
  }

  @Test(.tags(.slow), .unlessFast) func aLargeFileIsTheSamePackedAndNot() throws {
    let lines = users(60_000)
    let text = lines.joined(separator: "\n") + "\n"
    #expect(text.utf8.count > 3_000_000)
    try withFolder { folder in
      let gzip = try packed(text, in: folder)
      #expect(gzip.count > 4 * 256 * 1024)
      let plain = try read(Data(text.utf8), folder, as: "w.ndjson")
      #expect(plain.count == lines.count)
      #expect(try read(gzip, folder) == plain)
      let half = gzip.prefix(gzip.count / 2)
      let problem = try #require(try read(half, folder).first)
      #expect(problem.hasSuffix(": the gzip data ends too early; the file was cut off"))
      #expect(problem.hasPrefix("w.ndjson.gz:2") || problem.hasPrefix("w.ndjson.gz:3"))
    }
  }

  @Test func membersInARowAreOneText() throws {
    let lines = users(30_000)
    try withFolder { folder in
      // The first member ends inside a line, the third is empty.
      let text = lines.joined(separator: "\n")
      let middle = text.index(text.startIndex, offsetBy: text.count / 2 + 7)
      let members = [String(text[..<middle]), String(text[middle...]), "", "\n\n"]
      let bytes = try members.map { try packed($0, in: folder) }
      let plain = try read(Data(text.utf8), folder, as: "w.ndjson")
      #expect(plain.count == lines.count)
      #expect(try read(Data(bytes.joined()), folder) == plain)
      let cut = Data(bytes[..<3].joined()) + bytes[3].dropLast(2)
      #expect(
        try read(cut, folder) == [
          "w.ndjson.gz:30002: the gzip data ends too early; the file was cut off"
        ])
    }
  }

  @Test func whatIsNotWholeGzipIsRefused() throws {
    let text = #"{"kind":"user","id":"u1"}"# + "\n" + #"{"kind":"user","id":"u2"}"# + "\n"
    let truncated = "the gzip data ends too early; the file was cut off"
    let damaged = "the gzip data is damaged"
    try withFolder { folder in
      let whole = try packed(text, in: folder)
      let empty = try packed("", in: folder)
      var (wrongSum, wrongLength, wrongMethod) = (whole, whole, whole)
      wrongSum[whole.count - 8] ^= 1
      wrongLength[whole.count - 1] ^= 1
      wrongMethod[2] = 7
      let cases: [(bytes: Data, found: [String])] = [
        (whole, ["u1", "u2"]), (Data(), ["w.ndjson.gz:1: the file is empty"]),
        (empty, ["w.ndjson.gz:1: the file is empty"]), (empty + whole, ["u1", "u2"]),
        (whole.prefix(1), ["w.ndjson.gz:1: \(truncated)"]),
        (whole.prefix(9), ["w.ndjson.gz:1: \(truncated)"]),
        (whole.prefix(40), ["w.ndjson.gz:1: \(truncated)"]),
        (whole.dropLast(8), ["w.ndjson.gz:3: \(truncated)"]),
        (whole.dropLast(1), ["w.ndjson.gz:3: \(truncated)"]),
        (Data(wrongSum), ["w.ndjson.gz:1: \(damaged)"]),
        (Data(wrongLength), ["w.ndjson.gz:1: \(damaged)"]),
        (Data(wrongMethod), ["w.ndjson.gz:1: \(damaged)"]),
        (
          Data(text.utf8),
          ["w.ndjson.gz:1: is not gzip data, although its name ends in .gz"]
        ),
        (
          whole + Data("garbage".utf8),
          ["w.ndjson.gz:1: the gzip data is followed by bytes that are not gzip"]
        ),
        (whole + whole.prefix(12), ["w.ndjson.gz:3: \(truncated)"]),
        // Zeros behind the last member, as a tape or a disk leaves them.
        (whole + Data([0]), ["u1", "u2"]), (whole + Data(count: 600_000), ["u1", "u2"]),
        (whole + whole + Data(count: 9), ["u1", "u2"]),
        (
          whole + Data(count: 300_000) + Data([1]),
          ["w.ndjson.gz:3: the gzip data is followed by bytes that are not gzip"]
        ),
        (
          whole + Data(count: 5) + whole,
          ["w.ndjson.gz:1: the gzip data is followed by bytes that are not gzip"]
        ),
        (Data(count: 40), ["w.ndjson.gz:1: is not gzip data, although its name ends in .gz"]),
      ]
      let found = try cases.map { try read($0.bytes, folder) }
      #expect(found == cases.map(\.found))
    }
  }

  @Test func everyKindOfFileMayBePacked() throws {
    try withFolder { folder in
      let users = try folder.write(packed("id,level\nu1,none\n", in: folder), as: "u.csv")
      let members = try folder.write(packed("user,conversation\nu1,g1", in: folder), as: "m.csv.gz")
      let world = try folder.world(SettingsPaths(users: [users], members: [members]))
      #expect(world.users.map(\.settings.level) == [.blocked])
      #expect(world.conversations.map(\.id) == ["g1"])
      try folder.write(packed("conversation,at\ng1,5\ng1,6", in: folder), as: "x.csv.gz")
      try folder.write(
        packed(#"{"id":"a","conversation":"g1","at":1}"#, in: folder), as: "x.ndjson.gz")
      #expect(folder.messages("x.csv.gz") + folder.messages("x.ndjson.gz") == ["1", "2", "a"])
      #expect(FileKind.named("x.csv.gz") == .csv)
      #expect(FileKind.named("x.jsonl.gz") == .ndjson)
      #expect(FileKind.named("x.gz") == nil)
      #expect(FileKind.named("x.CSV") == .csv && FileKind.named("x.Csv.gZ") == .csv)
      #expect(FileKind.named("x.NDJSON.GZ") == .ndjson && FileKind.named("x.JSON") == .ndjson)
      #expect(FileKind.named("xCSV") == nil && FileKind.named("x.csw") == nil)
      #expect(FileKind(path: "csv:-") == .csv && FileKind.file(named: "csv:-") == "-")
      try folder.write(packed("conversation,at\ng1,5\n", in: folder), as: "X.CSV.GZ")
      #expect(folder.messages("X.CSV.GZ") == ["1"])
    }
  }
}
