public import PushFiles
public import PushModel

/// Reads what happens from files as two rule sets understand it, line by line.
///
/// Each rule set has fields of its own, which the other refuses; so where the two differ, the files
/// are read twice at once.
///
/// - Memory: two lines of each file.
public final class ReplayEventPairs {
  private let events: ReplayEvents
  /// The same lines as B reads them; nil when both read alike.
  private let others: ReplayEvents?
  private let left = LeftOut()

  /// The lines that one of the two rule sets does not understand, and that are left out of both.
  private final class LeftOut {
    struct Line: Hashable {
      let file: String
      let line: Int?
    }

    /// By A, and by B.
    var lines: (a: Set<Line>, b: Set<Line>) = ([], [])
  }

  /// Opens the files.
  ///
  /// - Parameter skipped: called with each bad line of messages or presence, which is then left
  ///   out; nil for a bad line to be an error.
  /// - Throws: what is wrong with a file or with its first line;
  ///   ``FileProblem/Problem/cannotBeReadAgain`` for standard input and the like when the rule sets
  ///   differ.
  public init(
    _ files: ReplayFiles, rules: (a: RuleSet, b: RuleSet),
    skipped: ((FileProblem) -> Void)? = nil
  ) throws(FileProblem) {
    let differ = rules.a != rules.b
    for path in files.changes + files.presence + files.messages where differ {
      try FileProblem.checkCanBeReadAgain(path)
    }
    let left = left
    func report(_ lines: ReferenceWritableKeyPath<LeftOut, Set<LeftOut.Line>>) -> (
      (FileProblem) -> Void
    )? {
      skipped.map { skipped in
        { problem in
          let line = LeftOut.Line(file: problem.file, line: problem.line)
          let isNew = !left.lines.a.contains(line) && !left.lines.b.contains(line)
          left[keyPath: lines].insert(line)
          if isNew { skipped(problem) }
        }
      }
    }
    events = try ReplayEvents(
      files, rules: rules.a, skipped: differ ? report(\.lines.a) : skipped)
    others =
      differ ? try ReplayEvents(files, rules: rules.b, skipped: report(\.lines.b)) : nil
  }

  package init(_ events: ReplayEvents, _ others: ReplayEvents?) {
    self.events = events
    self.others = others
  }

  /// The next event as A and as B read it; nil when there is none.
  ///
  /// - Throws: what is wrong with a line; ``FileProblem/Problem/hasChanged`` when the two do not
  ///   find the same lines.
  public func next() throws(FileProblem) -> (a: ReplayEvent, b: ReplayEvent)? {
    var event = try events.next()
    guard let others else { return event.map { ($0, $0) } }
    var other = try others.next()
    while isLeftOut(events.location, left.lines.b) { event = try events.next() }
    while isLeftOut(others.location, left.lines.a) { other = try others.next() }
    switch (event, other) {
    case (nil, nil): return nil
    case (let event?, let other?) where event.at == other.at && events.location == others.location:
      return (event, other)
    default:
      let file = (events.location ?? others.location)?.file ?? ""
      throw FileProblem(file: file, line: nil, problem: .hasChanged)
    }
  }

  private func isLeftOut(_ location: ReplayEvents.Location?, _ lines: Set<LeftOut.Line>) -> Bool {
    location.map { lines.contains(.init(file: $0.file, line: $0.line)) } ?? false
  }

  /// A problem of the event that was read last, at its line.
  ///
  /// - Throws: the problem.
  public func refuse(_ problem: FileProblem.Problem) throws(FileProblem) {
    try events.refuse(problem)
  }

  /// The share of the messages' files that has been read, 0...1; nil when their sizes are not
  /// known.
  public var progress: Double? { events.progress }
}
