public import QuietTime

/// An error in writing or opening a snapshot. A snapshot is a cache: a caller that cannot use it
/// rebuilds the engine from its records.
public struct SnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with a snapshot.
  public enum Problem: Error, Hashable {
    /// The file cannot be opened or mapped, with the system's message.
    case cannotOpen(String)
    /// The file cannot be written, with the system's message. No file is left behind.
    case cannotWrite(String)
    /// The path is not a regular file.
    case notAFile
    /// The file is too short for a header, or does not begin like a snapshot.
    case notASnapshot
    /// The format, the engine's tables or the kind of machine differ.
    case otherVersion(String)
    /// The snapshot belongs to another store.
    case otherIdentity(SnapshotIdentity)
    /// The file was truncated or extended.
    case wrongSize(found: Int, expected: UInt64)
    /// A section or the header does not match its checksum.
    case wrongChecksum(section: String)
    /// The checksums match, but the content is invalid.
    case malformed(section: String, String)
    /// A time zone in the snapshot is unknown on this system.
    case unknownTimeZone(String)
    /// Written with another version of the time-zone data than the system's.
    case otherTimeZoneData(found: String, expected: String)
    /// The system's time-zone data cannot be used.
    case timeZoneData(ZoneDataError)
  }

  /// The path of the snapshot.
  public let path: String
  /// What is wrong with it.
  public let problem: Problem

  /// Creates an error for a snapshot.
  public init(path: String, problem: Problem) {
    self.path = path
    self.problem = problem
  }

  /// The file and the problem, in one line.
  public var description: String {
    let what =
      switch problem {
      case .cannotOpen(let reason): "cannot be opened: \(reason)"
      case .cannotWrite(let reason): "cannot be written: \(reason)"
      case .notAFile: "is not a regular file"
      case .notASnapshot: "is not a snapshot"
      case .otherVersion(let what): "has an unsupported version: \(what)"
      case .otherIdentity(let identity): "belongs to another store, \(identity)"
      case .wrongSize(let found, let expected):
        "is damaged: \(found) bytes, expected \(expected)"
      case .wrongChecksum(let section): "is damaged: checksum mismatch in \(section)"
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

extension SnapshotInfo {
  /// Reads only the header of a snapshot, for example to find the newest of several.
  ///
  /// - Throws: ``SnapshotError``. A valid header does not imply that the rest of the file is valid.
  /// - Complexity: O(1).
  public init(path: String) throws(SnapshotError) {
    let mapping = try Mapping(path: path)
    self = try SnapshotHeader(of: mapping, path: path).info
  }
}
