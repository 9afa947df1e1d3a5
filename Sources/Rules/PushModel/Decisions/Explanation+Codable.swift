// Explanations and decisions as Codable values, with the keys that the command line writes: what is
// absent is left out, outcomes are written by name, instants are Unix milliseconds.

extension Identifier: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension Decision: Codable {
  private enum Key: String, CodingKey { case action, reason, scope, devices }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let outcome = Outcome(
      try container.named(Action.allCases, \.name, .action),
      try container.named(Reason.allCases, \.name, .reason),
      container.contains(.scope) ? try container.named(Scope.allCases, \.name, .scope) : nil)
    self.init(
      outcome, devices: try container.decodeIfPresent([Identifier].self, forKey: .devices) ?? [])
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(outcome.action.name, forKey: .action)
    try container.encode(outcome.reason.name, forKey: .reason)
    try container.encodeIfPresent(outcome.scope?.name, forKey: .scope)
    if !devices.isEmpty { try container.encode(devices, forKey: .devices) }
  }
}

extension TraceStep: Codable {
  private enum Key: String, CodingKey { case rule, subject, found, scope, stops, decides }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      rule: try container.decode(String.self, forKey: .rule),
      subject: try container.decode(String.self, forKey: .subject),
      found: try container.decode(String.self, forKey: .found),
      scope: container.contains(.scope) ? try container.named(Scope.allCases, \.name, .scope) : nil,
      stops: try container.decode(Bool.self, forKey: .stops))
    decides = try container.decode(Bool.self, forKey: .decides)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(rule, forKey: .rule)
    try container.encode(subject, forKey: .subject)
    try container.encode(found, forKey: .found)
    try container.encodeIfPresent(scope?.name, forKey: .scope)
    try container.encode(stops, forKey: .stops)
    try container.encode(decides, forKey: .decides)
  }
}

extension Explanation: Codable {
  private enum Key: String, CodingKey {
    case message, conversation, user, at, steps, decision, answer, alternatives, timeZone, settings
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let at = try container.decode(Int64.self, forKey: .at)
    guard (0...Instant.maximumMilliseconds).contains(at) else {
      throw DecodingError.dataCorruptedError(
        forKey: .at, in: container, debugDescription: "\(at) is not an instant")
    }
    self.init(
      message: try container.decode(Identifier.self, forKey: .message),
      conversation: try container.decode(Identifier.self, forKey: .conversation),
      user: try container.decode(Identifier.self, forKey: .user),
      at: Instant(milliseconds: at),
      steps: try container.decode([TraceStep].self, forKey: .steps),
      decision: try container.decodeIfPresent(Decision.self, forKey: .decision))
    alternatives = try container.decode([Alternative].self, forKey: .alternatives)
    timeZone = try container.decode(String.self, forKey: .timeZone)
    settings = try container.decodeIfPresent(String.self, forKey: .settings)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(message, forKey: .message)
    try container.encode(conversation, forKey: .conversation)
    try container.encode(user, forKey: .user)
    try container.encode(at.milliseconds, forKey: .at)
    try container.encode(steps, forKey: .steps)
    try container.encodeIfPresent(decision, forKey: .decision)
    try container.encode(answer, forKey: .answer)
    try container.encode(alternatives, forKey: .alternatives)
    try container.encode(timeZone, forKey: .timeZone)
    try container.encodeIfPresent(settings, forKey: .settings)
  }
}

extension Explanation.Alternative: Codable {
  private enum Key: String, CodingKey { case change, at, otherMessage, decision }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      try container.decode(Change.self, forKey: .change),
      at: try container.decodeIfPresent(Int64.self, forKey: .at).map { Instant(milliseconds: $0) },
      isOtherMessage: try container.decodeIfPresent(Bool.self, forKey: .otherMessage) ?? false,
      try container.decode(Decision.self, forKey: .decision))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(change, forKey: .change)
    try container.encodeIfPresent(at?.milliseconds, forKey: .at)
    if isOtherMessage { try container.encode(true, forKey: .otherMessage) }
    try container.encode(decision, forKey: .decision)
  }
}

extension KeyedDecodingContainer {
  /// The value of a name.
  fileprivate func named<Value>(
    _ values: [Value], _ name: (Value) -> String, _ key: Key
  ) throws -> Value {
    let text = try decode(String.self, forKey: key)
    guard let value = values.first(where: { name($0) == text }) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "\"\(text)\" is not one of its values")
    }
    return value
  }
}
