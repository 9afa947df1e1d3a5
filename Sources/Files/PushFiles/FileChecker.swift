public import PushModel
internal import PushSupport

/// Validates files of settings and messages, whatever they are, as one world.
public struct FileChecker {
  /// What the files contain.
  public private(set) var world = SettingsPaths()
  /// Files of messages, in the order given.
  public private(set) var messages: [String] = []
  /// Files of presence, in the order given.
  public private(set) var presence: [String] = []
  /// Files of changes of settings, in the order given.
  public private(set) var changes: [String] = []
  /// Files of templates, in the order given.
  public private(set) var templates: [String] = []
  /// Files of senders, in the order given.
  public private(set) var senders: [String] = []
  /// What is wrong: of settings, templates, senders, messages, presence and changes, in this order.
  public private(set) var problems: [FileProblem] = []
  /// What is allowed and probably a mistake, of messages, presence, changes and settings.
  public var warnings: [FileWarning] { finder.found }
  private var finder: WarningFinder
  private let options: MessageOptions
  /// What rows of files do to records that exist, of files that lack columns.
  public private(set) var notes: [String] = []
  /// The number of records in all files.
  public private(set) var recordCount = 0
  /// Empty NDJSON files, which are of no kind.
  private var empty: [String] = []
  /// Those that changes make or change.
  private var changed = ChangedNames()

  /// Checks files.
  ///
  /// A CSV file is told by its columns and an NDJSON file by its first record; settings are read
  /// first, whatever the order, as messages are judged by their rules.
  ///
  /// - Parameters:
  ///   - paths: the names of the files; with `csv:` in front one is CSV whatever its name.
  ///   - options: how CSV of messages is written. A file whose columns are those of settings or
  ///     presence is read as such.
  ///   - now: from when on an instant may be too far ahead; nil for none to be.
  ///   - progress: called now and then with the share of the file at hand that has been read, 0...1;
  ///     not called when it is not known.
  /// - Complexity: O(bytes); the settings are in memory.
  public init(
    _ paths: [String], _ options: MessageOptions = MessageOptions(), now: Instant? = nil,
    progress: @escaping (Double) -> Void = { _ in }
  ) {
    self.options = options
    finder = WarningFinder(now)
    for path in paths { sort(path) }
    // Beside settings it is a night without traffic.
    if world.count > 0 {
      messages += empty
    } else {
      problems += empty.map { FileProblem(file: $0, line: 1, problem: .isEmpty) }
    }
    let (settings, found, records) = SettingsLoader.check(
      world, LoadOptions(progress: progress))
    problems += found
    recordCount += records
    noteColumns(settings.app.rules)
    let (_, wrong, count) = TemplateReader.check(templates)
    problems += wrong
    recordCount += count
    let (bad, more) = SenderReader.check(senders, rules: world.count > 0 ? settings.app.rules : nil)
    problems += bad
    recordCount += more
    // Changes may make the conversations of messages and presence, and are reported behind them.
    let start = problems.count
    for path in changes { checkChanges(path, settings.app.rules) }
    let ofChanges = problems[start...]
    problems.removeSubrange(start...)
    for path in messages { checkMessages(path, settings, progress) }
    for path in presence { checkPresence(path, settings) }
    problems += ofChanges
    finder.note(
      settings,
      files: (world.users + world.settings, world.members + world.settings))
  }

  /// Says of each file of users and members that lacks columns what its rows change.
  private mutating func noteColumns(_ rules: RuleSet) {
    for (paths, isUsers) in [(world.users, true), (world.members, false)] {
      let all = isUsers ? UserColumns.names : MemberColumns.names
      for path in paths {
        // Where the header is wrong, the rows are not read.
        guard let header = try? CSVTable.header(of: path),
          (try? (isUsers ? UserColumns.layout : MemberColumns.layout).cellIndices(in: header))
            != nil
        else { continue }
        let columns = CSVColumns(
          count: header.count, all.map { header.firstIndex(of: $0) ?? -1 })
        let fields = isUsers ? UserColumns.fields(columns) : MemberColumns.fields(columns)
        let names = isUsers ? UserSettings.namesInRows(rules) : MemberSettings.namesInRows(rules)
        let absent = names.filter { !fields.contains($0.field) }.map(\.name)
        guard !absent.isEmpty else { continue }
        notes.append(
          "\(path): has no column of \(absent.joined(separator: ", ")): imported into a store, its "
            + "rows leave what is stored; beside records of a settings.ndjson, they remove it")
      }
    }
  }

  private mutating func sort(_ name: String) {
    let path = FileKind.file(named: name)
    do throws(FileProblem) {
      // The kind of a file is detected before it is read.
      try FileProblem.checkCanBeReadAgain(path)
    } catch {
      problems.append(error)
      return
    }
    do throws(FileProblem.Problem) {
      switch name == path ? FileKind.named(path) : .csv {
      case .csv:
        switch try CSVContents(of: path, options) {
        case .messages: messages.append(name)
        case .presence: presence.append(path)
        case .members: world.members.append(path)
        case .users: world.users.append(path)
        }
      case .ndjson:
        switch try JSONLines.contents(of: path) {
        case .messages: messages.append(path)
        case .templates: templates.append(path)
        case .senders: senders.append(path)
        case .changes: changes.append(path)
        case .heartbeats: presence.append(path)
        case .settings: world.settings.append(path)
        case .unknown(let record):
          problems.append(FileProblem(file: path, line: 1, problem: .noRecord(record)))
        }
      case nil:
        try ByteReader(path: path).checkForm()
        throw .unknownFileKind
      }
    } catch {
      if error == .isEmpty { return empty.append(path) }
      problems.append(FileProblem(file: path, line: error.lineAtOpening, problem: error))
    }
  }

  /// Conversations must be known to the settings, if there are any, or to a change; whether that
  /// one comes before is judged by a replay.
  private mutating func checkPresence(_ path: String, _ settings: FanoutSettings) {
    let isJudged = world.count > 0
    let changed = changed.conversations
    let rules = settings.app.rules
    do throws(FileProblem) {
      if FileKind.named(path) == .ndjson {
        if isJudged, !rules.fields.contains(.seenAt) {
          throw FileProblem(file: path, line: 1, problem: .presenceOfDevices(rules))
        }
        return try checkHeartbeats(path, isJudged ? settings : nil)
      }
      if isJudged, rules.fields.contains(.seenAt) {
        throw FileProblem(file: path, line: 1, problem: .presenceOfUsers(rules))
      }
      let reader = try PresenceReader(path: path)
      checkInOrder(path, "row", line: { reader.lineNumber }) { () throws(FileProblem) in
        guard let row = try reader.next() else { return nil }
        if isJudged, let id = row.conversation, settings.conversation(id) == nil,
          !changed.contains(id)
        {
          throw FileProblem(
            file: path, line: reader.lineNumber, problem: .unknownConversation(id.text))
        }
        return row.at
      }
    } catch {
      problems.append(error)
    }
  }

  /// Devices must be known to the settings, if there are any, unless a change sets them.
  private mutating func checkHeartbeats(
    _ path: String, _ settings: FanoutSettings?
  ) throws(FileProblem) {
    let reader = try HeartbeatReader(path: path)
    let changed = changed.users
    var last = Instant.zero
    checkInOrder(path, "heartbeat", line: { reader.lineNumber }) { () throws(FileProblem) in
      guard let heartbeat = try reader.next() else { return nil }
      last = heartbeat.seenAt ?? last
      guard let settings, !changed.contains(heartbeat.user) else { return last }
      let user = settings.index(of: heartbeat.user)
      let devices = user.map { settings.user($0).effectiveDevices } ?? []
      if devices.contains(where: { $0.id == heartbeat.device }) { return last }
      let problem: FileProblem.Problem =
        user == nil
        ? .unknownUser(heartbeat.user.text)
        : .unknownDevice(heartbeat.device.text, of: heartbeat.user.text)
      throw FileProblem(file: path, line: reader.lineNumber, problem: problem)
    }
  }

  /// What a change needs of other records is judged at its instant, by a replay.
  private mutating func checkChanges(_ path: String, _ rules: RuleSet) {
    do throws(FileProblem) {
      let reader = try SettingsChangeReader(path: path, rules: rules)
      var named = ChangedNames()
      checkInOrder(path, "change", line: { reader.lineNumber }) { () throws(FileProblem) in
        let change = try reader.next()
        switch change?.record {
        case .conversation(let id, _): named.conversations.insert(id)
        case .member(let user, let id, _, _):
          named.conversations.insert(id)
          named.users.insert(user)
        case .user(let id, _): named.users.insert(id)
        case .app, nil: break
        }
        return change?.at
      }
      changed.conversations.formUnion(named.conversations)
      changed.users.formUnion(named.users)
    } catch {
      problems.append(error)
    }
  }

  /// Reads to the end what has to be sorted by time.
  ///
  /// - Parameters:
  ///   - name: what a line of it is called.
  ///   - next: the instant of the next line.
  private mutating func checkInOrder(
    _ path: String, _ name: String, line: () -> Int, next: () throws(FileProblem) -> Instant?
  ) {
    var last = Instant.zero
    while true {
      do throws(FileProblem) {
        guard let at = try next() else { return }
        recordCount += 1
        finder.note(at, "at", path, line: line())
        guard at >= last else {
          throw FileProblem(file: path, line: line(), problem: .outOfOrder(name))
        }
        last = at
      } catch {
        problems.append(error)
        if !error.isOfOneLine { return }
      }
    }
  }

  private mutating func checkMessages(
    _ name: String, _ settings: FanoutSettings, _ progress: (Double) -> Void
  ) {
    let reader: MessageReader
    do throws(FileProblem) {
      reader = try MessageReader(path: name, rules: settings.app.rules, options)
    } catch {
      problems.append(error)
      return
    }
    var warnings = MessageWarnings(reader.path, world.count > 0 ? settings : nil)
    while true {
      do throws(FileProblem) {
        guard let message = try reader.nextWithContent()?.message else { break }
        warnings.note(message, line: reader.lineNumber, &finder)
        if reader.recordCount & 0x3FFF == 0, let share = reader.progress { progress(share) }
      } catch {
        problems.append(error)
        if !error.isOfOneLine { break }
      }
    }
    warnings.finish(changed, &finder)
    recordCount += reader.recordCount
  }
}
