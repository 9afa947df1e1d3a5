import Foundation
import TestSupport
import Testing

@testable import QuietTime

/// Goal: a file says what it says however it was compiled, and no bytes, of whatever kind, make the
/// reader trap or a table that cannot be asked.
@Suite struct ZoneFileTests {
  /// `zic -b fat` writes transitions until 2037 where `-b slim` leaves them to the rule.
  @Test func fatAndSlimFilesSayTheSame() throws {
    let slim = try ZoneDatabase(folder: pinnedFolder + "-slim")
    #expect(slim.names.count == 10)
    var smaller = 0
    for name in slim.names {
      #expect(try slim.zone(named: name) == pinned.zone(named: name), "\(name)")
      if try zoneBytes(name, in: slim.folder).count < zoneBytes(name).count { smaller += 1 }
    }
    #expect(smaller > 5)
  }

  @Test func handmadeFiles() throws {
    // Before the first transition the first type holds, without a footer the last one stays.
    let plain = Compiled(times: [100, 200], types: [1, 0], offsets: [3600, 7200], rule: "")
    let table = ZoneTable(name: "x", try ZoneFile(plain.bytes))
    #expect(
      [0, 99, 100, 199, 200, 9_007_199_254_740].map { table.offsetSeconds(at: $0) }
        == [3600, 3600, 7200, 7200, 3600, 3600])
    #expect(table.nextTransition(after: 200) == nil)
    // Without transitions the rule holds always, and what was before 1970 does not show.
    let ruled = Compiled(times: [], types: [], offsets: [0], rule: "<+03>-3")
    #expect(ZoneTable(name: "x", try ZoneFile(ruled.bytes)).offsetSeconds(at: 0) == 10_800)
    let old = Compiled(times: [-500, -100], types: [1, 0], offsets: [60, 120], rule: "X2:00")
    #expect(problem(old.bytes) == "the rule \"X2:00\"")
    // Summer time begins by the rule on 10 March 2024; a file that ends before says what was until.
    let late = Compiled(
      times: [utc("2024-01-01T00:00:00Z")], types: [1], offsets: [0, -14_400],
      rule: "EST5EDT,M3.2.0,M11.1.0")
    let lateTable = ZoneTable(name: "x", try ZoneFile(late.bytes))
    #expect(lateTable.offsetSeconds(at: utc("2024-03-10T06:59:59Z")) == -14_400)
    #expect(lateTable.offsetSeconds(at: utc("2024-11-03T06:00:00Z")) == -18_000)
    let early = Compiled(
      times: [-500, -100], types: [0, 1], offsets: [60, -7200], rule: "KLM2:00")
    #expect(ZoneTable(name: "x", try ZoneFile(early.bytes)).offsetSeconds(at: 0) == -7200)
  }

  @Test func whatIsRefused() throws {
    var good = Compiled(times: [100], types: [0], offsets: [3600], rule: "KLM-1")
    #expect(problem(good.bytes) == "none")
    good.version = 0
    #expect(problem(good.bytes) == "version 1, which has no 64-bit data")
    good.version = UInt8(ascii: "4")
    #expect(problem(good.bytes) == "none")
    func changed(_ change: (inout Compiled) -> Void) -> String {
      var file = good
      change(&file)
      return problem(file.bytes)
    }
    #expect(
      changed {
        $0.times = [100, 100]; $0.types = [0, 0]
      } == "transitions that do not ascend")
    #expect(changed { $0.types = [1] } == "a transition to a type that is not there")
    #expect(changed { $0.offsets = [] } == "counts that contradict each other")
    #expect(changed { $0.offsets = [93_600] } == "an offset of 93600 seconds from UTC")
    #expect(changed { $0.offsets = [.min] } == "an offset of -2147483648 seconds from UTC")
    #expect(changed { $0.leapCount = 1 } == "it counts leap seconds, which Unix time does not")
    #expect(changed { $0.designation = 9 } == "a type of local time that leads nowhere")
    #expect(changed { $0.rule = "KLM-2" } == "a rule that contradicts the last transition")
    #expect(changed { $0.rule = "nonsense, really" } == "the rule \"nonsense, really\"")
    #expect(problem(Array(good.bytes.dropLast())) == "its footer is cut off")
  }

  /// A file that was cut off anywhere is refused.
  @Test func everyLength() throws {
    for name in ["Europe/Berlin", "America/Nuuk", "Etc/UTC"] {
      let bytes = try zoneBytes(name)
      let accepted = bytes.indices.filter { problem(Array(bytes.prefix($0))) == "none" }
      #expect(accepted == [], "\(name)")
      #expect(problem(bytes) == "none")
    }
  }

  /// Random changes of real files: refused, or a table that answers everything.
  @Test(arguments: seeds)
  func changedFiles(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let names = pinnedNames()
    var accepted = 0
    for _ in 0..<4000 {
      var bytes = try zoneBytes(random.pick(names))
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        Self.change(&bytes, &random)
      }
      guard let file = try? ZoneFile(bytes) else { continue }
      accepted += 1
      Self.check(ZoneTable(name: "changed", file), &random)
    }
    #expect(accepted > 150, "seed \(seed)")
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    // Headers, types and footers decide most.
    let places = [
      0..<bytes.count, 0..<min(44, bytes.count), max(0, bytes.count - 40)..<bytes.count,
    ]
    guard let place = random.pick(places).randomElement(using: &random) else { return }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: bytes[place] = .random(in: 0...255, using: &random)
    case 2: bytes[place] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
    case 3: bytes.remove(at: place)
    case 4: bytes.insert(random.pick([0, 0xFF, UInt8(ascii: "9"), UInt8(ascii: "-")]), at: place)
    default: bytes.removeSubrange(place..<min(place + 9, bytes.count))
    }
  }

  /// A table answers at every instant, and its transitions go on and change the offset.
  private static func check(_ table: ZoneTable, _ random: inout SeededGenerator) {
    var wrong: [Int64] = []
    for _ in 0..<8 {
      var now = Int64.random(in: 0...ZoneTableTests.lastSecond, using: &random)
      if random.chance(30) { now = ZoneTable.endSeconds - 1 }
      for _ in 0..<4 {
        if !(0..<86_400).contains(table.localSecond(at: now)) { wrong.append(now) }
        guard let next = table.nextTransition(after: now) else { break }
        if next <= now || table.offsetSeconds(at: next) == table.offsetSeconds(at: next - 1) {
          wrong.append(next)
        }
        now = next
      }
    }
    #expect(wrong == [])
  }

  private func problem(_ bytes: [UInt8]) -> String {
    do throws(ZoneFile.Problem) {
      _ = try ZoneFile(bytes)
      return "none"
    } catch {
      return error.reason
    }
  }
}

/// A file that is made by hand, with an empty first part.
private struct Compiled {
  var version = UInt8(ascii: "2")
  var times: [Int64]
  var types: [UInt8]
  var offsets: [Int32]
  var rule: String
  var leapCount = 0
  var designation: UInt8 = 0

  var bytes: [UInt8] {
    var bytes = Self.header(version, [0, 0, 0, 0, 1, 1]) + [0, 0, 0, 0, 0, 0, 0]
    bytes += Self.header(version, [0, 0, leapCount, times.count, offsets.count, 4])
    for time in times { bytes += Self.bytes(UInt64(bitPattern: time), 8) }
    bytes += types
    for offset in offsets {
      bytes += Self.bytes(UInt64(UInt32(bitPattern: offset)), 4) + [0, designation]
    }
    bytes += Array("KLM\0".utf8) + [UInt8](repeating: 0, count: leapCount * 12)
    return bytes + Array("\n\(rule)\n".utf8)
  }

  private static func header(_ version: UInt8, _ counts: [Int]) -> [UInt8] {
    Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
      + counts.flatMap { bytes(UInt64($0), 4) }
  }

  private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}
