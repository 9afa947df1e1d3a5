internal import PushModel
internal import QuietTime

/// The steps of an explanation, as the engine takes them.
///
/// The engine's rules report each step (``StateNote``); the trace looks up in the user's records
/// what it was based on. One file for each rule set words its steps.
struct RuleTrace {
  let message: Message
  let app: AppSettings
  var conversation = ConversationSettings()
  var user = UserSettings()
  /// The record in the message's own conversation.
  var own = MemberSettings()
  /// The record of the membership, which for a thread is in its parent; nil for no member.
  var membership: MemberSettings?
  /// The devices to push to, and those of them that the message's filter lets through.
  var targets: [Device] = []
  var admitted: [Device]?
  /// The level that was found, before it is noted whether it stops the message.
  var level: (level: NotificationLevel, scope: Scope)?
  /// How the user can be reached.
  var reach = UserClass.Reach.device
  /// The user's quiet hours; nil for none, and for those that are off.
  var quiet: QuietSchedule?
  private(set) var steps: [TraceStep] = []

  init(_ message: Message, _ app: AppSettings) {
    self.message = message
    self.app = app
  }

  mutating func note(
    _ rule: String, _ subject: String, _ found: String, scope: Scope? = nil, _ verdict: String
  ) {
    steps.append(
      TraceStep(rule: rule, subject: subject, found: found, scope: scope, verdict: verdict))
  }

  /// The last step decides.
  mutating func markLast() {
    if !steps.isEmpty { steps[steps.count - 1].decides = true }
  }

  /// Lines 0 and 1 of §4, which both rule sets share.
  ///
  /// - Returns: whether the user is a recipient.
  mutating func noteMembership(isSender: Bool) -> Bool {
    note(
      "§4", "membership", yesNo(membership != nil),
      membership == nil ? "not a recipient" : "a member of the conversation")
    guard let membership else { return false }
    let isThere = membership.since <= message.at
    note(
      "§4", "member since", describe(membership.since),
      isThere ? "a recipient" : "not yet a member, not a recipient")
    guard isThere else { return false }
    note(
      "§4.1", "sender", message.sender?.text ?? "none",
      isSender ? "the sender is not a recipient" : "another user")
    return !isSender
  }

  /// The second of the local day at the message's instant.
  func localSecond(in zone: String) -> Int {
    guard let table = try? quiet?.zone ?? ZoneTable(named: zone) else {
      preconditionFailure("\"\(zone)\" is not a time zone")
    }
    return Int(table.localSecond(at: message.at.seconds))
  }
}
