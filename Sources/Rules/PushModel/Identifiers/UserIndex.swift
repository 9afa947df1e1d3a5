/// A user's position in the order in which user ids first appeared. Decisions are listed in it.
public struct UserIndex: Hashable, Comparable, Sendable {
  /// The index as a number, from 0.
  public let rawValue: UInt32
  /// The index of a number.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (left: UserIndex, right: UserIndex) -> Bool {
    left.rawValue < right.rawValue
  }
}
