internal import PushModel
internal import PushSupport
internal import Synchronization

/// The payloads of one message, in the order of the recipients, put together as they are asked for.
///
///     for push in renderer.stream(message, content, for: recipients) { try send(push) }
///
/// - Memory: at most about 128 MB of payloads and words at a time, however many recipients there
///   are and however much each of them sees; more when 16 recipients in a row see more than that,
///   or when more than 16 threads work.
public struct RenderedStream: Sequence, IteratorProtocol {
  struct Item {
    /// Where its bytes end.
    let end: Int
    let words: UInt32
    let state: MessageRenderer.State
  }

  /// The payloads of recipients in a row.
  struct Piece {
    var bytes: [UInt8] = []
    var items: [Item] = []
    var words: [RenderedContent] = []
    /// About how much memory it takes.
    var byteCount = 0

    func push(_ index: Int, _ recipient: Identifier) -> RenderedPush {
      let item = items[index]
      let start = index == 0 ? 0 : items[index - 1].end
      return RenderedPush(
        recipient: recipient, payload: bytes[start..<item.end], content: words[Int(item.words)],
        isShortened: item.state.isShortened, problem: item.state.problem)
    }
  }

  /// Recipients in a row, rendered as far as their piece goes; nil for not yet.
  private struct Segment {
    var range: Range<Int>
    var piece: Piece?
  }

  /// So many pieces are worked on at a time, or one by each thread.
  private static let pieceCount = 16
  /// A piece ends when it takes so many bytes.
  private static let pieceBytes = 4 << 20
  private static let firstSize = 1 << 10

  private let plan: RenderingPlan
  private let recipients: [Identifier]
  private let threads: Int?
  /// One for each thread, with the words that it has put together.
  private var renderers: [MessageRenderer?]
  /// What is still to come, the next one last.
  private var waiting: [Segment]
  /// The piece that is being given out, where it begins among the recipients, and how far it is.
  private var current = Piece()
  private var start = 0
  private var index = 0
  /// So many recipients a piece is to have.
  private var size = firstSize

  init(_ plan: RenderingPlan, _ recipients: [Identifier], threads: Int?) {
    self.plan = plan
    self.recipients = recipients
    self.threads = threads
    renderers = Array(repeating: nil, count: Swift.max(1, threads ?? Self.pieceCount))
    waiting = recipients.isEmpty ? [] : [Segment(range: recipients.indices)]
  }

  public mutating func next() -> RenderedPush? {
    while index == current.items.count {
      guard let segment = waiting.popLast() else { return nil }
      guard let piece = segment.piece else {
        render(segment.range)
        continue
      }
      (current, start, index) = (piece, segment.range.lowerBound, 0)
      let end = start + piece.items.count
      if end < segment.range.upperBound {
        waiting.append(Segment(range: end..<segment.range.upperBound))
      }
    }
    defer { index += 1 }
    return current.push(index, recipients[start + index])
  }

  /// About how much memory the payloads and words take that are there now.
  var byteCount: Int {
    waiting.reduce(current.byteCount) { $0 + ($1.piece?.byteCount ?? 0) }
  }

  /// Renders the first pieces of a range.
  private mutating func render(_ range: Range<Int>) {
    // Frees what was given out.
    (current, index) = (Piece(), 0)
    let count = Swift.max(Self.pieceCount, renderers.count)
    let end = Swift.min(range.upperBound, range.lowerBound + count * size)
    if end < range.upperBound { waiting.append(Segment(range: end..<range.upperBound)) }
    let ranges = stride(from: range.lowerBound, to: end, by: size).map {
      $0..<Swift.min($0 + size, end)
    }
    let pieces = render(ranges)
    for (range, piece) in zip(ranges, pieces).reversed() {
      waiting.append(Segment(range: range, piece: piece))
    }
    let cut = zip(ranges, pieces).filter { $0.count > $1.items.count }.map(\.1.items.count)
    if let least = cut.min() {
      size = Swift.max(1, least)
    } else if pieces.allSatisfy({ $0.byteCount < Self.pieceBytes / 4 }) {
      size = Swift.min(ContentRenderer.pieceSize, size * 2)
    }
  }

  private mutating func render(_ ranges: [Range<Int>]) -> [Piece] {
    let workers = Swift.min(ranges.count, renderers.count)
    let (plan, recipients) = (plan, recipients)
    let pieces = Lock([Piece](repeating: .init(), count: ranges.count))
    let waiting = Lock(renderers)
    let work = { @Sendable (worker: Int) in
      var renderer = waiting.withLock { $0[worker].take() } ?? MessageRenderer(plan)
      for index in stride(from: worker, to: ranges.count, by: workers) {
        let piece = renderer.piece(recipients[ranges[index]], byteLimit: Self.pieceBytes)
        pieces.withLock { $0[index] = piece }
      }
      waiting.withLock { $0[worker] = renderer }
    }
    Parallel.perform(workers, threads: workers, work)
    renderers = waiting.withLock { $0 }
    return pieces.withLock { $0 }
  }
}
