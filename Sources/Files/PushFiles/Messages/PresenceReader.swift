public import PushFanout
public import PushModel

/// That a user came online, or went offline: in a conversation, or as such.
public struct PresenceChange: Hashable, Sendable {
  /// When.
  public let at: Instant
  /// nil for a connection that belongs to no conversation.
  public let conversation: Identifier?
  /// The user who came online or went offline.
  public let user: Identifier
  /// Whether the user came online.
  public let isOnline: Bool

  /// Creates a change; without a conversation it is of the user as such.
  public init(at: Instant, conversation: Identifier?, user: Identifier, isOnline: Bool) {
    self.at = at
    self.conversation = conversation
    self.user = user
    self.isOnline = isOnline
  }
}

/// Reads presence one row at a time from CSV.
///
/// - Memory: one piece of the file, whatever its size.
/// - Source: formats.md, "presence.csv".
public final class PresenceReader {
  static let layout = CSVLayout(
    name: "presence rows", columns: ["ts", "conversation", "user", "online"],
    required: ["ts", "user", "online"])

  private let table: CSVTable

  /// - Throws: a problem with the file itself or with its header.
  public init(path: String) throws(FileProblem) {
    table = try FileSource.path(path).table(Self.layout)
  }

  /// Reads bytes as a file of that name would be read.
  ///
  /// - Throws: as ``init(path:)``.
  public init(_ bytes: [UInt8], name: String) throws(FileProblem) {
    table = try FileSource.bytes(bytes, name: name).table(Self.layout)
  }

  /// The next row; nil at the end of the file.
  ///
  /// - Throws: what is wrong with the next line. If ``FileProblem/isOfOneLine``, the call after
  ///   goes on behind it.
  public func next() throws(FileProblem) -> PresenceChange? {
    try table.located { () throws(FileProblem.Problem) in
      guard let row = try table.next() else { return nil }
      guard let at = try row.instant(0, "ts") else { throw .missingField("ts") }
      guard let user = row.identifier(2) else { throw .missingField("user") }
      guard let isOnline = try row.flag(3, "online") else { throw .missingField("online") }
      return PresenceChange(at: at, conversation: row.identifier(1), user: user, isOnline: isOnline)
    }
  }

  /// The 1-based line of the row that was read last.
  public var lineNumber: Int { table.lineNumber }
}

/// Reads heartbeats one line at a time from NDJSON.
///
/// - Memory: one line, whatever the file's size.
/// - Source: formats.md, "presence.ndjson"; O-30.
public final class HeartbeatReader {
  private static let names = ["user", "device", "state", "seenAt"]

  private let lines: JSONLines

  /// - Throws: a problem with the file itself.
  public init(path: String) throws(FileProblem) { lines = try FileSource.path(path).lines() }

  /// Reads bytes as a file of that name would be read.
  ///
  /// - Throws: as ``init(path:)``.
  public init(_ bytes: [UInt8], name: String) throws(FileProblem) {
    lines = try FileSource.bytes(bytes, name: name).lines()
  }

  /// The next heartbeat; nil at the end of the file.
  ///
  /// - Throws: what is wrong with the next line. If ``FileProblem/isOfOneLine``, the call after
  ///   goes on behind it.
  public func next() throws(FileProblem) -> Heartbeat? {
    try lines.located { () throws(FileProblem.Problem) in try lines.next().map(Self.read) }
  }

  /// The path of the file, or the name given to bytes.
  public var path: String { lines.path }

  /// The 1-based line that was read last.
  public var lineNumber: Int { lines.lineNumber }

  private static func read(_ line: JSONValue) throws(FileProblem.Problem) -> Heartbeat {
    var user: Identifier?
    var device: Identifier?
    var state: Device.State?
    var seenAt: Instant?
    for (key, value) in line.fields {
      switch key {
      case "user": user = try value.identifier("user")
      case "device": device = try value.identifier("device")
      case "state": state = try value.choice("state")
      case "seenAt": seenAt = try value.instant("seenAt")
      default: throw .unknownField(key.text, among: names)
      }
    }
    guard let user else { throw .missingField("user") }
    guard let device else { throw .missingField("device") }
    guard let state else { throw .missingField("state") }
    return Heartbeat(user: user, device: device, state: state, seenAt: seenAt)
  }
}

extension FileProblem.Problem {
  /// What an engine refuses of a heartbeat.
  public init(_ error: FanoutError) {
    switch error {
    case .unknownUser(let id): self = .unknownUser(id.text)
    case .unknownDevice(let device, let user): self = .unknownDevice(device.text, of: user.text)
    default: self = .cannotApply("\(error)")
    }
  }
}
