public import PushFanout
public import PushFiles
public import PushModel
internal import PushSupport

/// Whether a message was decided as a line of an expectations.ndjson says.
public struct ExpectationResult: Sendable {
  /// What came of a line.
  public enum Verdict: Sendable {
    /// It was decided so.
    case holds
    /// It was decided otherwise: how, and why.
    case differs(Explanation)
    /// Nothing could be decided; the reason.
    case problem(String)
  }

  /// The path of the file.
  public let file: String
  /// The 1-based line.
  public let line: Int
  /// What people call the expectation.
  public let label: String
  /// The id of the message; nil where the line does not say a message.
  public let message: Identifier?
  /// Whether the line names the message by its id.
  public let isNamed: Bool
  /// The user, if one is known.
  public let user: Identifier?
  /// What the line expects.
  public let expected: ExpectedDecision
  /// What was decided; nil for a user who is no recipient, and where nothing could be decided.
  public let decision: Decision?
  /// What came of it.
  public let verdict: Verdict

  /// Whether it was decided so.
  public var holds: Bool { if case .holds = verdict { true } else { false } }

  /// Whether nothing could be decided.
  public var isProblem: Bool { if case .problem = verdict { true } else { false } }
}

/// Checks expectations: settings are tested as code is.
///
/// - Source: docs/test.md.
public struct ExpectationCheck: Sendable {
  private let engine: Fanout?
  private let messages: [Identifier: [Message]]
  private let isUpdate: Bool
  /// The engine of the records that a line has, which the next line often has too.
  private var latest: (records: [UInt8], engine: Fanout)?
  private var results: [ExpectationResult] = []

  /// Checks the lines of files.
  ///
  /// - Parameters:
  ///   - files: expectations.ndjson files.
  ///   - engine: decides for lines that have no settings of their own.
  ///   - messages: read the messages that lines name by their ids.
  ///   - isUpdate: whether lines may expect nothing, as they are to be completed.
  /// - Returns: a result for each line, in the order of files and lines. What is wrong with a line is
  ///   its result.
  /// - Throws: what is wrong with a file as a whole, or with the messages.
  /// - Complexity: O(lines and messages), and the building of an engine for each line with settings.
  public static func results(
    of files: [String], by engine: Fanout? = nil, messages: [MessageReader] = [],
    isUpdate: Bool = false
  ) throws -> [ExpectationResult] {
    let lines = try files.map { try Line.all(of: $0) }
    let ids = lines.joined().compactMap { line -> Identifier? in
      guard case .success(let expectation) = line.content else { return nil }
      return if case .id(let id) = expectation.message { id } else { nil }
    }
    var found: [Identifier: [Message]] = [:]
    if !ids.isEmpty, !messages.isEmpty {
      let selection = MessageSelection(messages, ids: ids)
      while let message = try selection.next() { found[message.id, default: []].append(message) }
    }
    let all = zip(files, lines).flatMap { file, lines in lines.map { (file, $0) } }
    let check = ExpectationCheck(engine: engine, messages: found, isUpdate: isUpdate)
    let size = 64
    let parts = Parallel.map(
      (all.count + size - 1) / size, threads: engine?.threads ?? Fanout.coreCount
    ) { part in
      var check = check
      for (file, line) in all[(part * size)..<min(all.count, (part + 1) * size)] {
        check.add(line, of: file)
      }
      return check.results
    }
    return Array(parts.joined())
  }

  private init(engine: Fanout?, messages: [Identifier: [Message]], isUpdate: Bool) {
    (self.engine, self.messages, self.isUpdate) = (engine, messages, isUpdate)
  }

  private struct Line: Sendable {
    let number: Int
    let content: Result<Expectation, FileProblem>

    static func all(of path: String) throws(FileProblem) -> [Line] {
      let reader = try ExpectationReader(path: path)
      var lines: [Line] = []
      while true {
        do throws(FileProblem) {
          guard let next = try reader.next() else { return lines }
          lines.append(Line(number: reader.lineNumber, content: .success(next)))
        } catch {
          guard error.isOfOneLine else { throw error }
          lines.append(Line(number: reader.lineNumber, content: .failure(error)))
        }
      }
    }
  }

  /// Why nothing could be decided.
  private struct Refusal: Error {
    let text: String
    init(_ text: String) { self.text = text }
  }

  private mutating func add(_ line: Line, of file: String) {
    var (label, expected) = ("line \(line.number)", ExpectedDecision())
    var (message, isNamed, user): (Identifier?, Bool, Identifier?) = (nil, false, nil)
    var decision: Decision?
    let verdict: ExpectationResult.Verdict
    do {
      let expectation = try line.content.get()
      (expected, user) = (expectation.expected, expectation.user)
      label = expectation.label ?? label
      guard isUpdate || expected != ExpectedDecision() else {
        throw Refusal("nothing is expected; --update writes what is decided")
      }
      let engine = try self.engine(of: expectation)
      let sent = try self.message(of: expectation, by: engine)
      message = sent.id
      if case .id = expectation.message { isNamed = true }
      let recipient = try user ?? Self.onlyRecipient(of: sent, by: engine)
      user = recipient
      label = expectation.label ?? "\(sent.id) for \(recipient)"
      try Self.check(sent, recipient, by: engine)
      decision = engine.currentVersion.decision(sent, for: recipient)
      verdict =
        expected.holds(for: decision) && expected != ExpectedDecision()
        ? .holds : .differs(engine.currentVersion.explain(sent, for: recipient))
    } catch {
      let text =
        switch error {
        case let refusal as Refusal: refusal.text
        case let problem as FileProblem: "\(problem.problem)"
        default: "\(error)"
        }
      verdict = .problem(text)
    }
    results.append(
      ExpectationResult(
        file: file, line: line.number, label: label, message: message, isNamed: isNamed,
        user: user, expected: expected, decision: decision, verdict: verdict))
  }

  /// The engine that decides a line.
  private mutating func engine(of expectation: Expectation) throws -> Fanout {
    guard let records = expectation.settings else {
      guard let engine else {
        throw Refusal("the line has no settings; name them: --settings FILE or --store FILE")
      }
      return engine
    }
    if let latest, latest.records == records { return latest.engine }
    let settings: FanoutSettings
    do throws(FileProblem) { settings = try SettingsLoader.load(SettingsPaths(records)) } catch {
      throw Refusal("record \(error.line ?? 1) of \"settings\": \(error.problem)")
    }
    let own = try Fanout(settings, threads: 1)
    latest = (records, own)
    return own
  }

  private func message(of expectation: Expectation, by engine: Fanout) throws -> Message {
    switch expectation.message {
    case .written(let text):
      do throws(FileProblem) {
        return try MessageReader(text, rules: engine.app.rules).next()!
      } catch {
        throw Refusal("\"message\": \(error.problem)")
      }
    case .id(let id):
      let found = messages[id] ?? []
      guard let message = found.first else {
        throw Refusal("no message has the id \"\(id)\"; --messages FILE names those that are read")
      }
      guard found.count == 1 else {
        throw Refusal("\(found.count) messages have the id \"\(id)\"")
      }
      return message
    }
  }

  private static func onlyRecipient(of message: Message, by engine: Fanout) throws -> Identifier {
    let result = engine.decide(message)
    var ids: [Identifier] = []
    result.forEachRecipient { user, _ in ids.append(result.id(of: user)) }
    guard ids.count == 1 else {
      throw Refusal(
        "the message has \(ids.isEmpty ? "no recipient" : "\(ids.count) recipients"); name the user"
      )
    }
    return ids[0]
  }

  /// Refuses ids that the settings do not have: nobody gets a push who does not exist.
  private static func check(
    _ message: Message, _ user: Identifier, by engine: Fanout
  ) throws {
    let version = engine.currentVersion
    if engine.conversation(message.conversation) == nil {
      throw Refusal(
        "there is no conversation \"\(message.conversation)\""
          + version.advice(conversation: message.conversation))
    }
    if engine.user(user) == nil {
      throw Refusal("there is no user \"\(user)\"" + version.advice(user: user))
    }
    try version.checkIsDecided(user)
  }
}
