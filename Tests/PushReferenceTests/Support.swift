import Foundation
import PushReference
import PushModel
import QuietTime
import TestSupport

/// Fixed seeds, so that a plain run is repeatable; `PUSH_SEED=n` runs one more.
let seeds = TestSupport.seeds([1, 42])

/// The instant of an RFC 3339 time in UTC, "2024-03-31T01:00:00Z" or "2024-03-31T00:59:59.999Z".
func at(_ text: String) -> Instant {
  let parts = text.split(separator: ".")
  let whole = parts.count == 2 ? "\(parts[0])Z" : text
  guard let date = try? Date(whole, strategy: .iso8601),
    let milliseconds = parts.count == 2 ? Int64(parts[1].dropLast()) : 0
  else { preconditionFailure("\"\(text)\" is not a time") }
  precondition(parts.count == 1 || parts[1].count == 4, "three digits and a Z")
  return Instant(milliseconds: Int64(date.timeIntervalSince1970) * 1000 + milliseconds)
}

extension Instant {
  /// So many milliseconds later, or earlier when negative.
  func plus(_ milliseconds: Int64) -> Instant {
    Instant(milliseconds: self.milliseconds + milliseconds)
  }
}

/// A user "u" in the conversation "c", under an app: the smallest world with a recipient.
struct World {
  var app = AppSettings()
  var user = UserSettings()
  /// nil: not a member.
  var member: MemberSettings? = MemberSettings()
  var conversation = ConversationSettings()
  /// The record in the parent "p" of a thread.
  var parent: MemberSettings?

  var settings: FanoutSettings {
    var settings = FanoutSettings(app: app)
    settings.setUser("u", user)
    settings.setConversation("c", conversation)
    if let member { settings.setMember("u", of: "c", member) }
    if conversation.kind == .thread { settings.setConversation("p", ConversationSettings()) }
    if let parent { settings.setMember("u", of: "p", parent) }
    return settings
  }

  /// What a plain message gets at each instant, as `action/reason/scope`; "nobody" for no recipient.
  func outcomes(_ instants: [Instant]) -> [String] {
    var evaluator = ReferenceEvaluator(settings)
    return instants.map { instant in
      let message = Message(id: "m", conversation: "c", at: instant)
      return evaluator.decide(message, for: "u")?.outcome.key ?? "nobody"
    }
  }

  /// An app of Easemob's, a user with a window "H:M", "H:M".
  static func easemob(
    _ start: String, _ end: String, zone: String = "UTC", options: EasemobOptions = .init()
  ) -> World {
    var world = World(app: AppSettings(rules: .easemob, timeZone: zone, easemob: options))
    world.user.quietHours = try! QuietInterval.parse(start: start, end: end)
      .map { .interval($0) }
    return world
  }

  /// An app of RongCloud's, a user with quiet hours "HH:MM:SS" of level none.
  static func rongcloud(
    _ start: String, _ spanMinutes: Int, zone: String = "UTC", own: String? = nil,
    options: RongCloudOptions = .init()
  ) -> World {
    var world = World(app: AppSettings(rules: .rongcloud, timeZone: zone, rongcloud: options))
    world.user.quietHours = try! QuietSpan.parse(
      start: start, spanMinutes: spanMinutes, level: .blocked, timeZone: own
    ).map { .span($0) }
    return world
  }
}

extension World {
  /// The first instant after `instant` at which a plain message is answered otherwise.
  func nextChange<Answer: Equatable>(
    after instant: Instant, of answer: (Decision?) -> Answer
  ) -> Instant? {
    var evaluator = ReferenceEvaluator(settings)
    return dependence.nextChange(after: instant) { instant in
      answer(evaluator.decide(Message(id: "m", conversation: "c", at: instant), for: "u"))
    }
  }

  var dependence: NextChangeSolver {
    try! NextChangeSolver(
      app: app, user: user, records: [member, parent].compactMap { $0 })
  }
}
