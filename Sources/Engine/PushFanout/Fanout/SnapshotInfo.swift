/// The identity of a snapshot's store: 16 bytes chosen by the store, for example at random when it
/// is created.
public struct SnapshotIdentity: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes, big-endian.
  public let high: UInt64
  /// The last eight bytes, big-endian.
  public let low: UInt64

  /// Creates an identity from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits.
  public var description: String {
    [high, low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The information in the header of a snapshot.
public struct SnapshotInfo: Hashable, Sendable {
  /// The identity of the store that it belongs to.
  public let identity: SnapshotIdentity
  /// The sequence number that the caller gave the settings, for example that of the last change.
  public let sequence: UInt64
  /// The size of the file in bytes.
  public let byteCount: Int

  init(identity: SnapshotIdentity, sequence: UInt64, byteCount: Int) {
    self.identity = identity
    self.sequence = sequence
    self.byteCount = byteCount
  }
}
