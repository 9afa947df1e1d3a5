// Ids and decisions as Codable values, with the keys that the command line writes: what is
// absent is left out, outcomes are written by name.

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
