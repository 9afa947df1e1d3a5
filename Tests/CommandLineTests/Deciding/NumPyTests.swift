import Foundation
import Testing

/// Goal: `--format npy` writes a folder that says the same as `--format csv`, in arrays as NumPy
/// defines them, or leaves nothing.
///
/// - Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
@Suite struct NumPyTests {
  private static let files = [
    "message.npy", "messages.csv", "outcome.npy", "outcomes.csv", "user.npy", "users.csv",
  ]

  /// A one-dimensional array of unsigned numbers, read by hand.
  private func numbers(_ path: String, _ type: String) throws -> [Int] {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    try #require(bytes.count >= 10)
    #expect(bytes[..<8] == [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0], "magic and version")
    let start = 10 + Int(bytes[8]) + Int(bytes[9]) << 8
    #expect(start % 64 == 0)
    try #require(bytes.count >= start)
    let size = type == "|u1" ? 1 : 4
    let count = (bytes.count - start) / size
    #expect((bytes.count - start) % size == 0)
    let header = String(decoding: bytes[10..<start], as: UTF8.self)
    let dictionary = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(count),), }"
    #expect(header.hasPrefix(dictionary))
    #expect(header.dropFirst(dictionary.count).allSatisfy { $0 == " " || $0 == "\n" })
    #expect(header.firstIndex(of: "\n") == header.index(before: header.endIndex))
    return (0..<count).map { place in
      (0..<size).reduce(0) { $0 | Int(bytes[start + place * size + $1]) << (8 * $1) }
    }
  }

  /// The rows of a CSV text with quotes (RFC 4180), whose rows end with line feeds.
  private func rows(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var cell = String.UnicodeScalarView()
    var isQuoted = false
    var scalars = Array(text.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "\"" where isQuoted && scalars.first == "\"": cell.append(scalars.removeFirst())
      case "\"": isQuoted.toggle()
      case "," where !isQuoted, "\n" where !isQuoted:
        row.append(String(cell))
        cell = String.UnicodeScalarView()
        if scalar == "\n" {
          rows.append(row)
          row = []
        }
      default: cell.append(scalar)
      }
    }
    return rows
  }

  /// What a list says of each number.
  private func list(_ path: String, _ header: [String]) throws -> [Int: [String]] {
    let found = rows(String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
    #expect(found.first == header)
    return try Dictionary(
      found.dropFirst().map { (try #require(Int($0[0])), Array($0.dropFirst())) },
      uniquingKeysWith: { _, _ in
        Issue.record("a number stands in \(path) twice")
        return []
      })
  }

  /// The decisions in a folder as rows of the CSV format.
  private func decisions(_ place: Workplace, _ name: String) throws -> [[String]] {
    let folder = place.path(name)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == Self.files)
    let messages = try list("\(folder)/messages.csv", ["message", "id"])
    let users = try list("\(folder)/users.csv", ["user", "id"])
    let outcomes = try list(
      "\(folder)/outcomes.csv", ["outcome", "action", "reason", "scope"])
    #expect(messages.keys.sorted() == Array(0..<messages.count))
    #expect(users.keys.sorted() == Array(0..<users.count))
    let message = try numbers("\(folder)/message.npy", "<u4")
    let user = try numbers("\(folder)/user.npy", "<u4")
    let outcome = try numbers("\(folder)/outcome.npy", "|u1")
    try #require(message.count == user.count && user.count == outcome.count)
    return try message.indices.map {
      try #require(messages[message[$0]]) + #require(users[user[$0]])
        + #require(outcomes[outcome[$0]])
    }
  }

  private func expectSame(
    _ arguments: [String], in place: Workplace, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let csv = rows(try place.run(arguments + ["--format", "csv"]).output)
    for threads in ["1", "2", "7"] {
      let name = "out\(threads)"
      let run = try place.run(arguments + ["--format", "npy", "--threads", threads, "-o", name])
      #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
      #expect(run.output == "")
      #expect(run.errorLines.count == 1, "\(run.errors)", sourceLocation: sourceLocation)
      let found = try decisions(place, name)
      #expect(found.count == csv.count - 1, sourceLocation: sourceLocation)
      #expect(found == Array(csv.dropFirst()), sourceLocation: sourceLocation)
    }
    #expect(place.names().filter { $0.contains(".part") } == [], sourceLocation: sourceLocation)
  }

  @Test(arguments: [VendorWorld.easemob, .rongcloud])
  func arraysSayWhatRowsSay(world: VendorWorld) throws {
    try withWorkplace { place in
      try world.write(to: place)
      try expectSame(VendorWorld.evaluate, in: place)
    }
  }

  @Test func chosenMessagesAreNumberedAsTheyCome() throws {
    try withWorkplace { place in
      try VendorWorld.easemob.write(to: place)
      try expectSame(VendorWorld.evaluate + ["--message", "m1", "m,4", "m10"], in: place)
      let ids = try list(place.path("out1") + "/messages.csv", ["message", "id"])
      #expect(ids == [0: ["m1"], 1: ["m,4"], 2: ["m10"], 3: ["m1"]])
    }
  }

  @Test func aLargeGroupAndManyMessagesStayInOrder() throws {
    try withWorkplace { place in
      try place.write(
        (0..<20_000).map {
          #"{"kind":"member","conversation":"g1","user":"u\#($0)","level":"\#(["all", "none"][$0 % 2])"}"#
        } + [#"{"kind":"member","conversation":"g2","user":"x"}"#], as: "world.ndjson")
      try place.write(
        (0..<5000).map {
          #"{"id":"m\#($0)","conversation":"g\#($0 % 2000 == 0 ? 1 : 2)","at":\#($0)}"#
        }, as: "messages.ndjson")
      try expectSame(SmallWorld.evaluate, in: place)
    }
  }

  @Test func decisionsOfNobodyAreEmptyArrays() throws {
    try withWorkplace { place in
      try place.write([SmallWorld.messages[2]], as: "messages.ndjson")
      try expectSame(SmallWorld.evaluate, in: place)
      #expect(try numbers(place.path("out1") + "/user.npy", "<u4") == [])
    }
  }

  @Test func aSlashBehindTheNameIsNoPartOfIt() throws {
    try withWorkplace { place in
      let run = try place.run(SmallWorld.evaluate + ["--format", "npy", "-o", "out/"])
      #expect(run.status == 0)
      #expect(try decisions(place, "out").count == 5)
      #expect(place.names() == ["messages.ndjson", "out", "world.ndjson"])
    }
  }

  @Test func badLinesAreSkipped() throws {
    try withWorkplace { place in
      try place.write(
        [SmallWorld.messages[0], "nonsense", SmallWorld.messages[1]], as: "messages.ndjson")
      let run = try place.run(
        SmallWorld.evaluate + ["--format", "npy", "--skip-invalid", "-o", "out"])
      #expect(run.status == 1)
      #expect(
        run.errorLines.dropLast() == [
          "messages.ndjson:2: the line is not JSON",
          "push-fanout: bad message lines left out: 1",
        ])
      #expect(try decisions(place, "out").map { $0[0] } == ["m1", "m1", "m1", "m2", "m2"])
    }
  }
}
