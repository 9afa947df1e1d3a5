import Foundation
import PushFanout
import PushModel
import PushReference
import PushService
import QuietTime
import TestSupport
import Testing

/// Goal: an inspection is the reference's answer, now and at every later instant, and its records
/// are all that decides for the user.
@Suite struct InspectionTests {
  private static let week: Int64 = 7 * 86_400_000

  /// The same message, sent at another instant.
  private static func moved(_ message: Message, to at: Instant) -> Message {
    var later = message
    later.at = at
    later.sentAt = message.sentAt.map {
      Instant(milliseconds: at.milliseconds - message.at.milliseconds + $0.milliseconds)
    }
    return later
  }

  /// Settings in which devices were seen as long before a message that was moved as they were before
  /// it: presence stays in what later instants would decide (O-30).
  private static func seen(
    later span: Int64, by user: Identifier, in settings: FanoutSettings
  ) -> FanoutSettings {
    var settings = settings
    settings.updateUser(user) { user in
      user.devices = user.devices.map { devices in
        devices.map { device in
          var device = device
          device.seenAt = device.seenAt.map { Instant(milliseconds: $0.milliseconds + span) }
          return device
        }
      }
    }
    return settings
  }

  @Test(arguments: RuleSet.allCases)
  func equalsTheReferenceAtEveryInstant(rules: RuleSet) throws {
    var longest = 0
    for seed in TestSupport.seeds([1, 2, 3, 4]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 12, messageCount: 12,
        style: RandomWorld.Style(isVaried: true))
      let settings = world.settings()
      let service = try FanoutService(Fanout(settings, threads: 1))
      var reference = ReferenceEvaluator(settings)
      var random = SeededGenerator(seed: seed)
      for message in world.messages {
        for user in world.users {
          let end = Instant(milliseconds: message.at.milliseconds + Self.week)
          let found = service.inspect(message, for: user, until: end)
          let label: Comment = "seed \(seed), \(message.id), \(user)"
          let expected = reference.explain(message, for: user)
          #expect(found.explanation.steps == expected.steps, label)
          #expect(found.explanation.decision == expected.decision, label)
          guard let first = found.timeline.first else {
            #expect(found.explanation.decision == nil, label)
            continue
          }
          #expect(first.at == message.at, label)
          // Within a part the decision is the same, and the next part has another.
          var instants = found.timeline.flatMap { part in
            [part.at.milliseconds, part.at.milliseconds - 1]
          }
          instants += (0..<8).map { _ in
            Int64.random(in: message.at.milliseconds..<end.milliseconds, using: &random)
          }
          for instant in instants where instant >= message.at.milliseconds {
            let at = Instant(milliseconds: instant)
            let later = Self.moved(message, to: at)
            var expected = reference.decision(later, for: user)
            if rules == .open {
              let span = instant - message.at.milliseconds
              var kept = ReferenceEvaluator(Self.seen(later: span, by: user, in: settings))
              expected = kept.decision(later, for: user)
            }
            let part = found.timeline.last { $0.at <= at }
            #expect(
              part?.decision == expected, "seed \(seed), \(message.id), \(user) at \(instant)")
          }
          longest = max(longest, found.timeline.count)
          let decisions = found.timeline.map(\.decision)
          #expect(!zip(decisions, decisions.dropFirst()).contains { $0 == $1 }, label)
        }
      }
    }
    #expect(longest > 4, "no timeline changes")
  }

  /// A user whose time zone the system does not have: nothing is decided, or as without quiet hours.
  @Test(arguments: RuleSet.allCases)
  func anUnknownZoneIsNamedOrIgnored(rules: RuleSet) throws {
    let world = RandomWorld(rules, seed: 31, messageCount: 40)
    var (lost, plain) = (world.settings(), world.settings())
    for user in world.users {
      lost.updateUser(user) { $0.timeZone = "Mars/Olympus_Mons" }
      plain.updateUser(user) { ($0.timeZone, $0.quietHours) = (nil, nil) }
    }
    let refusing = FanoutService(try Fanout(lost, threads: 1, unknownZones: .refuse))
    let ignoring = FanoutService(try Fanout(lost, threads: 1, unknownZones: .ignore))
    var reference = ReferenceEvaluator(plain)
    for message in world.messages {
      for user in world.users {
        let steps = refusing.explain(message, for: user).steps
        let found = "Mars/Olympus_Mons is not known on this machine, so nothing is decided"
        #expect(steps.map(\.found) == [found] && steps[0].decides)
        #expect(
          ignoring.explain(message, for: user).steps == reference.explain(message, for: user).steps)
      }
    }
  }

  @Test(arguments: RuleSet.allCases)
  func recordsAreAllThatDecides(rules: RuleSet) throws {
    for seed in TestSupport.seeds([5, 6]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 8, messageCount: 6,
        style: RandomWorld.Style(isVaried: true))
      let service = try FanoutService(Fanout(world.settings(), threads: 1))
      for message in world.messages {
        for user in world.users {
          let end = Instant(milliseconds: message.at.milliseconds + Self.week)
          let found = service.inspect(message, for: user, until: end)
          let alone = try FanoutService(ndjson: Array(found.lines.joined()), threads: 1)
          let again = alone.inspect(message, for: user, until: end)
          let label: Comment = "seed \(seed), \(message.id), \(user)"
          #expect(again.explanation.decision == found.explanation.decision, label)
          #expect(again.timeline == found.timeline, label)
          #expect(again.timeZone == found.timeZone, label)
        }
      }
    }
  }

  @Test func asJSON() throws {
    let service = try Sample.service()
    let end = Instant(rfc3339: "2024-06-05T12:00:00+08:00")!
    let found = service.inspect(Sample.message(), for: "u1", until: end)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(ServiceJSON.inspection(found)))
        as? [String: Any])
    let parts = try #require(json["timeline"] as? [[String: Any]])
    #expect(
      parts.map { "\(Instant(milliseconds: $0["at"] as! Int64).rfc3339) \($0["phrase"]!)" } == [
        "2024-06-03T04:00:00Z Pushed: no level set anywhere",
        "2024-06-03T14:00:00Z Stopped by the user's quiet hours",
        "2024-06-04T00:00:00Z Pushed: no level set anywhere",
        "2024-06-04T14:00:00Z Stopped by the user's quiet hours",
        "2024-06-05T00:00:00Z Pushed: no level set anywhere",
      ])
    #expect(json["timeZone"] as? String == "Asia/Shanghai")
    let kinds = (json["records"] as? [[String: Any]])?.map { $0["kind"] as? String }
    #expect(kinds == ["app", "user", "conversation", "member"])
    let stranger = service.inspect(Sample.message(), for: "u9", until: end)
    #expect(stranger.timeline == [])
    #expect(stranger.explanation.decision == nil)
    #expect(stranger.records.count == 2)
  }
}
