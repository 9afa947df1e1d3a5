public import PushFanout
public import PushFiles
internal import PushModel

extension Replayer {
  /// Where rows of held decisions go.
  public struct HeldRows {
    /// The form of the rows.
    public let text: HeldText
    /// Takes the header and the rows, in the order of messages, those of one in the order of users.
    public let write: ([UInt8]) throws -> Void

    /// Rows of a form, and what takes them.
    public init(_ text: HeldText, write: @escaping ([UInt8]) throws -> Void) {
      self.text = text
      self.write = write
    }
  }

  /// Replays files on an engine from beginning to end.
  ///
  /// - Parameters:
  ///   - files: what happens.
  ///   - fanout: the settings at the beginning; the replay changes them.
  ///   - options: how it is done; its `heldRow` is that of `heldRows` if there are such.
  ///   - skipped: called with each bad line of messages or presence, which is then left out and
  ///     counted in the result; nil for a bad line to be an error.
  ///   - heldRows: takes a row for each decision that would push later; nil for no rows.
  ///   - people: takes a row for each person when all is replayed; nil for no rows.
  ///   - progress: called now and then with what has been done, the share of the messages' files
  ///     that has been read, 0...1 (nil when their sizes are not known), and whether the replay is
  ///     about to wait for the instant of the next event.
  /// - Throws: `FileProblem`, ``FanoutError/unknownTimeZone(_:)`` for that of the options, or what
  ///   `heldRows`, `people` or `progress` throws.
  public static func replay(
    _ files: ReplayFiles, on fanout: Fanout, _ options: ReplayOptions = ReplayOptions(),
    skipped: ((FileProblem) -> Void)? = nil, heldRows: HeldRows? = nil,
    people: PeopleRows? = nil,
    progress: (_ done: ReplayProgress, _ share: Double?, _ isWaiting: Bool) throws -> Void = {
      _, _, _ in
    }
  ) throws -> ReplayResult {
    try files.options.slice.apply(to: fanout, mayCome: !files.changes.isEmpty)
    let events = try EventsAhead(
      files, rules: fanout.app.rules, on: fanout, isPaced: options.speed != nil, skipped: skipped)
    var options = options
    if let text = heldRows?.text {
      options.holds = true
      options.heldRow = { text.append($0.message, $0.user, $0.outcome, pushAt: $0.pushAt, to: &$1) }
    }
    if let heldRows { try heldRows.write(heldRows.text.header) }
    let replayer = try Replayer(fanout, options)
    var failure: (any Error)?
    if let heldRows {
      replayer.takeHeldRows = { rows in
        guard failure == nil else { return }
        do { try heldRows.write(rows) } catch { failure = error }
      }
    }
    var pace = ReplayPace(options.speed)
    var count = 0
    while let event = try events.next() {
      // The start state of a slice is not waited for.
      let isBefore = files.options.slice.from.map { event.at < $0 } ?? false
      if !isBefore, pace.mustWait(for: event.at) {
        replayer.flush()
        try progress(replayer.progress, events.progress, true)
        pace.wait(for: event.at)
      }
      do throws(FileProblem.Problem) { try replayer.add(event, of: events.user) } catch {
        try events.refuse(error)
      }
      if let failure { throw failure }
      count += 1
      if count & 0xFFF == 0 { try progress(replayer.progress, events.progress, false) }
    }
    var result = replayer.finish()
    try people?.write(isCompared: false, replayer.forEachPerson)
    if let failure { throw failure }
    result.skippedLines = events.skippedCount
    return result
  }
}
