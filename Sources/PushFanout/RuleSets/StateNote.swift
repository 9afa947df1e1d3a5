internal import PushModel

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
