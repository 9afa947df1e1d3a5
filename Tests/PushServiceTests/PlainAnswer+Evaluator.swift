import PushFanout
import PushModel
import PushReference
import QuietTime

extension PlainAnswer {
  /// The answer of the reference to what
  /// `FanoutVersion.plainAnswer` answers by the engine.
  ///
  /// - Parameters:
  ///   - evaluator: decides by `settings`.
  ///   - settings: everything that decides.
  ///   - user: whose answer.
  ///   - conversation: the conversation, or the ultra group of `channel`.
  ///   - instant: from when on.
  /// - Throws: `FanoutError.unknownConversation`, `.unknownUser` or `.notAMember`; `ZoneDataError`
  ///   for the time zones of the user's quiet hours.
  /// - Complexity: some decisions for one user; mostly four.
  init(
    by evaluator: inout ReferenceEvaluator, of settings: FanoutSettings, for user: Identifier,
    in conversation: Identifier, channel: Identifier = "", after instant: Instant
  ) throws {
    guard let record = settings.conversation(conversation) else {
      throw FanoutError.unknownConversation(conversation)
    }
    guard let index = settings.index(of: user) else { throw FanoutError.unknownUser(user) }
    let parent = record.kind == .thread ? record.parent : nil
    guard settings.member(index, of: parent ?? conversation) != nil else {
      throw FanoutError.notAMember(user: user, conversation: parent ?? conversation)
    }
    let records = [conversation, parent].compactMap { $0 }.compactMap {
      settings.member(index, of: $0)
    }
    let solver = try NextChangeSolver(
      app: settings.app, user: settings.user(index), records: records)
    self = solver.plainAnswer(after: instant) { at in
      if settings.app.rules == .open {
        // O-43: as if one offline device had a token.
        let outcome = evaluator.openDecision(
          ofClasses: nil, for: user, in: conversation, at: at)
        return outcome.map {
          Decision($0, devices: $0.action == .push ? [Device.default.id] : [])
        }
      }
      var message = Message(id: "plain", conversation: conversation, at: at)
      message.channel = channel
      return evaluator.decision(message, for: user)
    }
  }
}
