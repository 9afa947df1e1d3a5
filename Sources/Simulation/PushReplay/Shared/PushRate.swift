/// How many pushes a second a provider takes, as people write it: `10000/s`.
public struct PushRate: Hashable, Sendable {
  /// The pushes of a second.
  public let perSecond: Int

  /// nil for a text that is no rate from 1/s to 1,000,000,000,000/s.
  public init?(_ text: String) {
    guard text.hasSuffix("/s"), let perSecond = Int(text.dropLast(2)),
      (1...1_000_000_000_000).contains(perSecond)
    else { return nil }
    self.perSecond = perSecond
  }
}
