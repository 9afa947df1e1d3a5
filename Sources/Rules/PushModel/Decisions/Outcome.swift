/// What happens for one recipient of one message.
public enum Action: UInt8, CaseIterable, Sendable {
  /// A remote push.
  case push = 0
  /// A notification that the recipient's app shows itself.
  case local = 1
  /// Nothing: `none` in files.
  case suppress = 2

  /// The action's name in files.
  public var name: String { self == .suppress ? "none" : Self.caseNames[Int(rawValue)] }

  private static let caseNames = allCases.map { "\($0)" }
}

/// Why a decision came out as it did. The raw value is stable; the name of a case is its name in
/// files.
public enum Reason: UInt8, CaseIterable, Sendable {
  /// The level lets the message through.
  case allowed = 0
  /// Force changed the outcome (E-41a).
  case forced = 1
  /// The conversation is a chat room (E-60, R-44).
  case chatRoom = 2
  /// The message is delivered to connected devices only (E-61).
  case onlineOnly = 3
  /// Messages of this type are not pushed (E-62, R-44).
  case messageType = 4
  /// The sender asked for no push (E-40, R-42).
  case silentMessage = 5
  /// The message is too old (E-69).
  case expired = 6
  /// The user is connected (E-65, R-50).
  case online = 7
  /// Inside the user's quiet hours (E-30, R-20).
  case quietHours = 8
  /// A do-not-disturb duration is running (E-35, E-22).
  case muted = 9
  /// The level lets no message through.
  case levelNone = 10
  /// The level lets only mentions through, and the message is none of them.
  case notMentioned = 11
  /// A mention level in a direct chat.
  case directChatLevel = 12
  /// All devices are kicked (E-66).
  case kicked = 13
  /// All devices are logged out.
  case loggedOut = 14
  /// No device that could get the push has a token (E-68).
  case noToken = 15
  /// The message's device filter leaves no device (E-50).
  case filtered = 16
  /// No local notification in ultra groups, and of backlog or unpersisted messages.
  case localIneligible = 17
  /// The app shows no local notifications.
  case localDisabled = 18
  /// The user's app lacks the names to show.
  case localInfoMissing = 19
  /// The user's app handles local notifications itself.
  case localHandledByApp = 20
  /// The recipient blocks the sender (open rules, O-42).
  case senderBlocked = 21
  /// Nothing in the thread concerns the recipient, who does not follow it (O-42).
  case notFollowing = 22
  /// The level has none of the message's classes (O-42).
  case levelExcludes = 23

  /// The reason's name in files.
  public var name: String { Self.caseNames[Int(rawValue)] }

  private static let caseNames = allCases.map { "\($0)" }
}

/// The scope of the setting that decided. The raw value is stable; the name of a case is its name
/// in files.
public enum Scope: UInt8, CaseIterable, Sendable {
  /// The user's quiet hours.
  case quietHours = 0
  /// The user's level for the channel of an ultra group.
  case channel = 1
  /// The user's settings for the conversation.
  case conversation = 2
  /// The user's level for this kind of conversation.
  case type = 3
  /// The default of the channel of an ultra group.
  case channelDefault = 4
  /// The default of the ultra group.
  case groupDefault = 5
  /// The level of the App Key.
  case appKey = 6
  /// The user's settings for the whole app (E-20).
  case app = 7
  /// Nothing is set anywhere.
  case `default` = 8
  /// The user's settings for the thread (open rules, O-42).
  case thread = 9
  /// The user's settings for everything (O-42).
  case user = 10
  /// The conversation's default level (O-42).
  case conversationDefault = 11
  /// The app's default level or quiet windows (O-42).
  case appDefault = 12

  /// The scope's name in files.
  public var name: String { Self.caseNames[Int(rawValue)] }

  private static let caseNames = allCases.map { "\($0)" }
}

/// Action, reason and scope of one decision (§5).
public struct Outcome: Hashable, Sendable {
  /// What happens.
  public let action: Action
  /// Why it happens.
  public let reason: Reason
  /// nil when no setting decided.
  public let scope: Scope?

  /// An outcome; not every combination is one that the rules can give.
  public init(_ action: Action, _ reason: Reason, _ scope: Scope? = nil) {
    self.action = action
    self.reason = reason
    self.scope = scope
  }

  /// `action/reason` or `action/reason/scope`, the key of a count in files.
  public var key: String {
    "\(action.name)/\(reason.name)" + (scope.map { "/\($0.name)" } ?? "")
  }

  /// Every outcome has an index below this.
  public static let indexCount = Action.allCases.count * 32 * 16

  /// A number of its own for each outcome, 0 ..< ``indexCount``, for tables.
  public var index: Int {
    (Int(action.rawValue) * 32 + Int(reason.rawValue)) * 16 + (scope.map { Int($0.rawValue) } ?? 15)
  }

  /// The outcome of an index.
  ///
  /// - Returns: nil for an index that no outcome has.
  public init?(index: Int) {
    guard (0..<Self.indexCount).contains(index),
      let action = Action(rawValue: UInt8(index / 512)),
      let reason = Reason(rawValue: UInt8(index / 16 % 32))
    else { return nil }
    if index % 16 == 15 {
      self.init(action, reason)
    } else if let scope = Scope(rawValue: UInt8(index % 16)) {
      self.init(action, reason, scope)
    } else {
      return nil
    }
  }
}

/// A byte for every outcome that the rules can give, for tables, arrays and stored results.
///
/// 0 means "not a recipient". A push has an odd code and nothing else does, so that pushes are
/// counted by adding the lowest bit of codes. Codes are frozen: none ever changes its meaning or is
/// used again, and new outcomes get the next free ones.
///
/// - Source: docs/outcome-codes.csv, which lists them.
extension Outcome {
  /// The version of the registry: the number of its outcomes, to which later versions only add.
  ///
  /// What was stored with a version is understood with the same one and with every higher one.
  public static let registryVersion = coded.count

  /// Every code is below this.
  public static let codeCount = 160

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
    // Open rules.
    for scope in [Scope.thread, .user, .conversationDefault, .appDefault] {
      pushes += [Outcome(.push, .allowed, scope), Outcome(.push, .forced, scope)]
      others += [
        Outcome(.suppress, .levelNone, scope), Outcome(.suppress, .levelExcludes, scope),
      ]
    }
    others += [
      Outcome(.suppress, .levelExcludes, .conversation), Outcome(.suppress, .muted, .thread),
      Outcome(.suppress, .muted, .user), Outcome(.suppress, .quietHours, .user),
      Outcome(.suppress, .quietHours, .appDefault), Outcome(.suppress, .senderBlocked),
      Outcome(.suppress, .notFollowing),
    ]
    // Pushes have the odd codes, all others the even ones.
    return (1...2 * max(pushes.count, others.count)).compactMap { code in
      let (list, index) = (code % 2 != 0 ? pushes : others, (code - 1) / 2)
      return index < list.count ? (code: UInt8(code), outcome: list[index]) : nil
    }
  }()

  /// All outcomes, those without a code too, by the byte order of their keys, which are ASCII.
  package static let inOrderOfKeys: [Outcome] = {
    let outcomes = (0..<indexCount).compactMap { Outcome(index: $0) }
    let byKey = Dictionary(uniqueKeysWithValues: outcomes.map { ($0.key, $0) })
    return byKey.keys.sorted().compactMap { byKey[$0] }
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

/// The answer for one recipient: the outcome, and to which devices it goes.
public struct Decision: Hashable, Sendable {
  /// Action, reason and scope.
  public let outcome: Outcome
  /// The devices of a push or local notification, in the order they are listed; empty otherwise.
  public let devices: [Identifier]

  /// A decision for these devices.
  public init(_ outcome: Outcome, devices: [Identifier] = []) {
    self.outcome = outcome
    self.devices = devices
  }
}

/// How often each outcome occurred.
///
/// - Memory: 12 kB, whatever is counted.
public struct OutcomeCounts: Sendable, Equatable {
  private var counts = [Int](repeating: 0, count: Outcome.indexCount)

  /// Counts of 0.
  public init() {}

  /// Counts an outcome, `times` times.
  ///
  /// - Complexity: O(1).
  public mutating func add(_ outcome: Outcome, _ times: Int = 1) { counts[outcome.index] += times }

  /// Adds the counts of another value.
  public mutating func add(_ other: OutcomeCounts) {
    for index in counts.indices { counts[index] += other.counts[index] }
  }

  /// Sets every count to 0.
  public mutating func removeAll() {
    for index in counts.indices { counts[index] = 0 }
  }

  /// How often an outcome occurred.
  public subscript(outcome: Outcome) -> Int { counts[outcome.index] }

  /// How many outcomes were counted.
  public var total: Int { counts.reduce(0, +) }

  /// How many outcomes with an action were counted.
  public func total(of action: Action) -> Int {
    counts.indices.reduce(0) { sum, index in
      counts[index] > 0 && Outcome(index: index)?.action == action ? sum + counts[index] : sum
    }
  }

  /// The outcomes that occurred, by the byte order of their keys.
  public var nonZero: [(outcome: Outcome, count: Int)] {
    Outcome.inOrderOfKeys.compactMap { outcome in
      let count = counts[outcome.index]
      return count > 0 ? (outcome: outcome, count: count) : nil
    }
  }
}
