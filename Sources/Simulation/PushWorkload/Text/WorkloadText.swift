internal import PushModel
internal import PushSupport

/// How the files of a generated world are written.
public enum WorkloadFormat: String, CaseIterable, Sendable {
  /// users.csv, members.csv, messages.csv and presence.csv, and what CSV cannot say in
  /// settings.ndjson and changes.ndjson.
  case csv
  /// settings.ndjson, messages.ndjson, changes.ndjson, and presence.csv, which has no other form.
  case ndjson
}

/// A generated world as the files that `push-fanout` reads: bytes, a piece at a time.
///
/// - Source: docs/formats.md.
public struct WorkloadText: Sendable {
  let workload: Workload
  let format: WorkloadFormat

  /// One of the files.
  public enum File: String, CaseIterable, Sendable {
    /// The file of that name, as docs/formats.md describes it.
    case settings, users, members, messages, presence, changes
  }

  /// The files of a world in a format; nothing is made yet.
  ///
  /// - Parameter format: not under rules with roles and keywords, whose worlds are NDJSON alone:
  ///   CSV has no columns of them.
  public init(_ workload: Workload, _ format: WorkloadFormat) {
    self.workload = workload
    self.format = workload.options.rules.fitsColumns ? format : .ndjson
  }

  /// The files that the world has, in the order in which they are read.
  ///
  /// CSV has no devices and no levels of RongCloud's users: users who may have them are in the
  /// settings. Without messages there is no file of them, nor without changes,
  /// nor where presence is none (``Workload/hasPresence``).
  public var files: [File] {
    let left: Set<File> =
      format == .ndjson ? [.users, .members] : usersAreInSettings ? [.users] : []
    return File.allCases.filter { file in
      !left.contains(file) && (file != .messages || workload.messageCount > 0)
        && (file != .presence || workload.hasPresence)
        && (file != .changes || workload.changeCount > 0)
    }
  }

  /// A file's name, whatever the world.
  public static func name(of file: File, _ format: WorkloadFormat) -> String {
    switch file {
    case .settings: "settings.ndjson"
    case .presence: "presence.csv"
    case .changes: "changes.ndjson"
    case .users, .members, .messages: "\(file.rawValue).\(format.rawValue)"
    }
  }

  /// The file's name in this format.
  public func name(of file: File) -> String { Self.name(of: file, format) }

  /// How many rows a file will have; of presence, about.
  public func rowCount(of file: File) -> Int {
    switch file {
    case .settings:
      1 + (usersAreInSettings ? workload.userCount : 0)
        + (format == .ndjson ? workload.membershipCount : 0)
    case .users: workload.userCount
    case .members: workload.membershipCount
    case .messages: workload.messageCount
    case .presence: GeneratedSessions(workload).expectedChangeCount
    case .changes: workload.changeCount
    }
  }

  var usersAreInSettings: Bool {
    let people = workload.options.people
    let fields = workload.options.rules.fields
    let hasLevels = people.mentionLevelShare > 0 || people.noneLevelShare > 0
    return format == .ndjson || people.listsDevices
      || !fields.contains(.userLevel) && hasLevels
  }

  /// Puts a file together and hands it over in order.
  ///
  /// - Parameters:
  ///   - threads: how many put pieces together; the bytes are the same with any number.
  ///   - sink: gets the next bytes and how many rows they are.
  /// - Memory: some megabytes a thread, in addition to what messages and presence need.
  public func write<Problem: Error>(
    _ file: File, threads: Int, to sink: @escaping ([UInt8], _ rows: Int) throws(Problem) -> Void
  ) throws(Problem) {
    let pieces = TextPieces(threads: Workload.usefulThreads(threads), sink: sink)
    switch file {
    case .settings: try writeSettings(pieces)
    case .users: try writeUsers(pieces)
    case .members: try writeMembers(pieces)
    case .messages: try writeMessages(pieces)
    case .presence: try writePresence(pieces)
    case .changes: try writeChanges(pieces)
    }
  }

  // MARK: The files

  private func writeSettings<Problem>(_ pieces: TextPieces<Problem>) throws(Problem) {
    let rows = SettingsRows(workload, isJSON: true)
    try pieces.sink(rows.app(), 1)
    try writeConversations(pieces, rows)
    if usersAreInSettings { try write(users: rows, pieces) }
    if format == .ndjson { try write(members: rows, pieces) }
  }

  private func writeConversations<Problem>(
    _ pieces: TextPieces<Problem>, _ rows: SettingsRows
  ) throws(Problem) {
    guard workload.options.hasOpenFacts || ConversationKind.ultraGroup.exists(under: rows.rules)
    else { return }
    var bytes: [UInt8] = []
    for room in 0..<workload.roomCount {
      rows.append(conversationsOfRoom: room, to: &bytes)
      if bytes.count > 1 << 16 {
        try pieces.sink(bytes, 0)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try pieces.sink(bytes, 0)
  }

  private func writeUsers<Problem>(_ pieces: TextPieces<Problem>) throws(Problem) {
    let rows = SettingsRows(workload, isJSON: false)
    try pieces.sink(rows.userHeader, 0)
    try write(users: rows, pieces)
  }

  private func write<Problem>(
    users rows: SettingsRows, _ pieces: TextPieces<Problem>
  ) throws(Problem) {
    let size = 1 << 14
    let count = workload.userCount
    try pieces.write(count: (count + size - 1) / size) { piece, bytes in
      let users = piece * size..<min(count, (piece + 1) * size)
      for user in users { rows.append(user: user, to: &bytes) }
      return users.count
    }
  }

  private func writeMembers<Problem>(_ pieces: TextPieces<Problem>) throws(Problem) {
    let rows = SettingsRows(workload, isJSON: false)
    try pieces.sink(rows.memberHeader, 0)
    try write(members: rows, pieces)
  }

  private func write<Problem>(
    members rows: SettingsRows, _ pieces: TextPieces<Problem>
  ) throws(Problem) {
    var cutter = RoomPieces(workload)
    while true {
      let batch = (0..<pieces.batch).map { _ in cutter.next() }.filter { !$0.isEmpty }
      if batch.isEmpty { return }
      try pieces.write(count: batch.count) { piece, bytes in
        for part in batch[piece] { rows.append(part, to: &bytes) }
        return batch[piece].reduce(0) { $0 + $1.ranks.count }
      }
    }
  }

  private func writeChanges<Problem>(_ pieces: TextPieces<Problem>) throws(Problem) {
    let rows = SettingsRows(workload, isJSON: true)
    let size = 1 << 12
    let count = workload.changeCount
    try pieces.write(count: (count + size - 1) / size) { piece, bytes in
      let numbers = piece * size..<min(count, (piece + 1) * size)
      for number in numbers { rows.append(workload.change(number), to: &bytes) }
      return numbers.count
    }
  }
}
