public import QuietTime

/// Why a snapshot was not written or cannot be used. A caller that cannot use one builds the engine
/// from its records; nothing is lost with a snapshot.
public struct SnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Problem: Error, Hashable {
    /// What the system said when the file was opened or mapped.
    case cannotOpen(String)
    /// What the system said when the file was written; nothing of it is left.
    case cannotWrite(String)
    /// A folder, a pipe or the like.
    case notAFile
    /// Something else, or a file that is shorter than a header.
    case notASnapshot
    /// Another version of the format or of the engine's tables, or another kind of machine.
    case otherVersion(String)
    /// Of another store.
    case otherIdentity(SnapshotIdentity)
    /// Cut off, or something was added.
    case wrongSize(found: Int, expected: UInt64)
    /// The bytes of a section, or of the header, are not those that were written.
    case wrongChecksum(section: String)
    /// The bytes are those that were written, but nothing that the engine writes.
    case malformed(section: String, String)
    /// A time zone that was known when the snapshot was written.
    case unknownTimeZone(String)
    /// Written with another version of the time-zone data than the system's.
    case otherTimeZoneData(found: String, expected: String)
    /// The system's time-zone data cannot be used.
    case timeZoneData(ZoneDataError)
  }

  public let path: String
  public let problem: Problem

  public init(path: String, problem: Problem) {
    self.path = path
    self.problem = problem
  }

  /// The file and what is wrong, in one line.
  public var description: String {
    let what =
      switch problem {
      case .cannotOpen(let reason): "cannot be opened: \(reason)"
      case .cannotWrite(let reason): "cannot be written: \(reason)"
      case .notAFile: "is no regular file"
      case .notASnapshot: "is no snapshot"
      case .otherVersion(let what): "was written by another version: \(what)"
      case .otherIdentity(let identity): "belongs to another store, \(identity)"
      case .wrongSize(let found, let expected):
        "is damaged: \(found) bytes instead of \(expected)"
      case .wrongChecksum(let section): "is damaged: wrong checksum of \(section)"
      case .malformed(let section, let what): "is malformed: \(section): \(what)"
      case .unknownTimeZone(let name): "has an unknown time zone: \"\(name)\""
      case .otherTimeZoneData(let found, let expected):
        "was written with time-zone data \(found), and the system's are \(expected)"
      case .timeZoneData(let error): "cannot be used: \(error)"
      }
    return "snapshot \(path) \(what)"
  }
}

extension SnapshotError.Problem {
  init(_ error: ZoneDataError) {
    if case .unknownName(let name) = error {
      self = .unknownTimeZone(name)
    } else {
      self = .timeZoneData(error)
    }
  }
}

/// Which store a snapshot belongs to: 16 bytes that the store has chosen, as for example at random
/// when it was made.
public struct SnapshotIdentity: Hashable, Sendable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

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

/// What the header of a snapshot says.
public struct SnapshotInfo: Hashable, Sendable {
  public let identity: SnapshotIdentity
  /// The number that the caller gave the settings in it, as for example that of the last change.
  public let sequence: UInt64
  /// The size of the file.
  public let byteCount: Int

  /// Reads the header of a snapshot, and nothing else, as for finding the newest of several.
  ///
  /// - Throws: ``SnapshotError``; that the header is right does not say that the rest is.
  /// - Complexity: O(1).
  public init(path: String) throws(SnapshotError) {
    let mapping = try Mapping(path: path)
    self = try SnapshotHeader(of: mapping, path: path).info
  }

  init(identity: SnapshotIdentity, sequence: UInt64, byteCount: Int) {
    self.identity = identity
    self.sequence = sequence
    self.byteCount = byteCount
  }
}
