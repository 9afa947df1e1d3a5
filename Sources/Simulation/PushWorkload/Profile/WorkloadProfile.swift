public import PushModel

/// The rates of a world, as they were measured, each with how sure it is.
///
/// ``flags`` are those of `push-fanout generate` for a world like it.
public struct WorkloadProfile: Hashable, Sendable {
  /// How much there is of everything.
  public struct Counts: Hashable, Sendable {
    /// How many users have settings, are members, or write.
    public var users = 0
    /// How many rooms have members or messages.
    public var rooms = 0
    /// How many memberships there are.
    public var memberships = 0
    /// How many messages were written by users.
    public var messages = 0
    /// How many messages have no sender, or one that is left out.
    public var otherMessages = 0
    /// How many rows of presence there are.
    public var presenceRows = 0
    /// How many settings changed along the way.
    public var changes = 0
  }

  /// How much there is.
  public let counts: Counts
  /// The instants of the first and the last message; nil without messages.
  public let time: ClosedRange<Instant>?
  /// The rates in the order of `generate`'s help; the numbers of a list follow each other.
  public let rates: [MeasuredRate]
  /// Rooms of more than 3,000 members, the largest first.
  public let giants: [Int]

  /// The first rate of a name, or that of a part.
  public func rate(_ name: String, _ part: String = "") -> MeasuredRate? {
    rates.first { $0.name == name && (part.isEmpty || $0.part == part) }
  }

  /// Flags of `push-fanout generate`: how much there is, and every rate that is sure enough.
  ///
  /// Of a list each number must be known; where rooms of a size are missing or few, those of the
  /// nearest size stand for them.
  public var flags: [String] {
    var flags = ["--users", "\(max(1, counts.users))", "--rooms", "\(counts.rooms)"]
    flags += ["--messages", "\(counts.rooms > 0 ? counts.messages : 0)"]
    if let time, time.lowerBound.milliseconds >= Self.earliestStart {
      let minute: Int64 = 60_000
      let minutes =
        (time.upperBound.milliseconds - time.lowerBound.milliseconds) / minute + 1
      flags += ["--start", time.lowerBound.rfc3339]
      flags += ["--duration", "\(min(minutes, Self.longestMinutes))m"]
    }
    let size = rate("median-size")
    if size?.estimate != nil || !giants.isEmpty {
      let list = giants.map { "\($0)" }.joined(separator: ",")
      flags += ["--giants", list.isEmpty ? "none" : list]
    }
    for name in names {
      if let value = value(of: rates.filter { $0.name == name }) { flags += ["--\(name)", value] }
    }
    return flags
  }

  /// The names of rates that were measured and are left out of ``flags``.
  public var namesLeftOut: [String] {
    names.filter { name in
      let rates = rates.filter { $0.name == name }
      return rates.contains { $0.isFlag && $0.estimate != nil } && value(of: rates) == nil
    }
  }

  private static let earliestStart: Int64 = 31_536_000_000
  private static let longestMinutes: Int64 = 3660 * 1440

  private var names: [String] {
    rates.reduce(into: []) { names, rate in
      if names.last != rate.name { names.append(rate.name) }
    }
  }

  /// What a flag is given; nil for nothing.
  private func value(of rates: [MeasuredRate]) -> String? {
    let given = rates.indices.filter { rates[$0].isGiven }
    guard !given.isEmpty else { return nil }
    switch rates[0].name {
    case "mute-shares", "active-shares", "shared-zone":
      let texts = rates.indices.map { index in
        given.min { abs($0 - index) < abs($1 - index) }.flatMap { rates[$0].text } ?? "0"
      }
      return texts.joined(separator: ",")
    case "mention-counts":
      // They add up to 1, whatever is rounded.
      guard given.count == rates.count else { return nil }
      let others = rates.dropFirst().map { Int((($0.estimate?.value ?? 0) * 10_000).rounded()) }
      let counts = [10_000 - others.reduce(0, +)] + others
      return counts.map { MeasuredRate.text(Double($0) / 10_000) }.joined(separator: ",")
    default:
      guard given.count == rates.count else { return nil }
      return rates.compactMap(\.text).joined(separator: ",")
    }
  }
}
