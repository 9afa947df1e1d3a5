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
          verdict: reach == .online ? "online: no push" : "\(reach)")
      ]
    case .unfit(let reason):
      return [
        TraceStep(
          rule: reason.rule(tables.app.rules), subject: "message", found: reason.name,
          verdict: "ineligible for this flow")
      ]
    case .doNotDisturb(let stop, let isExempt, let force):
      let found = stop.map { $0.reason.name } ?? "off"
      let verdict =
        stop == nil
        ? "continue"
        : isExempt ? "overridden by a mention" : force ? "overridden by force" : "stopped"
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
            ? "skipped for a mention" : quiet == .outside ? "continue" : "inside")
      ]
    case .level(let level, let scope):
      return [
        TraceStep(
          rule: numbers.level, subject: "level", found: level.name,
          scope: scope, verdict: "the level that applies")
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
