internal import PushRules

/// A step of a rule set's procedure, for explanations.
enum StateNote {
  case reach(UserClass.Reach)
  case doNotDisturb(Outcome?, isExempt: Bool, force: Bool)
  case quiet(UserClass.Quiet, isSkipped: Bool)
  case level(NotificationLevel, Scope)
  case levelStops(Reason, Scope, isOverridden: Bool)
  case unfit(Reason)
  case targets(UserClass.Reach)
}

extension StateNote {
  /// The note as explanation steps.
  func steps(_ tables: Tables, _ user: UInt32, _ at: Instant) -> [TraceStep] {
    let numbers = tables.app.rules.noteRules
    switch self {
    case .reach(let reach):
      let devices = tables.effectiveDevices(of: user).map { "\($0.id) (\($0.state.rawValue))" }
      return [
        TraceStep(
          rule: numbers.reach, subject: "devices",
          found: devices.isEmpty ? "none" : devices.joined(separator: ", "),
          verdict: reach == .online ? "online, so no push" : "\(reach)")
      ]
    case .unfit(let reason):
      return [
        TraceStep(
          rule: reason.rule(tables.app.rules), subject: "message", found: reason.name,
          verdict: "does not fit this flow")
      ]
    case .doNotDisturb(let stop, let isExempt, let force):
      let found = stop.map { $0.reason.name } ?? "off"
      let verdict =
        stop == nil
        ? "nothing to check"
        : isExempt ? "a mention beats it" : force ? "force beats it" : "do not disturb"
      return [
        TraceStep(
          rule: "E-21 to E-23", subject: "do-not-disturb", found: found, scope: stop?.scope,
          verdict: verdict)
      ]
    case .quiet(let quiet, let isSkipped):
      return [
        TraceStep(
          rule: "R-12, R-27", subject: "quiet hours", found: "\(quiet)", scope: .quietHours,
          verdict: isSkipped
            ? "a mention skips them" : quiet == .outside ? "look further" : "inside")
      ]
    case .level(let level, let scope):
      return [
        TraceStep(
          rule: numbers.level, subject: "level", found: level.name,
          scope: scope, verdict: "the level that holds")
      ]
    case .levelStops(let reason, let scope, let isOverridden):
      return [
        TraceStep(
          rule: numbers.levelStops, subject: "message",
          found: reason.name, scope: scope,
          verdict: isOverridden ? "overridden by force" : "stopped")
      ]
    case .targets(let reach):
      return [
        TraceStep(
          rule: numbers.targets, subject: "target",
          found: "\(reach)", verdict: reach == .device || reach == .local ? "notified" : "none")
      ]
    }
  }
}

extension RuleSet {
  /// The numbers of the rules behind the notes that several rule sets have.
  fileprivate var noteRules: (reach: String, level: String, levelStops: String, targets: String) {
    switch self {
    case .easemob: ("E-64, E-65", "E-20", "E-20, E-42", "E-66 to E-68")
    case .rongcloud: ("R-50 to R-53", "R-10, R-11", "R-1, R-6, R-12", "R-50 to R-55")
    }
  }
}

extension Reason {
  /// The rule by which a message is stopped for all recipients.
  func rule(_ rules: RuleSet) -> String {
    switch rules {
    case .easemob:
      switch self {
      case .chatRoom: "E-60"
      case .onlineOnly: "E-61"
      case .messageType: "E-62"
      case .silentMessage: "E-40, E-44"
      default: "E-69"
      }
    case .rongcloud:
      switch self {
      case .silentMessage: "R-42"
      case .localIneligible, .localDisabled: "R-54"
      default: "R-44"
      }
    }
  }
}
