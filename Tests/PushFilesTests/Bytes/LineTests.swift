import Foundation
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: lines are whole wherever they lie in the read buffer of 1 MiB, and one that is longer than
/// 8 MiB is refused at its number while those behind it are read.
@Suite struct LineTests {
  private static let mebibyte = 1024 * 1024
  private static let tooLong = "the line is longer than 8388608 bytes"

  /// A line of a user of so many bytes, without the line feed.
  private func userLine(bytes: Int) -> String {
    let frame = #"{"kind":"user","id":""}"#.utf8.count
    return #"{"kind":"user","id":"\#(String(repeating: "x", count: bytes - frame))"}"#
  }

  @Test(.tags(.slow), .unlessFast) func linesAroundTheBufferAreWhole() throws {
    let short = #"{"kind":"user","id":"s"}"#
    let counts = (-2...2).map { Self.mebibyte + $0 } + [2 * Self.mebibyte, 8 * Self.mebibyte]
    let found = try withFolder { folder in
      try counts.flatMap { count -> [[Int]] in
        let line = userLine(bytes: count)
        // Alone, at the front, behind others, and so that its line feed ends the buffer.
        let shifted = userLine(bytes: Self.mebibyte - short.utf8.count - 1)
        return try [[line], [line, short, ""], [short, line, short], [short, shifted, line, ""]]
          .map { lines in
            let path = try folder.write(lines, as: "w.ndjson")
            let world = try folder.world(SettingsPaths(settings: [path]))
            return world.users.map(\.id.text.utf8.count)
          }
      }
    }
    let frame = #"{"kind":"user","id":""}"#.utf8.count
    let expected = counts.flatMap { count in
      let id = count - frame
      let shifted = Self.mebibyte - short.utf8.count - 1 - frame
      return [[id], [id, 1], [1, id], [1, shifted, id]]
    }
    #expect(found == expected)
  }

  @Test func rowsAroundTheBufferAreWhole() throws {
    let counts = (-3...1).map { Self.mebibyte + $0 } + [8 * Self.mebibyte]
    let found = try withFolder { folder in
      try counts.map { count in
        let id = String(repeating: "x", count: count)
        let path = try folder.write(["id", id, "\"\(id)\"", "s"], as: "u.csv")
        let world = try folder.world(SettingsPaths(users: [path]))
        return world.users.map(\.id.text.utf8.count)
      }
    }
    #expect(found == counts.map { [$0, 1] })
  }

  @Test func aLineThatIsTooLongIsPassedOver() throws {
    let long = userLine(bytes: 10_000_000)
    let lines = [
      #"{"kind":"user","id":"u1"}"#, long, "nonsense", #"{"kind":"user","id":"u1"}"#,
      userLine(bytes: 8 * Self.mebibyte + 1), #"{"kind":"user"}"#,
      String(repeating: " ", count: 8 * Self.mebibyte + 1), long,
    ]
    let found = try withFolder { folder in
      let path = try folder.write(lines, as: "w.ndjson")
      return (
        [folder.problem(SettingsPaths(settings: [path]))],
        FileChecker([path]).problems.map { folder.short($0) }
      )
    }
    #expect(found.0 == ["w.ndjson:2: \(Self.tooLong)"])
    #expect(
      found.1 == [
        "w.ndjson:2: \(Self.tooLong)", "w.ndjson:3: the line is not JSON",
        "w.ndjson:5: \(Self.tooLong)", #"w.ndjson:6: the field "id" is missing"#,
        "w.ndjson:7: \(Self.tooLong)", "w.ndjson:8: \(Self.tooLong)",
      ])
  }

  @Test func aMessageThatIsTooLongIsPassedOver() throws {
    let message = { (id: String) in #"{"id":"\#(id)","conversation":"g1","at":5}"# }
    let long = message(String(repeating: "x", count: 10_000_000))
    let found = try withFolder { folder in
      try folder.write([message("m1"), long, message("m2")], as: "m.ndjson")
      return folder.messages("m.ndjson")
    }
    #expect(found == ["m1", "m.ndjson:2: \(Self.tooLong)", "m2"])
  }

  @Test func aRowThatIsTooLongIsRefused() throws {
    let long = String(repeating: "x", count: 10_000_000)
    let half = String(repeating: "x", count: 5_000_000)
    let found = try withFolder { folder in
      try [["id", "u1", long], ["id,timeZone", "", "\(half),\(half)"], ["id", "\"" + long]].map {
        let path = try folder.write($0 + ["u2", "u3"], as: "u.csv")
        return folder.problem(SettingsPaths(users: [path]))
      }
    }
    #expect(
      found == ["u.csv:3: \(Self.tooLong)", "u.csv:3: \(Self.tooLong)", "u.csv:2: \(Self.tooLong)"])
  }

  @Test func rowsBehindOneThatIsTooLongAreRead() throws {
    let long = String(repeating: "x", count: 10_000_000)
    let found = try withFolder { folder in
      let path = try folder.write(["id,level", "u1,all", "\(long),all", "u2"], as: "u.csv")
      try folder.write(["id,conversation,at", "m1,g1,5", "\(long),g1,5", "m2,g1,5"], as: "m.csv")
      return (
        FileChecker([path]).problems.map { folder.short($0) }, folder.messages("m.csv")
      )
    }
    #expect(
      found.0 == ["u.csv:3: \(Self.tooLong)", "u.csv:4: 1 cells in a row of 2 columns"])
    #expect(found.1 == ["m1", "m.csv:3: \(Self.tooLong)", "m2"])
  }
}
