package import PushModel

extension WorkloadOptions {
  /// What only open rules have: without effect under others, and under ``WorkloadRates/first``.
  ///
  /// Source of all rates: assumed.
  public struct Open: Hashable, Sendable {
    /// The share of the users who have keywords.
    public var keywordShare = 0.2
    /// The share of the texts that have one of the words that people have as keywords.
    public var keywordTextShare = 0.1
    /// The share of the users who have important senders.
    public var importantSenderShare = 0.1
    /// The share of the users who block senders.
    public var blockedSenderShare = 0.03
    /// The share of the users with a mute that ends while the world's time runs.
    public var mutedUserShare = 0.03
    /// The share of the levels that let mentions through which name classes instead.
    public var classLevelShare = 0.3
    /// The share of the memberships that have roles.
    public var roleShare = 0.1
    /// The share of the memberships, and of the threads that somebody follows, that are important.
    public var importantShare = 0.03
    /// The share of the messages that mention a role, in rooms of 20 to 999 members.
    public var roleMentionShare = 0.01
    /// The share of the messages that are in threads, in rooms of at least 20 members; 0 for no
    /// threads.
    public var threadShare = 0.2

    /// The defaults.
    public init() {}
  }

  /// Whether people have what only open rules have.
  var hasOpenFacts: Bool { !rules.fitsColumns && rates != .first }

  /// Each share with the name of its knob.
  var openShares: [(knob: String, value: Double)] {
    [
      ("keyword-share", open.keywordShare), ("keyword-text-share", open.keywordTextShare),
      ("important-sender-share", open.importantSenderShare),
      ("blocked-sender-share", open.blockedSenderShare),
      ("muted-user-share", open.mutedUserShare), ("class-level-share", open.classLevelShare),
      ("role-share", open.roleShare), ("important-share", open.importantShare),
      ("role-mention-share", open.roleMentionShare), ("thread-share", open.threadShare),
    ]
  }
}

extension RuleSet {
  /// Whether CSV files have columns of all that people have by these rules.
  package var fitsColumns: Bool { fields.isDisjoint(with: [.keywords, .roles]) }
}
