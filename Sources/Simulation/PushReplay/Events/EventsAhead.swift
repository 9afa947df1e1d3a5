package import PushFanout
package import PushFiles
package import PushModel
internal import PushSupport

/// Reads events on a thread of its own, ahead of what is done with them.
///
/// - Memory: some thousand events.
package final class EventsAhead {
  /// What was read.
  private enum Item: Sendable {
    /// Of presence, with the user's index, if the engine knew the user when it was read.
    case event(ReplayEvent, ReplayEvents.Location?, UserIndex?)
    /// A bad line that was left out.
    case skipped(FileProblem)
    /// Nothing follows.
    case failure(FileProblem)
  }

  private struct Piece: Sendable {
    /// The last one first.
    var items: [Item] = []
    var progress: Double?
    /// Whether nothing follows.
    var isLast = false
  }

  /// The bad lines that were left out since they were last taken.
  private final class SkippedLines {
    var problems: [FileProblem] = []
  }

  private struct Reader {
    let events: ReplayEvents
    let fanout: Fanout?
    let skipped: SkippedLines
    let size: Int
    var isOver = false

    mutating func next() -> Piece {
      var piece = Piece()
      while !isOver, piece.items.count < size {
        var last: Item?
        do throws(FileProblem) {
          last = try events.next().map { .event($0, events.location, nil) }
          isOver = last == nil
        } catch {
          last = .failure(error)
          isOver = true
        }
        piece.items += skipped.problems.map { .skipped($0) }
        skipped.problems = []
        if let last { piece.items.append(last) }
      }
      findUsers(&piece.items)
      piece.items.reverse()
      piece.progress = events.progress
      piece.isLast = isOver
      return piece
    }

    /// Looks up the users of presence together, so that the cache misses of one wait for no other's.
    private func findUsers(_ items: inout [Item]) {
      guard let fanout else { return }
      var found: [(item: Int, change: PresenceChange)] = []
      for (index, item) in items.enumerated() {
        if case .event(.presence(let change), _, _) = item { found.append((index, change)) }
      }
      let users = fanout.indices(of: found.map(\.change.user))
      for ((index, change), user) in zip(found, users) {
        guard case .event(_, let location, _) = items[index] else { continue }
        items[index] = .event(.presence(change), location, user)
      }
    }
  }

  private let pipeline: OrderedPipeline<Reader, Void, Piece>
  /// The index of the user of the event that was read last, if it is one of presence and the user was
  /// known.
  package private(set) var user: UserIndex?
  private let skipped: ((FileProblem) -> Void)?
  private var piece = Piece()
  private var current: ReplayEvents.Location?
  /// Bad lines that were left out.
  package private(set) var skippedCount = 0

  /// Opens the files, as ``ReplayEvents`` does.
  ///
  /// - Parameters:
  ///   - fanout: knows the users of presence; nil if their indices are not asked for.
  ///   - isPaced: whether the events are waited for, so that few are read ahead.
  package init(
    _ files: ReplayFiles, rules: RuleSet, on fanout: Fanout? = nil, isPaced: Bool = false,
    skipped: ((FileProblem) -> Void)?
  ) throws(FileProblem) {
    self.skipped = skipped
    let lines = SkippedLines()
    let events = try ReplayEvents(
      files, rules: rules, skipped: skipped.map { _ in { lines.problems.append($0) } })
    pipeline = OrderedPipeline(
      threads: 1, depth: isPaced ? 1 : 4,
      makeWorker: {
        Reader(events: events, fanout: fanout, skipped: lines, size: isPaced ? 1 : 512)
      },
      work: { _, reader in reader.next() })
  }

  /// The next event; nil when there is none.
  ///
  /// - Throws: what is wrong with a line, unless it is left out.
  package func next() throws(FileProblem) -> ReplayEvent? {
    while true {
      switch piece.items.popLast() {
      case .event(let event, let location, let user)?:
        current = location
        self.user = user
        return event
      case .skipped(let problem)?: leaveOut(problem)
      case .failure(let problem)?: throw problem
      case nil:
        if piece.isLast { return nil }
        while !pipeline.isFull { pipeline.submit(()) }
        guard let (_, next) = pipeline.take() else { return nil }
        piece = next
      }
    }
  }

  /// Whether the event that was read last is a message that replies to another.
  package var isReply: Bool { current?.isReply ?? false }

  /// A problem of the event that was read last, at its line; it is reported if such lines are left
  /// out.
  ///
  /// - Throws: the problem, if it is not.
  package func refuse(_ problem: FileProblem.Problem) throws(FileProblem) {
    guard let current else { return }
    try leaveOut(current.leftOut(problem))
  }

  private func leaveOut(_ problem: FileProblem) {
    skippedCount += 1
    skipped?(problem)
  }

  /// The share of the messages' files that has been read, 0...1; nil when their sizes are not
  /// known.
  package var progress: Double? { piece.progress }
}
