import Foundation
import PushFanout
import PushModel
import PushReference
import PushService
import TestSupport
import Testing

/// Goal: what an explanation says would lead to a push does, what it says would not does not, and
/// nothing that would is left out.
///
/// `PUSH_SEED=n swift test --filter RemedyTests` runs one more seed; each failure names its own.
@Suite struct RemedyTests {
  /// Each claim is applied to the whole world and decided again by the reference.
  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases)
  func whatIsClaimedIsSo(rules: RuleSet) throws {
    var (claims, pairs) = (0, 0)
    var fields: Set<String> = []
    for seed in TestSupport.seeds(Array(701...706)) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 12, messageCount: 30,
        style: RandomWorld.Style(isVaried: seed % 2 == 0))
      let settings = world.settings()
      let service = try FanoutService(Fanout(settings, threads: 1))
      for (number, message) in world.messages.enumerated() {
        for (place, user) in world.users.enumerated() where (number + place).isMultiple(of: 4) {
          let explanation = service.explain(message, for: user)
          let label: Comment = "seed \(seed), \(message.id), \(user)"
          let isStopped = explanation.decision.map { $0.outcome.action == .suppress } ?? true
          #expect(isStopped || explanation.alternatives.isEmpty, label)
          for alternative in explanation.alternatives {
            let found = decide(alternative.changes, settings, message, user)
            #expect(found == alternative.decision, "\(label), \(alternative.changes.map(\.text))")
            let alone =
              alternative.changes.count < 2
              ? [] : alternative.changes.map { decide([$0], settings, message, user) }
            // A record in which two fields were changed has both.
            if Set(alternative.changes.map(\.place)).count == alternative.changes.count {
              #expect(alone == alternative.alone.map { $0 }, label)
            }
            claims += 1
            pairs += alternative.changes.count - 1
            fields.formUnion(alternative.changes.map(\.field))
          }
        }
      }
    }
    #expect(claims > 1_000 && pairs > 200, "\(claims) claims, \(pairs) pairs")
    #expect(fields.count > 12, "\(fields)")
  }

  /// Each field of each record that decides is left out of its line, or given its most open value, and
  /// the lines are read again by another engine.
  @Test(.tags(.slow), .unlessFast, arguments: RuleSet.allCases)
  func nothingThatHelpsIsLeftOut(rules: RuleSet) throws {
    var (tried, helpful) = (0, 0)
    for seed in TestSupport.seeds(Array(711...720)) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 10, messageCount: 16,
        style: RandomWorld.Style(isVaried: seed % 2 == 0))
      let service = try FanoutService(Fanout(world.settings(), threads: 1))
      for (number, message) in world.messages.enumerated() {
        for (place, user) in world.users.enumerated() where (number + place).isMultiple(of: 4) {
          let inspection = service.inspect(message, for: user, until: message.at)
          let explanation = inspection.explanation
          guard explanation.decision?.outcome.action == .suppress else { continue }
          for changed in Self.changes(of: inspection.lines) {
            guard let other = try? FanoutService(ndjson: changed.lines, threads: 1) else {
              continue
            }
            tried += 1
            let decision = other.engine.decision(message, for: user)
            guard let decision, decision.outcome.action != .suppress else { continue }
            helpful += 1
            let said = explanation.alternatives.contains {
              $0.changes.map(\.field) == [changed.field] && $0.decision.outcome.action != .suppress
            }
            #expect(
              said, "seed \(seed), \(message.id), \(user): \(changed.field), \(changed.value)")
          }
        }
      }
    }
    #expect(tried > 2_000 && helpful > 50, "\(tried), \(helpful)")
  }

  // MARK: Words

  private static func text(
    _ lines: [String], _ message: String, _ user: Identifier
  ) throws -> [String] {
    let service = try FanoutService(
      ndjson: Array(lines.joined(separator: "\n").utf8), threads: 1)
    let fields = #""conversation":"team","sender":"dee","at":1717428600000"#
    let line = #"{"id":"m",\#(message.contains("conversation") ? "" : fields + ",")\#(message)}"#
    let json = try service.explain(ndjson: Array(line.utf8), for: user)
    struct Answer: Decodable {
      let answer: String
      let advice: [String]
    }
    let found = try JSONDecoder().decode(Answer.self, from: Data(json))
    return [found.answer] + found.advice
  }

  private static let open = [
    #"{"kind":"app","rules":"open","timeZone":"Asia/Shanghai"}"#,
    #"{"kind":"user","id":"fay","quiet":[{"start":"22:00","end":"8:0"}],"keywords":["deploy"],"#
      + #""allowForce":false}"#,
    #"{"kind":"user","id":"ann","mutedUntil":9007199254740991}"#,
    #"{"kind":"user","id":"eve","devices":[{"id":"p1","state":"foreground","seenAt":1717428300000},"#
      + #"{"id":"p2","state":"foreground","seenAt":1717428599000}]}"#,
    #"{"kind":"user","id":"dan","blockedSenders":["dee"]}"#,
    #"{"kind":"conversation","id":"team","type":"group"}"#,
    #"{"kind":"conversation","id":"th","type":"thread","parent":"team"}"#,
    #"{"kind":"member","conversation":"team","user":"fay","level":"none","roles":["dev"]}"#,
    #"{"kind":"member","conversation":"team","user":"ann"}"#,
    #"{"kind":"member","conversation":"team","user":"bob","level":"mentions","#
      + #""mutedUntil":1717516800000}"#,
    #"{"kind":"member","conversation":"team","user":"eve"}"#,
    #"{"kind":"member","conversation":"team","user":"dan"}"#,
    #"{"kind":"member","conversation":"th","user":"bob"}"#,
  ]

  @Test func openRulesInWords() throws {
    let thread = #""conversation":"th","sender":"dee","at":1717428600000"#
    let asked: [(message: String, user: Identifier)] = [
      (#""text":"deployed","mentionsRoles":["oncall"],"force":true"#, "fay"),
      (thread, "fay"), (#""force":true"#, "ann"),
      (#""mentionsRoles":["oncall"],"replyToUser":"ann""#, "bob"), (thread, "bob"),
      (#""text":"x""#, "eve"), (#""text":"x""#, "dan"),
    ]
    let found = try asked.map { try Self.text(Self.open, $0.message, $0.user) }
    #expect(found == Self.openTexts)
  }

  @Test func vendorsInWords() throws {
    let easemob = [
      #"{"kind":"app","timeZone":"Asia/Shanghai"}"#,
      #"{"kind":"user","id":"fay","quietHours":{"start":"22:00","end":"22:00"}}"#,
      #"{"kind":"conversation","id":"team","type":"group"}"#,
      #"{"kind":"conversation","id":"th","type":"thread","parent":"team"}"#,
      #"{"kind":"member","conversation":"team","user":"fay","level":"none"}"#,
      #"{"kind":"member","conversation":"team","user":"ann","mutedUntil":1717516800000}"#,
      #"{"kind":"member","conversation":"team","user":"bob","level":"none"}"#,
    ]
    let rongcloud = [
      #"{"kind":"app","rules":"rongcloud"}"#,
      #"{"kind":"user","id":"fay","devices":[{"id":"p1","state":"background"}]}"#,
      #"{"kind":"user","id":"ann","devices":[{"id":"d","type":"desktop","state":"foreground"},"#
        + #"{"id":"p","state":"offline"}]}"#,
      #"{"kind":"conversation","id":"team","type":"ultraGroup"}"#,
      #"{"kind":"conversation","id":"g","type":"group"}"#,
      #"{"kind":"member","conversation":"g","user":"fay","level":"none"}"#,
      #"{"kind":"member","conversation":"team","user":"ann"}"#,
      #"{"kind":"member","conversation":"team","user":"bob","channels":{"c1":"none"}}"#,
    ]
    let thread = #""conversation":"th","sender":"dee","at":1717428600000"#
    let found = try [
      Self.text(easemob, #""mentions":["bob"]"#, "fay"), Self.text(easemob, thread, "ann"),
      Self.text(easemob, thread, "bob"),
      Self.text(rongcloud, #""conversation":"g","at":1717428600000"#, "fay"),
      Self.text(rongcloud, #""channel":"c1""#, "ann"),
      Self.text(rongcloud, #""channel":"c1""#, "bob"),
    ]
    #expect(found == Self.vendorTexts)
  }

  private static let openTexts = [
    [
      "No push for fay. Stopped: the level set for the conversation is none.",
      "Nothing alone would push. Both together would: from 2024-06-04T00:00:00Z "
        + "(2024-06-04 08:00 in Asia/Shanghai), and the level all, set by fay for team.",
      "Only the level all, set by fay for team: no push. Stopped by the user's own "
        + "quiet hours.",
      "Would not help: a mention of fay; the level all, set by fay for team.",
    ],
    [
      "No push for fay. Not concerned: the recipient does not follow the thread.",
      "Nothing alone would push. Both together would: from 2024-06-04T00:00:00Z "
        + "(2024-06-04 08:00 in Asia/Shanghai), and the level all, set by fay for th.",
      "Only the level all, set by fay for th: no push. Stopped by the user's own "
        + "quiet hours.",
      "Would not help: a mention of fay; the force flag; the level all, set by fay "
        + "for th.",
    ],
    [
      "Push for ann, to default. Pushed by force; no level set anywhere."
    ],
    [
      "No push for bob. Stopped: the level set for the conversation does not take "
        + "messages of the class plain (it mentions the role oncall; bob's roles here: "
        + "none; a reply to ann, not bob).",
      "Nothing alone would push. Both together would: a message sent from "
        + "2024-06-04T16:00:00Z (2024-06-05 00:00 in Asia/Shanghai) on, and a mention of "
        + "bob.",
      "Only a mention of bob: no push. Stopped by the conversation's mute.",
      "Would not help: a mention of bob; the force flag; the level all, set by bob "
        + "for team.",
    ],
    [
      "No push for bob. Stopped by the mute of team, the thread's parent, until "
        + "2024-06-04T16:00:00Z.",
      "Would push: a message sent from 2024-06-04T16:00:00Z (2024-06-05 00:00 in "
        + "Asia/Shanghai) on; the force flag; bob following th; the level all, set by "
        + "bob for th; without bob's mute of team; mutes of bob that let everything pass "
        + "(mutedAllow).",
      "Would not help: a mention of bob.",
    ],
    [
      "No push for eve. Not needed: the recipient was connected (p1 (mobile) was "
        + "last seen 5 min before, more than 1 min 30 s: it counts as offline, p2 "
        + "(mobile) is connected (foreground); one that is connected is enough).",
      "Would push: all devices offline; p2 offline; one offline phone with a token.",
      "Would not help: a mention of eve; the force flag; the level all, set by eve "
        + "for team.",
    ],
    [
      "No push for dan. Never pushed: the recipient blocks the sender (dee is "
        + "blocked).",
      "Would push: dee not blocked by dan.",
      "Would not help: a mention of dan; the force flag; the level all, set by dan "
        + "for team.",
    ],
  ]
  private static let vendorTexts = [
    [
      "No push for fay. Stopped by the user's quiet hours (24 h from 22:00; it was "
        + "23:30:00 in Asia/Shanghai).",
      "Would push: the app without advanced push.",
      "Both together would push: the force flag, and the level all, set by fay for "
        + "team.",
      "Only the force flag: no push. Stopped: the level set for the conversation is "
        + "none.",
      "Would not help: a mention of fay; the force flag; the level all, set by fay "
        + "for team.",
    ],
    [
      "No push for ann. Stopped by the mute of team, the thread's parent, until "
        + "2024-06-04T16:00:00Z.",
      "Would push: a message sent from 2024-06-04T16:00:00Z (2024-06-05 00:00 in "
        + "Asia/Shanghai) on; the force flag; without ann's mute of team; and 2 more.",
      "Would not help: a mention of ann; the level all, set by ann for th.",
    ],
    [
      "No push for bob. Stopped: the level set for team, the thread's parent, is "
        + "none.",
      "Would push: the level all, set by bob for th; the level all, set by bob for "
        + "team; the app without advanced push; and 1 more.",
      "Would not help: a mention of bob; the force flag.",
    ],
    [
      "No push for fay. Stopped: the level set for the conversation is none.",
      "Would notify: the level all, set by fay for g.",
      "Would not help: a mention of fay; p1 offline.",
    ],
    [
      "No push for ann. Not needed: the recipient was connected (d (desktop) is "
        + "connected (foreground), p (mobile) is offline).",
      "Would push: all devices offline; d offline; one offline phone with a token; "
        + "pushes also while a desktop is online.",
      "Would not help: a mention of ann; the level all, set by ann for the channel "
        + "c1 of team.",
    ],
    [
      "No push for bob. Stopped: the level set for the channel is none.",
      "Would push: the level all, set by bob for the channel c1 of team.",
      "Would not help: a mention of bob.",
    ],
  ]

  private func decide(
    _ changes: [Explanation.Change], _ settings: FanoutSettings, _ message: Message,
    _ user: Identifier
  ) -> Decision? {
    var (settings, message) = (settings, message)
    var at: Instant?
    for change in changes {
      switch change.edit {
      case .record(let record, _): settings.set(record)
      case .message(let changed, _): message = changed
      case .time(let instant), .laterMessage(let instant):
        at = instant
      }
    }
    if let at {
      // Devices as they were at the message (O-43), a message of the same age.
      let index = settings.index(of: user)
      if settings.app.rules == .open, let index, settings.user(index).devices != nil {
        let devices = ReferenceEvaluator(settings).presence(
          of: settings.user(index).effectiveDevices, at: message.at)
        settings.updateUser(user) { $0.devices = devices }
      }
      message.sentAt = message.sentAt.map {
        Instant(milliseconds: $0.milliseconds + at.milliseconds - message.at.milliseconds)
      }
      message.at = at
    }
    var reference = ReferenceEvaluator(settings)
    return reference.decide(message, for: user)
  }

  /// Lines of which one has another value of one field.
  private static func changes(
    of lines: [[UInt8]]
  ) -> [(field: String, value: String, lines: [UInt8])] {
    let records = lines.map {
      (try? JSONSerialization.jsonObject(with: Data($0))) as? [String: Any] ?? [:]
    }
    // What a record is of, and what is no setting.
    let kept: Set = ["kind", "id", "rules", "type", "parent", "user", "conversation", "devices"]
    var found: [(String, String, [UInt8])] = []
    func add(_ place: Int, _ field: String, _ change: (inout [String: Any]) -> Void) {
      var changed = records
      change(&changed[place])
      let data = changed.map {
        try! JSONSerialization.data(withJSONObject: $0, options: .sortedKeys) + Data("\n".utf8)
      }
      found.append((field, "\(changed[place][field] ?? "none")", data.flatMap { Array($0) }))
    }
    for (place, record) in records.enumerated() {
      for (field, value) in record where !kept.contains(field) {
        if let options = value as? [String: Any], field == "options" {
          for (name, value) in options where value is Bool {
            add(place, name) {
              var options = options
              options[name] = !(value as! Bool)
              $0[field] = options
            }
          }
          for name in options.keys {
            add(place, name) {
              var options = options
              options[name] = nil
              $0[field] = options
            }
          }
          continue
        }
        add(place, field) { $0[field] = nil }
        let open: Any? =
          switch field {
          case "level", "mutedAllow": "all"
          case "mutedUntil", "since": 0
          case "quiet", "blockedSenders": [String]()
          case "allowForce", "important", "follow", "pushWhenDesktopOnline",
            "messageNotification", "advancedPush":
            true
          default: nil
          }
        if let open { add(place, field) { $0[field] = open } }
      }
    }
    return found
  }
}

extension Explanation.Change {
  fileprivate var place: String {
    switch edit {
    case .record(.app, _): "app"
    case .record(.user, _): "user"
    case .record(.member(_, let id, _, _), _): "member \(id)"
    case .record(.conversation(let id, _), _): "conversation \(id)"
    case .message: "message"
    case .time, .laterMessage: "time"
    }
  }
}
