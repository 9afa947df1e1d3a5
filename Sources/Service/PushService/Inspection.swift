internal import PushFanout
internal import PushFiles
public import PushModel

/// Everything about one message and one user, by one version of the settings: for people who are
/// asked why there was a push or none.
public struct Inspection: Hashable, Sendable {
  /// From an instant on, the decision; nil for no recipient.
  public struct Part: Hashable, Sendable {
    /// The first instant of it.
    public let at: Instant
    /// What is decided until the next part begins; nil for a user who is no recipient.
    public let decision: Decision?
  }

  /// The rules that were evaluated, and the decision.
  public let explanation: Explanation
  /// The decisions for the same message, were it sent later: the first part begins at its instant.
  /// Empty when the user is no member of the conversation.
  public let timeline: [Part]
  /// The end of the last part.
  public let until: Instant
  /// All settings that decide: the app's, the user's, the conversation's, and the user's in it.
  ///
  /// A service of only these records gives the same answer for this user, so that the answer to
  /// other settings is that of a service of changed records.
  public let records: [SettingsRecord]
  /// The number of the version of the settings, of ``epoch``.
  public let version: UInt64
  /// `Fanout.epoch`: versions of different epochs do not compare.
  public let epoch: UInt64
}

extension FanoutService {
  /// Explains a message for a user, and what the same message would lead to at later instants.
  ///
  /// - Parameters:
  ///   - message: the message; its instant is where the timeline begins.
  ///   - user: the recipient.
  ///   - end: where the timeline ends.
  /// - Complexity: O(transitions of the user's quiet hours until then).
  public func inspect(_ message: Message, for user: Identifier, until end: Instant) -> Inspection {
    let version = engine.currentVersion
    let timeline = try? version.timeline(of: message, for: user, until: end)
    return Inspection(
      explanation: explain(message, for: user, by: version),
      timeline: (timeline ?? []).map { Inspection.Part(at: $0.at, decision: $0.decision) },
      until: end, records: version.records(of: user, in: message.conversation),
      version: version.number, epoch: version.epoch)
  }
}

extension Inspection {
  /// The time zone of the user's quiet hours: their own, the user's, or else the app's.
  public var timeZone: String { explanation.timeZone }

  /// The records as lines of a settings.ndjson, in the order in which they may be read.
  public var lines: [[UInt8]] {
    var rules = AppSettings().rules
    var kinds: [Identifier: ConversationKind] = [:]
    return records.map { record in
      switch record {
      case .app(let app):
        rules = app.rules
        return SettingsEncoder.app(app)
      case .user(let id, let user): return SettingsEncoder.user(id, user, rules)
      case .conversation(let id, let conversation):
        kinds[id] = conversation.kind
        return SettingsEncoder.conversation(id, conversation, rules)
      case .member(let user, let conversation, let member, _):
        let kind = kinds[conversation] ?? .group
        return SettingsEncoder.member(user, of: conversation, kind, member, rules)
      }
    }
  }
}
