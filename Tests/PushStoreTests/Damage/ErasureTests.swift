import Foundation
import PushContent
import PushFanout
import PushModel
import TestSupport
import Testing

@testable import PushStore

/// Goal: after an erasure the bytes of the id are in none of the store's files: shown by a search
/// of their bytes.
@Suite struct ErasureTests {
  private static let id: Identifier = "the-erased-user-4711"
  private static let token: Identifier = "the-secret-token"

  /// Which files of a folder contain the bytes of the id.
  static func filesWith(_ id: Identifier, in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter { name in
      let data = try Data(contentsOf: folder.appending(path: name))
      return data.range(of: Data(id.text.utf8)) != nil
    }
  }

  /// A store in which a user is wherever a user can be.
  private func fill(_ store: SettingsStore) throws {
    try store.write(at: .zero) { write in
      for number in 0..<2000 {
        try write.setUser(Identifier("u\(number)"), UserSettings())
        try write.setMember(Identifier("u\(number)"), of: "g")
      }
    }
    for round in 0..<30 {
      try store.write(at: .zero, from: "phone") { write in
        try write.setUser(Self.id, UserSettings())
        try write.bindToken(
          ofDevice: Identifier("\(Self.id)-phone\(round)"),
          address: DeviceAddress(
            platform: .fcm, token: "\(Self.token)\(round)",
            fid: Self.token.text),
          of: Self.id)
        try write.setMember(Self.id, of: Identifier("g\(round)"), MemberSettings(level: .mention))
        try write.updatePushDisplayName("Name", of: Self.id)
        try write.setRemark("Remark", for: Self.id, by: Identifier("u\(round)"))
        try write.setRemark("Remark", for: Identifier("u\(round)"), by: Self.id)
      }
    }
    try store.write(at: .zero) { try $0.removeMember(Self.id, of: "g1") }
  }

  @Test func noByteOfTheIDStays() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      var store = try SettingsStore(path, .create, threads: 1)
      try fill(store)
      // All that is in the log goes into the file; what follows is in a new log.
      try store.close()
      store = try SettingsStore(path, threads: 1)
      try store.write(at: .zero) { try $0.setMember(Self.id, of: "g") }
      try store.writeSnapshot()
      #expect(try Self.filesWith(Self.id, in: folder) == ["s", "s-wal", "s.snapshot"])
      #expect(try Self.filesWith(Self.token, in: folder) == ["s"])
      let before = try store.reader.endOfFeed()

      let report = try store.erase(.user(Self.id), at: .zero)
      #expect(report.isClean)
      #expect(report.columns == [])
      #expect(try Self.filesWith(Self.id, in: folder) == [])
      #expect(try Self.filesWith(Self.token, in: folder) == [])
      // One entry, that names nobody, and follows the last one before.
      let events = try store.changes(after: before)
      #expect(events.map(\.change) == [.erased])
      #expect(events.map(\.user) == [nil])
      #expect(events.map(\.device) == [nil])
      #expect(try store.reader.startOfFeed() == before)
      #expect(store.fanout.user(Self.id) == nil)
      #expect(
        (0..<store.fanout.userCount).allSatisfy {
          store.fanout.id(of: UserIndex(UInt32($0))) != Self.id
        })
      #expect(throws: StoreError.unknownUser(Self.id)) {
        try store.erase(.user(Self.id), at: .zero)
      }
      // A snapshot that is written now is of the database.
      try store.writeSnapshot()
      #expect(try Self.filesWith(Self.id, in: folder) == [])
      #expect(try Self.filesWith(Self.token, in: folder) == [])
      #expect(try store.reader.check() == [])
      try store.close()
      let again = try SettingsStore(path, threads: 1)
      #expect(again.opening == .snapshot(sequence: events[0].sequence, changes: 0))
      #expect(again.fanout.memberCount(of: "g") == 2000)
      #expect(again.fanout.memberCount(of: "g2") == 0)
      // The id is a new one, behind the others.
      try again.write(at: .zero) { try $0.setMember(Self.id, of: "g") }
      #expect(again.fanout.memberCount(of: "g") == 2001)
      #expect(try again.reader.check() == [])
      try again.close()
      #expect(try SettingsStore(path, .read, threads: 1).fanout.memberCount(of: "g") == 2001)
    }
  }

  @Test func aConversationIsErasedToo() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let id: Identifier = "the-erased-group-4711"
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setMember("u", of: id)
        try write.setConversation("t", ConversationSettings(kind: .thread, parent: id))
      }
      try store.writeSnapshot()
      #expect(try store.erase(.conversation(id), at: .zero).isClean)
      #expect(try Self.filesWith(id, in: folder) == [])
      #expect(store.fanout.conversation(id) == nil)
      #expect(store.fanout.conversation("t") == ConversationSettings())
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  /// A user who was removed before has left an id, which is erased.
  @Test func anIDThatWasRemovedIsErased() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let store = try SettingsStore(path, .create, threads: 1)
      try fill(store)
      try store.write(at: .zero) { try $0.removeUser(Self.id) }
      #expect(try !Self.filesWith(Self.id, in: folder).isEmpty)
      #expect(try store.erase(.user(Self.id), at: .zero).isClean)
      #expect(try Self.filesWith(Self.id, in: folder) == [])
      #expect(try Self.filesWith(Self.token, in: folder) == [])
      try store.close()
    }
  }

  /// A crash between the removal and the writing of the file anew leaves that to the next opening.
  @Test func anInterruptedErasureIsFinishedByTheNextOpening() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let store = try SettingsStore(path, .create, threads: 1)
      try fill(store)
      try store.writeSnapshot()
      try store.write(at: .zero) { try $0.erase(.user(Self.id)) }
      #expect(try !Self.filesWith(Self.id, in: folder).isEmpty)
      try store.close()
      #expect(try Self.filesWith(Self.id, in: folder) == ["s.snapshot"])
      let again = try SettingsStore(path, threads: 1)
      #expect(try Self.filesWith(Self.id, in: folder) == [])
      #expect(try Self.filesWith(Self.token, in: folder) == [])
      #expect(again.opening == .rebuilt("there is no snapshot"))
      #expect(try again.reader.check() == [])
      try again.close()
    }
  }

  /// A reader that keeps the log is an error, and the erasure is finished when it has gone.
  @Test func aReaderThatKeepsTheLogIsAnError() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let store = try SettingsStore(path, .create, threads: 1)
      try fill(store)
      let reader = try StoreReader(path)
      try reader.read { _ -> Void in
        #expect(throws: StoreError.erasureUnfinished(path)) {
          try store.erase(.user(Self.id), at: .zero)
        }
      }
      try reader.close()
      try store.finishErasures()
      #expect(try Self.filesWith(Self.id, in: folder) == [])
      #expect(try Self.filesWith(Self.token, in: folder) == [])
      #expect(try store.reader.check() == [])
      try store.close()
    }
  }

  /// What is like an id, or contains it, is told apart from what is left of it.
  @Test func theReportSaysWhatTheBytesArePartOf() throws {
    try ScratchFolder.with { folder in
      let path = folder.appending(path: "s").path
      let store = try SettingsStore(path, .create, threads: 1)
      try store.write(at: .zero) { write in
        try write.setMember("abcdef", of: "abcdef")
        try write.setUser("abcdefg", UserSettings())
      }
      let report = try store.erase(.user("abcdef"), at: .zero)
      #expect(!report.isClean)
      #expect(
        report.columns == [
          .init(name: "conversations.id", containing: 1, equal: 1),
          .init(name: "users.id", containing: 1, equal: 0),
        ])
      try store.close()
    }
  }
}
