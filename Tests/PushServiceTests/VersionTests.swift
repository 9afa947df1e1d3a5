import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushReference
import PushService
import PushStore
import PushStoreService
import QuietTime
import TestSupport
import Testing

/// Goal: an answer is of one version of the settings, and what pushes say follows changes from
/// elsewhere when it is told to.
@Suite struct VersionTests {
  /// The two settings between which a writer changes have answers of which no two parts go
  /// together.
  @Test func aNextChangeIsOfOneVersion() throws {
    let service = try Sample.service()
    func batch(_ level: NotificationLevel, hasQuietHours: Bool) throws -> SettingsBatch {
      var settings = FanoutSettings(app: service.app)
      var user = UserSettings()
      user.level = level
      user.quietHours =
        hasQuietHours
        ? .interval(try QuietInterval(startHour: 22, startMinute: 0, endHour: 8, endMinute: 0))
        : nil
      settings.setUser("u1", user)
      return SettingsBatch(settings)
    }
    let batches = [
      try batch(.all, hasQuietHours: true), try batch(.blocked, hasQuietHours: false),
    ]
    let answers = try batches.map { batch in
      try service.change(batch, at: Sample.noon)
      return try service.engine.currentVersion.plainAnswer(for: "u1", in: "g1", after: Sample.noon)
    }
    try #require(answers[0].before != answers[1].before)
    try #require(answers[0].changesAt != nil && answers[1].changesAt == nil)

    let isDone = Locked(false)
    let writer = Thread {
      var number = 0
      while !isDone.withLock({ $0 }) {
        try? service.change(batches[number % 2], at: Sample.noon)
        number += 1
      }
    }
    writer.start()
    defer { isDone.withLock { $0 = true } }
    // Until both answers came in turns many times, so that the two threads did work at once.
    var flips = 0
    var last = answers[1]
    var mixed: [PlainAnswer] = []
    try waits(while: { mixed.isEmpty }) {
      for _ in 0..<100 {
        let answer = try service.engine.currentVersion.plainAnswer(
          for: "u1", in: "g1", after: Sample.noon)
        if !answers.contains(answer) { mixed.append(answer) }
        if answer != last { flips += 1 }
        last = answer
      }
      return flips >= 200
    }
    #expect(mixed.map { $0.text } == [])
    #expect(flips >= 200)
  }

  /// The answer of the service is that of the reference for the same settings.
  @Test(arguments: RuleSet.allCases)
  func nextChangesAreThoseOfTheReference(rules: RuleSet) throws {
    for seed in TestSupport.seeds([1, 2]) {
      let world = RandomWorld(rules, seed: seed, userCount: 12, messageCount: 12)
      let settings = world.settings()
      let service = try FanoutService(Fanout(settings, threads: 1))
      var reference = ReferenceEvaluator(
        settings, zoneOffset: try SettingsZones(settings).offset)
      func text(_ answer: () throws -> PlainAnswer) -> String {
        do { return try answer().text } catch { return "\(error)" }
      }
      for message in world.messages {
        let ids = world.users + ["stranger"]
        let found = ids.map { user in
          text {
            try service.engine.currentVersion.plainAnswer(
              for: user, in: message.conversation, channel: message.channel, after: message.at)
          }
        }
        let expected = ids.map { user in
          text {
            try PlainAnswer(
              by: &reference, of: settings, for: user, in: message.conversation,
              channel: message.channel, after: message.at)
          }
        }
        #expect(found == expected, "seed \(seed), \(message.id)")
      }
    }
  }

  /// A change of the store that came past the service is seen by what pushes say.
  @Test func contentFollowsTheStore() throws {
    let folder = ScratchFolder()
    let store = try SettingsStore(folder.path("app.store"), .create, threads: 1)
    let service = try FanoutService(StoreBackend(store))
    try service.change(ndjson: Array(Sample.settings.utf8), at: Sample.noon)
    func titles() -> [String] {
      service.decide(Sample.message(), MessageContent(text: "Hello")).pushes.map {
        "\($0.id) \($0.payload().content)"
      }
    }
    let before = titles()
    try store.write(at: Sample.noon) { try $0.updatePushDisplayStyle(.messageSummary, of: "u1") }
    let after = titles()
    #expect(after[0] != before[0] && after[0].contains("Hello"))
    #expect(after[1] == before[1])
    // What is decided already keeps its words.
    let decided = service.decide(Sample.message(), MessageContent(text: "Hello"))
    try store.write(at: Sample.noon) { try $0.updatePushDisplayStyle(.simpleBanner, of: "u1") }
    #expect(decided.pushes.map { "\($0.id) \($0.payload().content)" } == after)
    #expect(titles() == before)
    try store.close()
  }

  /// Ids that were fetched once are those of every answer with their epoch and membership version.
  @Test func membersAndAnswersHaveTheSameVersions() throws {
    let service = try Sample.service()
    let members = service.members(of: "g1")
    let message = Message(id: "m", conversation: "g1", at: Sample.noon)
    let decision = service.decide(message)
    #expect(decision.epoch == members.epoch && members.epoch == service.engine.epoch)
    #expect(decision.membershipVersion == members.membershipVersion)
    #expect(decision.codes.count == members.ids.count)
    var batch = SettingsBatch(FanoutSettings(app: service.app))
    batch.removedMembers = [SettingsBatch.Member(try #require(members.ids.first), of: "g1")]
    try service.change(batch, at: Sample.noon)
    #expect(service.decide(message).membershipVersion != members.membershipVersion)
    #expect(service.members(of: "g1").ids == Array(members.ids.dropFirst()))
  }
}

extension PlainAnswer {
  fileprivate var text: String { String(decoding: ServiceJSON.plainAnswer(self), as: UTF8.self) }
}
