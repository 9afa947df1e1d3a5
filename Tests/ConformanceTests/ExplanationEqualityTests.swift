import PushFanout
import PushReference
import PushModel
import PushService
import TestSupport
import Testing

/// Goal: an explanation from the at most five records that decide is that from all settings, step by
/// step and word by word, on random worlds of both vendors.
///
/// `PUSH_SEED=n swift test --filter ExplanationEqualityTests` runs one more seed; each failure names
/// its own.
@Suite struct ExplanationEqualityTests {
  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases)
  func theStepsAreTheSame(rules: RuleSet) throws {
    var reasons: Set<Reason> = []
    var ruleNumbers: Set<String> = []
    var unseen = Self.texts(rules)
    for seed in TestSupport.seeds(Array(601...624)) {
      var world = RandomWorld(
        rules, seed: seed, userCount: 24, messageCount: 40,
        style: RandomWorld.Style(isVaried: seed % 3 != 0))
      if seed % 5 == 0 { world.app.advancedPush = false }
      let settings = world.settings()
      let service = try FanoutService(Fanout(settings, threads: 1))
      var reference = ReferenceEvaluator(settings)
      for message in world.messages {
        for user in world.users + ["stranger"] {
          let expected = reference.explain(message, for: user)
          let found = service.engine.currentVersion.explain(message, for: user, advises: false)
            .evaluated
          #expect(found == expected, "seed \(seed), \(rules.rawValue), \(message.id), \(user)")
          if found != expected { return }
          if let reason = found.decision?.outcome.reason { reasons.insert(reason) }
          ruleNumbers.formUnion(found.steps.map(\.rule))
          unseen.removeAll { text in
            found.steps.contains { "\($0.subject): \($0.found)".contains(text) }
          }
        }
      }
    }
    // What was compared holds every step that the rules have.
    #expect(reasons.count >= (rules == .easemob ? 13 : 12), "\(reasons)")
    let all =
      rules == .open
      ? [
        "O-4", "O-22", "O-15", "O-30, O-31", "O-1", "O-2, O-3", "O-10, O-41", "O-41", "O-10",
        "O-11", "O-11 to O-13", "O-31", "O-40",
      ]
      : rules == .easemob
        ? [
          "E-9", "E-48", "E-50", "E-20, E-42", "E-22, E-35, E-63", "E-23, E-35", "E-41a", "E-21",
          "E-46 to E-48", "E-66, E-68", "E-69", "E-21, E-30 to E-36",
        ]
        : [
          "R-20", "R-27", "R-50, R-51", "R-50, R-53", "R-52", "R-54", "R-55", "R-1, R-3",
          "R-1, R-6, R-12", "R-40, R-41", "R-12, R-20 to R-24",
        ]
    #expect(Set(all).subtracting(ruleNumbers) == [])
    #expect(unseen == [])
  }

  @Test func nobodyAndNowhere() throws {
    let service = try FanoutService(Fanout(FanoutSettings(app: AppSettings()), threads: 1))
    var reference = ReferenceEvaluator(FanoutSettings(app: AppSettings()))
    let message = Message(id: "m", conversation: "nowhere", at: Instant(milliseconds: 1))
    #expect(service.explain(message, for: "u").evaluated == reference.explain(message, for: "u"))
  }

  /// A mention that is void or that of everyone is not one of the user alone.
  @Test func aMentionThatDoesNotCountIsTried() throws {
    var settings = FanoutSettings(app: AppSettings(rules: .rongcloud))
    settings.setConversation("c", ConversationSettings(kind: .group))
    settings.setMember("u", of: "c", MemberSettings(level: .mentionUsers))
    let service = try FanoutService(Fanout(settings, threads: 1))
    var void = Message(id: "m", conversation: "c", at: Instant(milliseconds: 1))
    void.mentions = ["u"]
    var everyone = void
    void.isMentioned = false
    everyone.mentionsAll = true
    let words = ["a mention of u", "a mention of u instead of everyone"]
    for (message, words) in zip([void, everyone], words) {
      let explanation = service.explain(message, for: "u")
      #expect(explanation.decision?.outcome.reason == .notMentioned)
      #expect(explanation.alternative("mentions")?.decision.outcome.action == .push)
      #expect(ServiceText.explanation(explanation).contains("Would push: \(words); "))
    }
  }

  /// By open rules a mention comes beside that of everyone, which stays (O-1).
  @Test func aMentionBesideThatOfEveryone() throws {
    var settings = FanoutSettings(app: AppSettings(rules: .open))
    settings.setMember("u", of: "c")
    settings.updateUser("u") { user in
      user.level = NotificationLevel(.mentionsEveryone)
      user.mutedUntil = Instant(milliseconds: 9)
    }
    let service = try FanoutService(Fanout(settings, threads: 1))
    var message = Message(id: "m", conversation: "c", at: Instant(milliseconds: 1))
    message.mentionsAll = true
    func mention() -> Explanation.Alternative? {
      service.explain(message, for: "u").alternative("mentions")
    }
    #expect(mention()?.decision.outcome == Outcome(.suppress, .muted, .user))
    message.mentions = ["v", "u"]
    #expect(mention() == nil)
  }

  /// The time is when this message would push; where it has expired by then, when another one would.
  /// An explanation looks eight days ahead.
  @Test func aLaterMessage() throws {
    let day: Int64 = 86_400_000
    let now = Instant(milliseconds: 1_711_843_200_000)
    func time(_ rules: RuleSet, mute: Int64, age: Int64?) throws -> [String] {
      var settings = FanoutSettings(app: AppSettings(rules: rules))
      settings.setMember("u", of: "c")
      settings.updateUser("u") { $0.mutedUntil = Instant(milliseconds: now.milliseconds + mute) }
      let service = try FanoutService(Fanout(settings, threads: 1))
      var message = Message(id: "m", conversation: "c", at: now)
      message.sentAt = age.map { Instant(milliseconds: now.milliseconds - $0) }
      let text = ServiceText.explanation(service.explain(message, for: "u"))
      return text.split(separator: "\n").filter { $0.hasPrefix("Would push: ") }.map {
        String($0.split(separator: ";")[0].dropFirst(12).prefix { $0 != "2" })
      }
    }
    for rules in [RuleSet.easemob, .open] {
      #expect(try time(rules, mute: 3_600_000, age: nil) == ["from "])
      #expect(try time(rules, mute: day, age: nil) == ["from "])
      #expect(try time(rules, mute: day + 1, age: nil) == ["a message sent from "])
      #expect(try time(rules, mute: 60_001, age: day - 60_000) == ["a message sent from "])
      #expect(try time(rules, mute: 60_000, age: day - 60_000) == ["from "])
      #expect(try time(rules, mute: 8 * day, age: nil) == ["a message sent from "])
      let later = try time(rules, mute: 8 * day + 1, age: nil)
      #expect(!later.contains { $0.contains("from") })
    }
  }

  /// A part of each finding that a rule set has, besides those of mentions, which ExplainTests have.
  private static func texts(_ rules: RuleSet) -> [String] {
    let all = [
      "member: since always", "member: since 20", "joins at", "member: not of ",
      "member: there is no user", ", somebody else", " sent it", "sender: not named",
      "conversation: a direct chat", "conversation: a group", "conversation: a chat room",
      "silent flag: set", "silent flag: not set", "is connected (foreground)",
      "is connected (background)", " is offline", " is logged out", " is kicked",
      "quiet hours: not set", ", outside", "; it was ", "push tokens: of ",
      "push tokens: there is no device", "as nobody set one",
      "all messages, set by the user for the conversation",
      "mentions only, set by the user for the conversation", "no message, set by the user for the",
    ]
    let open = [
      "conversation: a thread of ", " is blocked", " is not blocked",
      ": it counts as offline", "mentions: nobody", "'s roles here: ", "reply: to ",
      "is in the text",
      "does not allow it (allowForce)", "the thread's parent, until",
      "none: the recipient does not follow the thread", "keyword",
      "this thread until", "lifted in this thread", "; passes: ", "; the message is forced (O-40)",
      "the user's mute and quiet hours are passed over", "mute: not set",
    ]
    let easemob = [
      "conversation: a thread of ", "delivery: also to", "delivery: only to", "body: a command",
      "which pushes too (pushTransparent)", "set, but the message is forced", "just sent; ",
      "age: sent ", "one that is connected is enough (allOffline)",
      "one that is offline is enough (",
      "passed over for who is mentioned (mentionBypassesDnd)",
      "none, as the app has no advanced push",
      "; the message is forced (E-41)", "not set for all conversations",
      "all conversations until 20",
      "all conversations until it ended at", "not set for this conversation",
      "this conversation until 20", "; the message is forced (forceScope)",
      "the thread's parent, until",
      "set by the user for all",
      "every device was kicked", "no device that is offline has one", "the message excludes ",
      "the message admits ", "the message would have been stopped",
    ]
    let rongcloud = [
      "conversation: an ultra group", "conversation: a discussion",
      "conversation: customer service", "conversation: a system conversation",
      "body: a status message", "the app in the background shows a notification itself",
      "only desktops, and the last phone gets pushes then", "a custom message has none",
      "push content: there", "not needed for ", "local notification: possible",
      "none in an ultra group", "none for the backlog", "none for what is not persisted",
      "the app's notifications: on", "off (messageNotification)",
      "names for the notification: missing",
      "names for the notification: there", "handled the message itself", "did not handle it",
      "every device is logged out", "no phone that is offline has one", ", level ",
      "passed over for who is mentioned (mentionBypassesQuiet)", "in quiet hours",
      "set by the user for the channel", "of this type", "the channel's default",
      "the group's default", "the app's default", "mentions of the user only",
      "mentions of everyone only",
    ]
    if rules == .open { return open }
    return all + (rules == .easemob ? easemob : rongcloud)
  }
}

extension Explanation {
  /// What is decided with another value of a field of the message, of the records or of time.
  fileprivate func alternative(_ field: String) -> Alternative? {
    alternatives.first { $0.changes.map(\.field) == [field] }
  }

  /// What the reference says: without what the service adds.
  fileprivate var evaluated: Explanation {
    Explanation(
      message: message, conversation: conversation, user: user, at: at, steps: steps,
      decision: decision)
  }
}
