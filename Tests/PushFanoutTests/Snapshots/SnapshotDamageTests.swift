import Foundation
import PushReference
import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Goal: a snapshot that is damaged is refused, and one that was made to do harm does none: it is
/// refused, or opens an engine that answers something and never touches what is not its own, which
/// is what the address sanitizer says of these tests.
///
/// `PUSH_SEED=n swift test --filter SnapshotDamageTests` runs one more seed, `PUSH_FULL=1` fifty
/// times as many mutations.
@Suite struct SnapshotDamageTests {
  static let isFull = ProcessInfo.processInfo.environment["PUSH_FULL"] != nil
  static let identity = SnapshotTests.identity

  /// A snapshot, and the world it is of.
  private struct Written {
    let folder = ScratchFolder()
    let world: RandomWorld
    let bytes: [UInt8]
    let header: SnapshotHeader

    var path: String { folder.path("snapshot") }

    init(_ rules: RuleSet, _ seed: UInt64, users: Int) throws {
      world = RandomWorld(
        rules, seed: seed, userCount: users, messageCount: 12,
        style: RandomWorld.Style(density: 90, isVaried: true))
      let path = folder.path("snapshot")
      try Fanout(world.settings(), threads: 1)
        .writeSnapshot(to: path, identity: SnapshotDamageTests.identity, sequence: 1)
      bytes = try folder.bytes("snapshot")
      header = try SnapshotHeader(of: try Mapping(path: path), path: path)
    }

    /// What is wrong with the file as it is now; nil when it opens.
    func open() -> SnapshotError? {
      do throws(SnapshotError) {
        _ = try Fanout(
          snapshot: path, identity: SnapshotDamageTests.identity, threads: 1)
        return nil
      } catch {
        return error
      }
    }
  }

  /// What a program set and no file may say: the snapshot is refused, and what kept it reads the
  /// settings themselves.
  @Test func optionsThatFilesRefuse() throws {
    func problem(_ rules: RuleSet, _ change: (inout AppSettings) -> Void) throws -> String? {
      let folder = ScratchFolder()
      var app = AppSettings(rules: rules)
      change(&app)
      try Fanout(FanoutSettings(app: app), threads: 1)
        .writeSnapshot(to: folder.path("s"), identity: Self.identity, sequence: 1)
      do {
        _ = try Fanout(snapshot: folder.path("s"), identity: Self.identity, threads: 1)
        return nil
      } catch {
        return error.description
      }
    }
    #expect(try problem(.open) { $0.open.presenceSeconds = 86_400 } == nil)
    let error = try problem(.open) { $0.open.presenceSeconds = 86_401 }
    #expect(error?.contains("presenceSeconds") == true, "\(error ?? "")")
    #expect(try problem(.open) { $0.open.expireSeconds = 1 << 31 } != nil)
    #expect(try problem(.easemob) { $0.easemob.expireSeconds = 1 << 53 } != nil)
    #expect(try problem(.rongcloud) { $0.rongcloud.backgroundGraceSeconds = -1 } != nil)
  }

  /// Every byte counts, also those between sections.
  @Test(.tags(.slow), .unlessFast) func everyByteOfASmallSnapshot() throws {
    for seed in TestSupport.seeds([1]) {
      let written = try Written(.easemob, seed, users: 9)
      var random = SeededGenerator(seed: seed)
      let file = try FileHandle(forUpdating: URL(filePath: written.path))
      var unnoticed: [Int] = []
      for (place, byte) in written.bytes.enumerated() {
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [byte ^ UInt8.random(in: 1...255, using: &random)])
        if written.open() == nil { unnoticed.append(place) }
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [byte])
      }
      #expect(unnoticed == [], "seed \(seed)")
      #expect(written.open() == nil, "seed \(seed)")
    }
  }

  @Test(.tags(.slow), .unlessFast) func everyLengthOfASmallSnapshot() throws {
    let written = try Written(.rongcloud, 2, users: 9)
    let file = try FileHandle(forUpdating: URL(filePath: written.path))
    let count = written.bytes.count
    try file.truncate(atOffset: UInt64(count + 1))
    #expect(
      written.open()?.problem == .wrongSize(found: count + 1, expected: UInt64(count)))
    for length in (0..<count).reversed() {
      try file.truncate(atOffset: UInt64(length))
      let expected: SnapshotError.Problem =
        length < SnapshotHeader.byteCount
        ? .notASnapshot : .wrongSize(found: length, expected: UInt64(count))
      if written.open()?.problem != expected {
        Issue.record("\(length) bytes: \(String(describing: written.open()))")
        return
      }
    }
  }

  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases) func bytesOfALargeSnapshot(
    rules: RuleSet
  ) throws {
    for seed in TestSupport.seeds([3]) {
      let written = try Written(rules, seed, users: 1500)
      var random = SeededGenerator(seed: seed)
      for _ in 0..<200 {
        var bytes = written.bytes
        for _ in 0..<random.pick([1, 1, 2, 50]) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(
            in: 1...255, using: &random)
        }
        try written.folder.write(bytes, as: "snapshot")
        #expect(written.open() != nil, "seed \(seed)")
      }
    }
  }

  // MARK: Content that was made to do harm

  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases) func contentWithRightChecksums(
    rules: RuleSet
  ) throws {
    // Each engine works out its rules, those of RongCloud in more time.
    let count = (rules == .easemob ? 200 : 40) * (Self.isFull ? 50 : 1)
    for seed in TestSupport.seeds([4, 5]) {
      let written = try Written(rules, seed, users: seed % 2 == 0 ? 20 : 300)
      var random = SeededGenerator(seed: seed)
      var opened = 0
      for number in 0..<count {
        var mutant = Mutant(written.bytes, written.header)
        for _ in 0..<random.pick([1, 1, 1, 2, 5]) { mutant.mutate(&random) }
        try written.folder.write(mutant.sealed, as: "snapshot")
        do throws(SnapshotError) {
          let fanout = try Fanout(
            snapshot: written.path, identity: Self.identity, threads: number % 8 == 0 ? 2 : 1)
          opened += 1
          Self.use(fanout, written.world, &random)
        } catch {
          if case .wrongChecksum(let section) = error.problem {
            Issue.record("seed \(seed), mutation \(number): checksum of \(section)")
          }
        }
      }
      // Both must happen, or one of them is not tested.
      #expect(opened > count / 50 && opened < count, "seed \(seed): \(opened) of \(count)")
    }
  }

  /// Does everything that can be done with an engine.
  private static func use(
    _ fanout: Fanout, _ world: RandomWorld, _ random: inout SeededGenerator
  ) {
    var world = world
    for round in 0..<2 {
      for message in world.messages {
        if random.chance(20) { fanout.advance(to: message.at) }
        let result = fanout.decide(message)
        _ = result.rows
        _ = (result.counts, result.pushCount, result.writtenCodes)
        for id in result.pushes.ids where random.chance(5) { _ = fanout.user(id) }
        if let user = world.users.randomElement(using: &random) {
          _ = fanout.decision(message, for: user)
          _ = fanout.member(user, of: message.conversation)
          _ = try? fanout.nextChange(for: user, in: message.conversation, after: message.at)
        }
        _ = fanout.conversation(message.conversation)
      }
      for user in world.users.prefix(40) { _ = fanout.user(user) }
      _ = fanout.memoryReport()
      if round == 1 { return }
      let model = ModelWorld(world)
      for number in 0..<12 {
        let change = world.change(of: model, changesApp: number == 6)
        // A file may say anything of who is there, so an update may find nobody to change.
        try? fanout.update { (update) throws(FanoutError) in
          if number == 2 || number == 9 { update.writer.compact() }
          try change.apply(to: &update)
          for user in 0..<number * 3 { try update.setUser(Identifier("x\(user)"), UserSettings()) }
        }
      }
    }
    let folder = ScratchFolder()
    try? fanout.writeSnapshot(to: folder.path("again"), identity: identity, sequence: 2)
    _ = try? Fanout(snapshot: folder.path("again"), identity: identity, threads: 1)
  }

  /// A snapshot whose content was changed, and its checksums with it.
  private struct Mutant {
    var bytes: [UInt8]
    var header: SnapshotHeader

    init(_ bytes: [UInt8], _ header: SnapshotHeader) {
      self.bytes = bytes
      self.header = header
    }

    mutating func mutate(_ random: inout SeededGenerator) {
      let filled = header.sections.indices.filter { header.sections[$0].byteCount > 0 }
      let place = random.pick(filled)
      let section = header.sections[place]
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<6:
        // Counts and sizes that fit each other, or do not.
        let count = random.pick([
          0, 1, section.elementCount - 1, section.elementCount + 1, section.elementCount * 2,
          1 << 20,
        ])
        header.sections[place].elementCount = max(0, count)
        if let paging = section.part.paging, random.chance(70) {
          header.sections[place].byteCount =
            (max(0, count) + paging.elementCount - 1) / paging.elementCount * paging.byteCount
        }
      case 6..<8: header.sections[place].byteCount = random.pick([0, 1, 1 << 30])
      default: mutateContent(of: section, &random)
      }
    }

    private mutating func mutateContent(
      of section: SnapshotSection, _ random: inout SeededGenerator
    ) {
      let size = random.pick([1, 1, 1, 2, 4, 8])
      // An earlier mutation may have said that the section is longer than the file.
      let end = min(section.offset + section.byteCount, bytes.count)
      guard section.offset < end else { return }
      // Mostly where something is.
      var place = 0
      for _ in 0..<20 {
        place = Int.random(in: section.offset..<end, using: &random)
        if bytes[place] != 0 { break }
      }
      place = place / size * size
      let number: UInt64 = random.pick([
        0, 1, .max, 0xFF, 0x80, 0x7F, UInt64(section.elementCount), UInt64(section.byteCount),
        1 << 31, 1 << 47, 1 << 16, random.next(), random.next() % 64,
        UInt64(header.sections[Int(SnapshotPart.packedUsers.rawValue) - 1].elementCount),
      ])
      for offset in 0..<size where place + offset < bytes.count {
        let byte = UInt8(truncatingIfNeeded: number >> UInt64(8 * offset))
        let before = random.chance(20) ? bytes[place + offset] : 0
        bytes[place + offset] = before &+ byte
      }
    }

    /// The file with the checksums of what is in it, as far as its sections are in it.
    var sealed: [UInt8] {
      var header = header
      for place in header.sections.indices {
        var section = header.sections[place]
        section.byteCount = min(section.byteCount, 1 << 28)
        guard section.range.upperBound <= bytes.count else { continue }
        let sums = (0..<section.blockCount).map { sum(section.block($0)) }
        header.sections[place].checksum = SnapshotSection.sum(sums)
      }
      return header.bytes + bytes[SnapshotHeader.byteCount...]
    }

    private func sum(_ range: Range<Int>) -> UInt64 { checksum(Array(bytes[range])) }
  }
}
