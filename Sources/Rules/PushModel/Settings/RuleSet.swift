/// Whose rules decide: a vendor's, or the open ones.
///
/// What a rule set has is asked of its properties, such as ``kinds``, ``levels`` and ``fields``.
/// The rules themselves, and everything else that differs, stand in files of folders named
/// `RuleSets`; only there is a rule set compared or switched over, so that the compiler lists the
/// code that a new one needs.
public enum RuleSet: String, CaseIterable, Sendable {
  /// Easemob IM 3.9.2 and later: rules E-1 to E-69.
  case easemob
  /// RongCloud IM 5.2.2 and later: rules.
  case rongcloud
  /// Open rules, for those who run a chat of their own: rules O-1 to O-43.
  case open
}
