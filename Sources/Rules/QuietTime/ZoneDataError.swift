/// Why the data of a time zone cannot be used.
public enum ZoneDataError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A name that the IANA database, as installed, does not have, neither itself nor as a link.
  case unknownName(String)
  /// None of these folders is there.
  case noDatabase(folders: [String])
  /// A file or folder that is there and cannot be read, with the system's reason.
  case unreadable(file: String, reason: String)
  /// A file that is damaged, or of a form that is not supported.
  case malformed(file: String, reason: String)

  /// What is wrong, where, and what to do, in one line.
  public var description: String {
    switch self {
    case .unknownName(let name): "\"\(name)\" is not a time zone; give an IANA name"
    case .noDatabase(let folders):
      "no time-zone database in \(folders.joined(separator: " or ")); install tzdata, or set "
        + "TZDIR to the folder of compiled time zones"
    case .unreadable(let file, let reason): "time-zone data \(file) cannot be read: \(reason)"
    case .malformed(let file, let reason):
      "time-zone data \(file) is malformed: \(reason); install tzdata again"
    }
  }
}
