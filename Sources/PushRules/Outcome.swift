/// What happens for one recipient of one message.
public enum Action: UInt8, CaseIterable, Sendable {
  /// A remote push.
  case push = 0
  /// A notification that the recipient's app shows itself.
  case local = 1
  /// Nothing: `none` in files.
  case suppress = 2

  public var name: String {
    switch self {
    case .push: "push"
    case .local: "local"
    case .suppress: "none"
    }
  }
}

/// Why. The raw value is stable; the name of a case is its name in
/// files.
public enum Reason: UInt8, CaseIterable, Sendable {
  case allowed = 0
  /// Force changed the outcome (E-41a).
  case forced = 1
  case chatRoom = 2
  case onlineOnly = 3
  case messageType = 4
  case silentMessage = 5
  case expired = 6
  case online = 7
  case quietHours = 8
  case muted = 9
  case levelNone = 10
  case notMentioned = 11
  case directChatLevel = 12
  case kicked = 13
  case loggedOut = 14
  case noToken = 15
  case filtered = 16
  case localIneligible = 17
  case localDisabled = 18
  case localInfoMissing = 19
  case localHandledByApp = 20

  public var name: String {
    switch self {
    case .allowed: "allowed"
    case .forced: "forced"
    case .chatRoom: "chatRoom"
    case .onlineOnly: "onlineOnly"
    case .messageType: "messageType"
    case .silentMessage: "silentMessage"
    case .expired: "expired"
    case .online: "online"
    case .quietHours: "quietHours"
    case .muted: "muted"
    case .levelNone: "levelNone"
    case .notMentioned: "notMentioned"
    case .directChatLevel: "directChatLevel"
    case .kicked: "kicked"
    case .loggedOut: "loggedOut"
    case .noToken: "noToken"
    case .filtered: "filtered"
    case .localIneligible: "localIneligible"
    case .localDisabled: "localDisabled"
    case .localInfoMissing: "localInfoMissing"
    case .localHandledByApp: "localHandledByApp"
    }
  }
}

/// Where the setting lives that decided. The raw value is stable; the name of a case is its name in
/// files.
public enum Scope: UInt8, CaseIterable, Sendable {
  case quietHours = 0
  case channel = 1
  case conversation = 2
  case type = 3
  case channelDefault = 4
  case groupDefault = 5
  case appKey = 6
  case app = 7
  /// Nothing is set anywhere.
  case `default` = 8

  public var name: String {
    switch self {
    case .quietHours: "quietHours"
    case .channel: "channel"
    case .conversation: "conversation"
    case .type: "type"
    case .channelDefault: "channelDefault"
    case .groupDefault: "groupDefault"
    case .appKey: "appKey"
    case .app: "app"
    case .default: "default"
    }
  }
}

/// Action, reason and scope of one decision (§5).
public struct Outcome: Hashable, Sendable {
  public let action: Action
  public let reason: Reason
  /// nil when no setting decided.
  public let scope: Scope?

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

/// The answer for one recipient: the outcome, and to which devices it goes.
public struct Decision: Hashable, Sendable {
  public let outcome: Outcome
  /// The devices of a push or local notification, in the order they are listed; empty otherwise.
  public let devices: [Identifier]

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

  public init() {}

  public mutating func add(_ outcome: Outcome, _ times: Int = 1) { counts[outcome.index] += times }

  public mutating func add(_ other: OutcomeCounts) {
    for index in counts.indices { counts[index] += other.counts[index] }
  }

  public mutating func removeAll() {
    for index in counts.indices { counts[index] = 0 }
  }

  public subscript(outcome: Outcome) -> Int { counts[outcome.index] }

  public var total: Int { counts.reduce(0, +) }

  public func total(of action: Action) -> Int {
    nonZero.reduce(0) { $0 + ($1.outcome.action == action ? $1.count : 0) }
  }

  /// The outcomes that occurred, by the byte order of their keys.
  public var nonZero: [(outcome: Outcome, count: Int)] {
    counts.indices.compactMap { index in
      guard counts[index] > 0, let outcome = Outcome(index: index) else { return nil }
      return (outcome: outcome, count: counts[index])
    }.sorted { $0.outcome.key < $1.outcome.key }
  }
}
