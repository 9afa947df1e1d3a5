internal import PushFanout
public import PushFiles
public import PushModel
public import QuietTime

/// Something that happens at an instant.
public enum ReplayEvent: Sendable {
  /// A message is sent.
  case message(Message)
  /// A user goes online or offline.
  case presence(PresenceChange)
  /// A device says of itself, at an instant.
  case heartbeat(Heartbeat, at: Instant)
  /// A settings record replaces the one of the same key.
  case change(SettingsChange)

  /// When it happens.
  public var at: Instant {
    switch self {
    case .message(let message): message.at
    case .presence(let presence): presence.at
    case .heartbeat(_, let at): at
    case .change(let change): change.at
    }
  }
}

/// The files of a replay beside the settings. Each is sorted by time.
public struct ReplayFiles: Sendable {
  /// Paths of message files.
  public var messages: [String]
  /// Paths of presence.csv files, or of presence.ndjson files under open rules.
  public var presence: [String]
  /// Paths of changes.ndjson files.
  public var changes: [String]
  /// Whether time zones that the system does not have are problems of their lines in changes, as by
  /// default, or taken.
  public var unknownZones = UnknownZones.fail
  /// How messages are read, and which count.
  public var options = MessageOptions()

  /// The bytes that are read instead of files, by their names.
  public var contents: [String: [UInt8]] = [:]
  /// Messages that were read before, under the rules of the settings, and what problems call each list;
  /// their lines are their places from 1.
  public var read: [(name: String, messages: [Message])] = []

  /// Files by their paths; `-` is standard input, `csv:-` CSV on it.
  public init(messages: [String], presence: [String] = [], changes: [String] = []) {
    self.messages = messages
    self.presence = presence
    self.changes = changes
  }
}

/// Reads what happens from several files, in the order of time.
///
/// At one instant changes of settings come first, then presence, then messages; of one kind, the
/// files in the order they were named.
///
/// - Memory: a line of each file.
public final class ReplayEvents {
  /// One file, and its next event.
  private final class Input {
    let read: () throws(FileProblem) -> ReplayEvent?
    let path: String
    let line: () -> Int
    let progress: () -> Double?
    let byteCount: Int64?
    let isReply: () -> Bool
    /// What an event of it is called, and whether its bad lines may be left out.
    let name: String
    let mayBeSkipped: Bool
    var next: ReplayEvent?
    var nextLine = 0
    var last = Instant.zero

    init(
      _ path: String, _ name: String, mayBeSkipped: Bool, line: @escaping () -> Int,
      progress: @escaping () -> Double? = { nil }, byteCount: Int64? = nil,
      isReply: @escaping () -> Bool = { false },
      read: @escaping () throws(FileProblem) -> ReplayEvent?
    ) {
      self.path = path
      self.name = name
      self.mayBeSkipped = mayBeSkipped
      self.line = line
      self.progress = progress
      self.byteCount = byteCount
      self.isReply = isReply
      self.read = read
    }

    /// Reads the next event.
    func advance() throws(FileProblem) {
      next = nil
      guard let event = try read() else { return }
      nextLine = line()
      guard event.at >= last else {
        throw FileProblem(file: path, line: nextLine, problem: .outOfOrder(name))
      }
      last = event.at
      next = event
    }
  }

  private var inputs: [Input] = []
  private var messageInputs: [Input] = []
  private let skipped: ((FileProblem) -> Void)?
  /// What happens from then on does not count.
  private let end: Instant?
  /// Bad lines that were left out.
  public private(set) var skippedCount = 0
  /// The input of the event that was returned last.
  private var current: Input?

  /// Opens the files, of which the messages and changes are those of `rules`.
  ///
  /// - Parameter skipped: called with each bad line of messages or presence, which is then left
  ///   out; nil for a bad line to be an error.
  /// - Throws: what is wrong with a file or with its first line; standard input and pipes can be
  ///   named once only.
  public init(
    _ files: ReplayFiles, rules: RuleSet, skipped: ((FileProblem) -> Void)? = nil
  ) throws(FileProblem) {
    self.skipped = skipped
    end = files.options.slice.to
    var named: Set<String> = []
    for path in files.changes + files.presence + files.messages
    where !named.insert(FileKind.file(named: path)).inserted && files.contents[path] == nil {
      try FileProblem.checkCanBeReadAgain(path)
    }
    let slice = files.options.slice
    for path in files.changes {
      let reader =
        if let bytes = files.contents[path] {
          try SettingsChangeReader(
            bytes, name: path, rules: rules, unknownZones: files.unknownZones)
        } else {
          try SettingsChangeReader(path: path, rules: rules, unknownZones: files.unknownZones)
        }
      inputs.append(
        Input(path, "change", mayBeSkipped: false, line: { reader.lineNumber }) {
          () throws(FileProblem) in
          while let change = try reader.next() {
            if slice.takes(change.record) { return .change(change) }
          }
          return nil
        })
    }
    for path in files.presence {
      inputs.append(try Self.presence(path, files.contents[path], rules))
    }
    for name in files.messages {
      let reader =
        if let bytes = files.contents[name] {
          try MessageReader(bytes, name: name, rules: rules, files.options)
        } else {
          try MessageReader(path: name, rules: rules, files.options)
        }
      let input = Input(
        reader.path, "message", mayBeSkipped: true, line: { reader.lineNumber },
        progress: { reader.progress }, byteCount: reader.byteCount,
        isReply: { reader.isReply }
      ) { () throws(FileProblem) in try reader.next().map { .message($0) } }
      inputs.append(input)
      messageInputs.append(input)
    }
    for (name, messages) in files.read {
      var count = 0
      let input = Input(
        name, "message", mayBeSkipped: false, line: { count },
        progress: { messages.isEmpty ? 1 : Double(count) / Double(messages.count) }
      ) { () throws(FileProblem) in
        while count < messages.count {
          count += 1
          if slice.takes(messages[count - 1]) { return .message(messages[count - 1]) }
        }
        return nil
      }
      inputs.append(input)
      messageInputs.append(input)
    }
    for input in inputs { try advance(input) }
  }

  /// - Parameter bytes: what is read instead of the file.
  private static func presence(
    _ path: String, _ bytes: [UInt8]?, _ rules: RuleSet
  ) throws(FileProblem) -> Input {
    guard rules.fields.contains(.seenAt) else {
      if FileKind.named(path) == .ndjson {
        throw FileProblem(file: path, line: 1, problem: .presenceOfDevices(rules))
      }
      let reader =
        if let bytes { try PresenceReader(bytes, name: path) } else {
          try PresenceReader(path: path)
        }
      return Input(path, "row", mayBeSkipped: true, line: { reader.lineNumber }) {
        () throws(FileProblem) in try reader.next().map { .presence($0) }
      }
    }
    if FileKind(path: path) == .csv {
      throw FileProblem(file: path, line: 1, problem: .presenceOfUsers(rules))
    }
    let reader =
      if let bytes { try HeartbeatReader(bytes, name: path) } else {
        try HeartbeatReader(path: path)
      }
    // What has no instant of its own happens with the line before.
    var last = Instant.zero
    return Input(path, "heartbeat", mayBeSkipped: true, line: { reader.lineNumber }) {
      () throws(FileProblem) in
      guard let heartbeat = try reader.next() else { return nil }
      if let at = heartbeat.seenAt { last = at }
      return .heartbeat(heartbeat, at: last)
    }
  }

  /// The next event; nil when there is none.
  ///
  /// - Throws: what is wrong with a line, unless it is left out.
  public func next() throws(FileProblem) -> ReplayEvent? {
    if let read = current {
      current = nil
      try advance(read)
    }
    var earliest: Input?
    for input in inputs {
      guard let at = input.next?.at else { continue }
      if let known = earliest?.next?.at, known <= at { continue }
      earliest = input
    }
    guard let earliest, let event = earliest.next else { return nil }
    if let end, event.at >= end { return nil }
    current = earliest
    return event
  }

  /// A problem of the event that was read last, at its line; it is reported if such lines are left
  /// out.
  ///
  /// - Throws: the problem, if it is not.
  public func refuse(_ problem: FileProblem.Problem) throws(FileProblem) {
    guard let location else { return }
    try leaveOut(location.leftOut(problem))
  }

  /// The file and line of the event that was read last; nil when there was none.
  package var location: Location? {
    current.map {
      Location(
        file: $0.path, line: $0.nextLine, isReply: $0.isReply(), mayBeSkipped: maySkip($0))
    }
  }

  private func maySkip(_ input: Input) -> Bool { skipped != nil && input.mayBeSkipped }

  /// Where an event is written.
  package struct Location: Hashable, Sendable {
    package let file: String
    package let line: Int
    /// Whether it is a message that replies to another.
    let isReply: Bool
    /// Whether bad lines of this file are left out.
    let mayBeSkipped: Bool

    /// A problem of the event, at its line.
    ///
    /// - Throws: the problem, if the line is not left out.
    func leftOut(_ problem: FileProblem.Problem) throws(FileProblem) -> FileProblem {
      let problem = FileProblem(file: file, line: line, problem: problem)
      guard mayBeSkipped, problem.isOfOneLine else { throw problem }
      return problem
    }
  }

  /// The share of the messages' files that has been read, 0...1; nil when their sizes are not
  /// known.
  public var progress: Double? {
    var done = 0.0
    var all = 0.0
    for input in messageInputs {
      guard let share = input.next == nil ? 1 : input.progress(), let size = input.byteCount else {
        return nil
      }
      done += share * Double(size)
      all += Double(size)
    }
    return all > 0 ? done / all : nil
  }

  private func advance(_ input: Input) throws(FileProblem) {
    while true {
      do throws(FileProblem) { return try input.advance() } catch {
        guard maySkip(input), error.isOfOneLine else { throw error }
        leaveOut(error)
      }
    }
  }

  private func leaveOut(_ problem: FileProblem) {
    skippedCount += 1
    skipped?(problem)
  }
}

extension Fanout {
  /// Checks that all recipients of a message are decided for, as a result counts all of them.
  ///
  /// - Throws: ``FileProblem/Problem/unknownZones(_:)``.
  func checkIsDecided(_ message: Message) throws(FileProblem.Problem) {
    let version = currentVersion
    guard version.refusesUsers else { return }
    let refused = version.refusedRecipients(of: message)
    if refused.isEmpty { return }
    var users = UnknownZoneUsers()
    for user in refused { users.add(user) }
    throw .unknownZones(users)
  }
}
