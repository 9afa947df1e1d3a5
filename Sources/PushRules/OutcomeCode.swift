/// A byte for every outcome that the rules can give, for tables, arrays and stored results.
///
/// 0 stands for "not a recipient". A push has an odd code and nothing else does, so that pushes are
/// counted by adding the lowest bit of codes. Codes are frozen: none ever changes its meaning or is
/// used again, and new outcomes get the next free ones.
///
/// - Source: docs/outcome-codes.csv, which lists them.
extension Outcome {
  /// Every code is below this.
  public static let codeCount = 128

  /// The outcome's code; 0 for one that no rule gives.
  public var code: UInt8 { Self.codes[index] }

  /// The outcome of a code.
  ///
  /// - Returns: nil for 0 and for a code that no outcome has.
  public init?(code: UInt8) {
    guard code < Self.codeCount, let outcome = Self.outcomes[Int(code)] else { return nil }
    self = outcome
  }

  /// All outcomes that have a code, with it, in the order of codes.
  ///
  /// The order of the two lists is frozen: new outcomes are only ever appended at the end of one.
  public static let coded: [(code: UInt8, outcome: Outcome)] = {
    var pushes: [Outcome] = []
    var others: [Outcome] = []
    // Not all cases: a new scope must not move the codes behind it.
    let scopes: [Scope] = [
      .quietHours, .channel, .conversation, .type, .channelDefault, .groupDefault, .appKey, .app,
      .default,
    ]
    for scope in scopes {
      pushes += [Outcome(.push, .allowed, scope), Outcome(.push, .forced, scope)]
      others.append(Outcome(.local, .allowed, scope))
      for reason in [Reason.levelNone, .notMentioned, .directChatLevel] {
        others.append(Outcome(.suppress, reason, scope))
      }
    }
    others += [
      Outcome(.suppress, .quietHours, .quietHours), Outcome(.suppress, .quietHours, .app),
      Outcome(.suppress, .muted, .app), Outcome(.suppress, .muted, .conversation),
    ]
    let bare: [Reason] = [
      .chatRoom, .onlineOnly, .messageType, .silentMessage, .expired, .online, .kicked, .loggedOut,
      .noToken, .filtered, .localIneligible, .localDisabled, .localInfoMissing, .localHandledByApp,
    ]
    others += bare.map { Outcome(.suppress, $0) }
    let coded =
      pushes.enumerated().map { (code: UInt8(2 * $0.offset + 1), outcome: $0.element) }
      + others.enumerated().map { (code: UInt8(2 * $0.offset + 2), outcome: $0.element) }
    return coded.sorted { $0.code < $1.code }
  }()

  private static let codes: [UInt8] = {
    var codes = [UInt8](repeating: 0, count: indexCount)
    for (code, outcome) in coded { codes[outcome.index] = code }
    return codes
  }()

  private static let outcomes: [Outcome?] = {
    var outcomes = [Outcome?](repeating: nil, count: codeCount)
    for (code, outcome) in coded { outcomes[Int(code)] = outcome }
    return outcomes
  }()
}
