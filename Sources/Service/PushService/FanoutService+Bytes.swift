public import PushContent
public import PushFanout
public import PushFiles
public import PushModel
public import QuietTime

/// The service in bytes: NDJSON in and out, in the formats of the files and of the command line.
///
/// Whatever the bytes are, nothing here traps: what is wrong is thrown, with the line and what to
/// do.
extension FanoutService {
  /// Decides the messages of a messages.ndjson.
  ///
  /// - Parameters:
  ///   - messages: the bytes of a messages.ndjson.
  ///   - format: as of `evaluate`, but for `npy`, which is a folder of files.
  ///   - showsDevices: whether rows list the devices (`ndjson` only).
  ///   - version: the settings that all of it is decided by; nil for the current ones.
  ///   - isEmpty: whether it is known that there are no messages; otherwise there must be one.
  ///   - willRead: called before a message is read, on the caller's thread, with how many were
  ///     read; what it throws ends the call.
  /// - Returns: what `evaluate` writes.
  /// - Throws: `FileProblem` for the first line that is not understood, ``ServiceError/notInBytes(_:)``,
  ///   `FanoutError.unknownZones` for messages to users who are not decided for, or what `willRead`
  ///   throws.
  public func decide(
    ndjson messages: [UInt8], as format: DecisionFormat = .ndjson, showsDevices: Bool = false,
    on version: FanoutVersion? = nil, isEmpty: Bool = false,
    willRead: (Int) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    guard !format.isFolder else { throw ServiceError.notInBytes(format.rawValue) }
    let reader = try MessageReader(isEmpty ? [UInt8(ascii: "\n")] : messages, rules: app.rules)
    let output = OutputBytes()
    let writer = try FanoutWriter(
      output, format: format, showsDevices: showsDevices, threads: engine.threads)
    let version = version ?? engine.currentVersion
    var refused: UnknownZoneUsers?
    try writer.write(by: engine, on: version, line: { reader.lineNumber }) {
      try willRead(reader.recordCount)
      let message = isEmpty ? nil : try reader.next()
      if refused == nil, version.refusesUsers, let message {
        let users = version.refusedRecipients(of: message)
        if !users.isEmpty { refused = users.reduce(into: UnknownZoneUsers()) { $0.add($1) } }
      }
      return message
    }
    if let refused { throw FanoutError.unknownZones(refused) }
    try writer.finish()
    return output.bytes
  }

  // MARK: Rendering

  /// Decides the messages of a messages.ndjson and renders the payloads of their pushes.
  ///
  /// - Returns: what `render` writes: a line for each recipient of a push or local notification.
  /// - Throws: `FileProblem` for the first line that is not understood.
  public func render(ndjson messages: [UInt8]) throws -> [UInt8] {
    try checkPushContent()
    let reader = try MessageReader(messages, rules: app.rules)
    let output = OutputBytes()
    let writer = PayloadWriter(output)
    while let (message, content) = try reader.nextWithContent() {
      try render(message, content, into: writer)
    }
    return output.bytes
  }

  /// - Throws: ``ServiceError/noPushContent(_:)`` where nothing can be rendered.
  public func checkPushContent() throws(ServiceError) {
    guard app.rules.hasPushContent else { throw .noPushContent(app.rules) }
  }

  /// Renders the payloads of a message, one for each user who gets a push, in the order of users,
  /// by the settings that it is decided by.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - content: the message's own fields for its push.
  ///   - user: only for this user; nil for all.
  ///   - threads: how many threads may render; nil for as many as the system gives.
  ///   - writer: takes the payloads.
  ///   - each: called with each payload that was written.
  /// - Precondition: rules that say what a push contains (``checkPushContent()``).
  public func render(
    _ message: Message, _ content: MessageContent, onlyFor user: Identifier? = nil,
    threads: Int? = nil, into writer: PayloadWriter, each: (RenderedPush) -> Void = { _ in }
  ) throws(OutputProblem) {
    writer.begin(message)
    let (recipients, renderer) = recipients(of: message, onlyFor: user)
    func stream(_ action: Action, _ form: PayloadForm) -> RenderedStream? {
      let users = recipients.filter { $0.action == action }.map(\.user)
      return users.isEmpty
        ? nil : renderer.stream(message, content, for: users, as: form, threads: threads)
    }
    var pushes = stream(.push, .push)
    var locals = stream(.local, .local)
    for (_, action) in recipients {
      guard let next = action == .local ? locals?.next() : pushes?.next() else { continue }
      try writer.write(next, action)
      each(next)
    }
  }

  /// Who gets a push or a local notification, in the order of users, and the renderer of the
  /// version that was decided on.
  private func recipients(
    of message: Message, onlyFor user: Identifier?
  ) -> (users: [(user: Identifier, action: Action)], renderer: ContentRenderer) {
    let (version, renderer) = pinned()
    if let user {
      let action = version.decision(message, for: user)?.outcome.action ?? .suppress
      return (action == .suppress ? [] : [(user, action)], renderer)
    }
    var result = FanoutResult()
    engine.decide(message, on: version, into: &result)
    var recipients: [(user: Identifier, action: Action)] = []
    unsafe result.forEachRecipient(in: 0..<result.memberCount) { (_, id, code) -> Void in
      guard let action = Outcome(code: code)?.action, action != .suppress else { return }
      recipients.append((unsafe Identifier(utf8: id), action))
    }
    return (recipients, renderer)
  }

  // MARK: Questions

  /// Explains each message of a messages.ndjson for a user, all by one version of the settings.
  ///
  /// - Parameters:
  ///   - messages: the bytes of a messages.ndjson.
  ///   - user: the recipient.
  ///   - content: whether to show the content of the push too.
  ///   - noting: called with the version of the settings that the answer is by.
  /// - Returns: a JSON object a line, as of `explain --json`.
  /// - Throws: `FileProblem`, ``ServiceError/unknownUser(_:)``, or `FanoutError.unknownZones` for a user
  ///   who is not decided for.
  public func explain(
    ndjson messages: [UInt8], for user: Identifier, content: Bool = false,
    noting: (FanoutVersion) -> Void = { _ in }
  ) throws -> [UInt8] {
    let reader = try MessageReader(messages, rules: app.rules)
    return try explain(for: user, noting: noting) {
      try reader.nextWithContent().map { ($0.message, content ? $0.content : nil) }
    }
  }

  /// Explains messages for a user as they are read, all by one version of the settings.
  ///
  /// - Parameters:
  ///   - user: the recipient.
  ///   - noting: called with the version of the settings that the answer is by.
  ///   - next: the next message, and what it says of its own push, nil if that is not to be
  ///     explained; nil at the end.
  /// - Returns: a JSON object a line, as of `explain --json`.
  /// - Throws: as ``explain(ndjson:for:content:noting:)``, but for what `next` throws.
  public func explain(
    for user: Identifier, noting: (FanoutVersion) -> Void = { _ in },
    next: () throws -> (message: Message, content: MessageContent?)?
  ) throws -> [UInt8] {
    let (version, renderer) = pinned()
    noting(version)
    guard version.contains(user: user) else { throw ServiceError.unknownUser(user) }
    try version.checkIsDecided(user)
    return try renderer.explain(for: user, by: { explain($0, for: user, by: version) }, next: next)
      .flatMap { ServiceJSON.explanation($0.decision, $0.content) + [UInt8(ascii: "\n")] }
  }

  // MARK: Changing

  /// Makes the changes of a settings.ndjson, all or none: a record replaces the one of the same
  /// key.
  ///
  /// References between records are checked against these and the settings together.
  ///
  /// - Returns: how many records there were.
  /// - Throws: `FileProblem` for the first line that is not understood; what the backend throws.
  @discardableResult public func change(
    ndjson settings: [UInt8], at now: Instant, from device: Identifier? = nil
  ) throws -> Int {
    let (batch, count) = try self.batch(ndjson: settings)
    try change(batch, at: now, from: device)
    return count
  }

  /// The same, without blocking a thread.
  @discardableResult public func change(
    ndjson settings: [UInt8], at now: Instant, from device: Identifier? = nil
  ) async throws -> Int {
    let (batch, count) = try self.batch(ndjson: settings)
    try await change(batch, at: now, from: device)
    return count
  }

  /// Notes what the heartbeats of a presence.ndjson say of devices, by open rules (O-30): decisions
  /// that begin when it has returned are by them. They are not stored.
  ///
  /// - Returns: how many heartbeats were noted, and what is wrong with the other lines.
  /// - Throws: `FanoutError.noHeartbeats` under other rules; `FileProblem` for bytes without a line.
  public func setPresence(
    ndjson heartbeats: [UInt8]
  ) throws -> (applied: Int, refused: [FileProblem]) {
    guard app.rules.fields.contains(.seenAt) else { throw FanoutError.noHeartbeats(app.rules) }
    var refused: [FileProblem] = []
    var read: [(line: Int, heartbeat: Heartbeat)] = []
    let reader = try HeartbeatReader(heartbeats, name: "presence.ndjson")
    var isOver = false
    while !isOver {
      do throws(FileProblem) {
        if let heartbeat = try reader.next() {
          read.append((reader.lineNumber, heartbeat))
        } else {
          isOver = true
        }
      } catch {
        guard error.isOfOneLine else { throw error }
        refused.append(error)
      }
    }
    if read.isEmpty, refused.isEmpty {
      throw FileProblem(file: reader.path, line: 1, problem: .isEmpty)
    }
    let unknown = engine.setPresence(read.map(\.heartbeat))
    refused += unknown.map { position, error in
      FileProblem(file: reader.path, line: read[position].line, problem: .init(error))
    }
    return (
      read.count - unknown.count, refused.sorted { ($0.line ?? 0) < ($1.line ?? 0) }
    )
  }

  /// Reads the changes of a settings.ndjson without making them.
  ///
  /// - Parameter unknownZones: whether time zones that the system does not have are problems, as by
  ///   default unless the engine ignores them, or taken.
  /// - Returns: the changes, and how many records there were.
  /// - Throws: `FileProblem` for the first line that is not understood.
  public func batch(
    ndjson settings: [UInt8], unknownZones: UnknownZones = .fail
  ) throws(FileProblem) -> (batch: SettingsBatch, records: Int) {
    var none: [SettingsLoader.Operation]?
    return try batch(ndjson: settings, unknownZones: unknownZones, operations: &none)
  }

  /// Reads records of a settings.ndjson, without changing anything, and lines between them that are
  /// operations: they have the field `op`.
  ///
  /// - Parameter operations: becomes those lines, also if others are not understood; nil if no line
  ///   may be an operation.
  /// - Returns: as ``batch(ndjson:unknownZones:)``.
  /// - Throws: `FileProblem` for the first record that is not understood.
  public func batch(
    ndjson settings: [UInt8], unknownZones: UnknownZones = .fail,
    operations: inout [SettingsLoader.Operation]?
  ) throws(FileProblem) -> (batch: SettingsBatch, records: Int) {
    var paths = SettingsPaths(settings)
    paths.unknownZones = unknownZones
    var records = FanoutSettings(app: engine.app)
    var options = LoadOptions(readsContent: true)
    options.takesOperations = operations != nil
    let read = SettingsLoader.read(paths, into: &records, over: engine, options)
    if operations != nil { operations = read.operations }
    if let first = read.problems.first { throw first }
    let batch = SettingsBatch(records, replacesApp: read.saysApp, content: read.content)
    return (batch, read.recordCount)
  }
}
