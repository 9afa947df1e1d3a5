import Foundation
import GRDB
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Goal: a changed bit never decides: the answer is right, or there is an error.
@Suite struct ChecksumTests {
  /// A store with pages of every kind, without a log.
  private static func store(in folder: URL) throws -> String {
    let path = folder.appending(path: "whole").path
    var settings = FanoutSettings(app: AppSettings(rules: .rongcloud))
    for number in 0..<600 {
      var user = UserSettings()
      if number % 3 == 0 { user.timeZone = "Asia/Kathmandu" }
      if number % 5 == 0 { user.devices = [Device(id: Identifier("d\(number)"))] }
      let isLong = number % 200 == 0
      let id = Identifier("user-\(number)" + (isLong ? String(repeating: "x", count: 9000) : ""))
      settings.setUser(id, user)
      for group in 0..<3 {
        let level: NotificationLevel = (number + group) % 3 == 0 ? .mention : .unset
        settings.setMember(id, of: Identifier("g\(group)"), MemberSettings(level: level))
      }
    }
    settings.setConversation(
      "g0", ConversationSettings(kind: .ultraGroup, channels: ["c": .blocked]))
    let store = try SettingsStore(path, .create, threads: 1)
    try store.importSettings(settings, at: .zero)
    try store.writeSnapshot()
    try store.close()
    // Pages that are free.
    let queue = try storeQueue(path)
    try queue.write { db in
      try db.execute(sql: "CREATE TABLE filler (bytes BLOB)")
      try db.execute(sql: "INSERT INTO filler VALUES (randomblob(50000))")
      try db.execute(sql: "DROP TABLE filler")
    }
    try queue.close()
    return path
  }

  private enum Kind: String {
    case header, interiorTable, leafTable, interiorIndex, leafIndex, freeTrunk, freeLeaf, overflow
  }

  /// https://www.sqlite.org/fileformat.html, 1.5 and 1.6.
  private static func pages(_ bytes: [UInt8]) -> [Kind: [Int]] {
    func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    var kinds: [Int: Kind] = [0: .header]
    var trunk = number(32)
    while trunk != 0 {
      let place = (trunk - 1) * 4096
      kinds[trunk - 1] = .freeTrunk
      for leaf in 0..<number(place + 4) { kinds[number(place + 8 + leaf * 4) - 1] = .freeLeaf }
      trunk = number(place)
    }
    for page in 1..<bytes.count / 4096 where kinds[page] == nil {
      kinds[page] =
        switch bytes[page * 4096] {
        case 2: .interiorIndex
        case 5: .interiorTable
        case 10: .leafIndex
        case 13: .leafTable
        default: .overflow
        }
    }
    return Dictionary(grouping: kinds.keys.sorted()) { kinds[$0] ?? .overflow }
  }

  /// nil for an engine as it should be, otherwise the error's kind, or what is wrong.
  ///
  /// - Parameter records: what is read as values; nil for not reading it.
  private func outcome(_ path: String, _ expected: Fanout, _ records: FanoutSettings?) -> String? {
    do {
      let store = try SettingsStore(path, .read, threads: 1)
      defer { try? store.close() }
      if let difference = expected.difference(from: store.fanout) { return "wrong: \(difference)" }
      guard let records else { return nil }
      return try store.reader.settings().hasSameRecords(as: records) ? nil : "wrong: records"
    } catch StoreError.damaged { return "damaged" } catch StoreError.notAStore {
      return "no store"
    } catch { return "wrong: \(error)" }
  }

  @Test(.tags(.slow), .unlessFast, arguments: [true, false]) func aFlippedBitNeverDecides(
    withSnapshot: Bool
  ) throws {
    let seed = TestSupport.seed(29)
    try ScratchFolder.with { folder in
      let whole = try Self.store(in: folder)
      let bytes = [UInt8](try Data(contentsOf: URL(filePath: whole)))
      let original = try SettingsStore(whole, .read, threads: 1)
      let records = try original.reader.settings()
      let path = folder.appending(path: "flipped").path
      if withSnapshot {
        try FileManager.default.copyItem(atPath: whole + ".snapshot", toPath: path + ".snapshot")
      }
      try Data(bytes).write(to: URL(filePath: path))
      let file = try FileHandle(forUpdating: URL(filePath: path))
      #expect(outcome(path, original.fanout, records) == nil)
      let pages = Self.pages(bytes)
      #expect(pages.count == 8, "\(pages.keys)")
      var random = SeededGenerator(seed: seed)
      var wrong: [String] = []
      var noticed: [Kind: Int] = [:]
      for number in 0..<1000 {
        let kind = pages.keys.sorted { $0.rawValue < $1.rawValue }[number % pages.count]
        let page = pages[kind]?.randomElement(using: &random) ?? 0
        let place = page * 4096 + Int.random(in: 0..<4096, using: &random)
        let bit = UInt8.random(in: 0..<8, using: &random)
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [bytes[place] ^ 1 << bit])
        let outcome = outcome(path, original.fanout, number % 5 == 0 ? records : nil)
        if outcome?.hasPrefix("wrong") == true {
          wrong.append("seed \(seed): \(kind) \(place) bit \(bit): \(outcome ?? "")")
        }
        if outcome != nil { noticed[kind, default: 0] += 1 }
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [bytes[place]])
      }
      try original.close()
      #expect(wrong == [])
      // What every opening reads is noticed always; of the others, what is read.
      for kind in [Kind.header, .interiorTable] where !withSnapshot {
        #expect(noticed[kind] == 125, "\(kind)")
      }
      #expect(noticed[.header] == 125)
      #expect(withSnapshot || noticed[.leafTable, default: 0] > 60)
    }
  }

  /// Pages that took each other's place have right bytes at a wrong place.
  @Test func pagesThatChangedPlacesAreNoticed() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      var bytes = try Data(contentsOf: URL(filePath: path))
      let leaves = try #require(Self.pages([UInt8](bytes))[.leafTable])
      let (one, other) = (leaves[leaves.count / 2] * 4096, leaves[leaves.count / 2 + 1] * 4096)
      let copy = Data(bytes[one..<one + 4096])
      bytes.replaceSubrange(one..<one + 4096, with: bytes[other..<other + 4096])
      bytes.replaceSubrange(other..<other + 4096, with: copy)
      try FileManager.default.removeItem(atPath: path + ".snapshot")
      try bytes.write(to: URL(filePath: path))
      let message = "\(path) is damaged: the checksum of a page is wrong, or the page is gone"
      let error = #expect(throws: StoreError.self) { try SettingsStore(path, .read, threads: 1) }
      #expect(error?.description == message)
    }
  }

  /// The log of a store that was not closed: what was acknowledged is there, or there is an error.
  @Test func aFlippedBitInTheLogLosesNothing() throws {
    let seed = TestSupport.seed(31)
    try ScratchFolder.with { folder in
      let live = folder.appending(path: "live").path
      let store = try SettingsStore(live, .create, threads: 1)
      for number in 0..<30 {
        try store.write(at: .zero) { try $0.setMember(Identifier("u\(number)"), of: "g") }
      }
      let records = try store.reader.settings()
      let file = try Data(contentsOf: URL(filePath: live))
      let log = [UInt8](try Data(contentsOf: URL(filePath: live + "-wal")))
      let frames = (log.count - 32) / 4120
      let commits = (0..<frames).filter { frame in
        log[(32 + frame * 4120 + 4)..<(32 + frame * 4120 + 8)].contains { $0 != 0 }
      }
      try #require(commits.count > 20)
      // A transaction behind which nothing is may have been cut off by a loss of power.
      let end = 32 + (commits[commits.count - 4] + 1) * 4120
      var random = SeededGenerator(seed: seed)
      var places = (0..<400).map { _ in Int.random(in: 0..<end, using: &random) }
      places += Array(0..<32) + Array(32..<56)
      var wrong: [String] = []
      var noticed = 0
      let path = folder.appending(path: "flipped").path
      for place in places {
        var changed = log
        changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try? FileManager.default.removeItem(atPath: path + "-shm")
        try file.write(to: URL(filePath: path))
        try Data(changed).write(to: URL(filePath: path + "-wal"))
        let outcome = outcome(path, store.fanout, records)
        if outcome?.hasPrefix("wrong") == true {
          wrong.append("seed \(seed): \(place): \(outcome ?? "")")
        }
        if outcome != nil { noticed += 1 }
      }
      try store.close()
      #expect(wrong == [])
      #expect(noticed > 400)
    }
  }

  /// A backup has checksums, and a bit that was flipped is not copied as if it were right.
  @Test func aBackupHasChecksums() throws {
    try ScratchFolder.with { folder in
      let path = try Self.store(in: folder)
      // In a URI, which SQLite is given, these have another meaning.
      let copy = folder.appending(path: "100 % böse?#.store").path
      let reader = try StoreReader(path)
      try reader.backup(to: copy)
      try reader.close()
      let copied = try StoreReader(copy)
      #expect(try copied.check() == [])
      try copied.close()
      var bytes = try Data(contentsOf: URL(filePath: path))
      bytes[bytes.count / 2] ^= 1
      try bytes.write(to: URL(filePath: path))
      let damaged = try StoreReader(path)
      let other = folder.appending(path: "other").path
      let error = #expect(throws: StoreError.self) { try damaged.backup(to: other) }
      #expect(error?.description.contains("the checksum of a page is wrong") == true)
      #expect(!FileManager.default.fileExists(atPath: other))
      try damaged.close()
    }
  }
}
