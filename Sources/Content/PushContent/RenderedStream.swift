internal import PushModel
internal import PushSupport
internal import Synchronization

/// The payloads of one message, in the order of the recipients, put together as they are asked for.
///
///     for push in renderer.stream(message, content, for: recipients) { try send(push) }
///
/// - Memory: at most about 8 MB of payloads and words a thread at a time, however many recipients there
///   are and however much each of them sees; more when one of them sees more than that.
public struct RenderedStream: Sequence, IteratorProtocol {
  struct Item: PieceItem {
    let end: Int
    let words: UInt32
    let state: MessageRenderer.State
  }

  private var pieces: PieceStream<MessageRenderer>

  init(_ plan: RenderingPlan, _ recipients: [Identifier], threads: Int?) {
    pieces = PieceStream(recipients, threads: threads) { MessageRenderer(plan) }
  }

  public mutating func next() -> RenderedPush? {
    guard let (recipient, index) = pieces.next() else { return nil }
    let item = pieces.current.items[index]
    return RenderedPush(
      recipient: recipient, payload: pieces.current.bytes(of: index),
      content: pieces.current.words[0][Int(item.words)], isShortened: item.state.isShortened,
      problem: item.state.problem)
  }

  /// About how much memory the payloads and words take that are there now.
  var byteCount: Int { pieces.byteCount }
}

/// What was rendered for a recipient.
protocol PieceItem: Sendable {
  /// Where its bytes end.
  var end: Int { get }
}

/// What was rendered for recipients in a row.
struct Piece<Item: PieceItem>: Sendable {
  var bytes: [UInt8] = []
  var items: [Item] = []
  /// The words of each renderer.
  var words: [[RenderedContent]] = []
  /// About how much memory it takes.
  var byteCount = 0

  func bytes(of index: Int) -> ArraySlice<UInt8> {
    bytes[(index == 0 ? 0 : items[index - 1].end)..<items[index].end]
  }
}

/// Renders recipients in a row; each thread has one.
protocol PieceRenderer: Sendable {
  associatedtype Recipient: Sendable
  associatedtype Item: PieceItem

  /// Renders recipients, and ends after the one with which the piece takes more than so many bytes.
  mutating func piece(_ recipients: ArraySlice<Recipient>, byteLimit: Int) -> Piece<Item>
}

/// What is rendered for the recipients of a message, in their order, on several threads, as it is
/// asked for.
struct PieceStream<Renderer: PieceRenderer> {
  /// Recipients in a row, rendered as far as their piece goes; nil for not yet.
  private struct Segment {
    var range: Range<Int>
    var piece: Piece<Renderer.Item>?
  }

  /// A piece ends when it takes so many bytes.
  private var pieceBytes: Int { 4 << 20 }

  private let recipients: [Renderer.Recipient]
  private let makeRenderer: @Sendable () -> Renderer
  /// One for each thread, with the words that it has put together. Each renders a piece, and another when
  /// all are given out: what is given out is still in the cache, and its memory is taken again.
  private var renderers: [Renderer?]
  /// What is still to come, the next one last.
  private var waiting: [Segment]
  /// The piece that is being given out, where it begins among the recipients, and how far it is.
  private(set) var current = Piece<Renderer.Item>()
  private var start = 0
  private var index = 0
  /// So many recipients a piece is to have.
  private var size = 1 << 10

  init(
    _ recipients: [Renderer.Recipient], threads: Int?,
    _ makeRenderer: @escaping @Sendable () -> Renderer
  ) {
    self.recipients = recipients
    self.makeRenderer = makeRenderer
    renderers = Array(repeating: nil, count: max(1, threads ?? ThreadSupply.cores))
    waiting = recipients.isEmpty ? [] : [Segment(range: recipients.indices)]
  }

  /// The next recipient, and its index in ``current``.
  mutating func next() -> (recipient: Renderer.Recipient, item: Int)? {
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
    return (recipients[start + index], index)
  }

  /// About how much memory takes what is there now.
  var byteCount: Int {
    waiting.reduce(current.byteCount) { $0 + ($1.piece?.byteCount ?? 0) }
  }

  /// Renders the first pieces of a range.
  private mutating func render(_ range: Range<Int>) {
    // Frees what was given out.
    (current, index) = (Piece(), 0)
    let end = min(range.upperBound, range.lowerBound + renderers.count * size)
    if end < range.upperBound { waiting.append(Segment(range: end..<range.upperBound)) }
    let ranges = stride(from: range.lowerBound, to: end, by: size).map {
      $0..<min($0 + size, end)
    }
    let pieces = render(ranges)
    for (range, piece) in zip(ranges, pieces).reversed() {
      waiting.append(Segment(range: range, piece: piece))
    }
    let cut = zip(ranges, pieces).filter { $0.count > $1.items.count }.map(\.1.items.count)
    if let least = cut.min() {
      size = max(1, least)
    } else if pieces.allSatisfy({ $0.byteCount < pieceBytes / 4 }) {
      size = min(ContentRenderer.pieceSize, size * 2)
    }
  }

  private mutating func render(_ ranges: [Range<Int>]) -> [Piece<Renderer.Item>] {
    let workers = min(ranges.count, renderers.count)
    let (recipients, makeRenderer, pieceBytes) = (recipients, makeRenderer, pieceBytes)
    let pieces = Lock([Piece<Renderer.Item>](repeating: .init(), count: ranges.count))
    let waiting = Lock(renderers)
    let work = { @Sendable (worker: Int) in
      var renderer = waiting.withLock { $0[worker].take() } ?? makeRenderer()
      for index in stride(from: worker, to: ranges.count, by: workers) {
        let piece = renderer.piece(recipients[ranges[index]], byteLimit: pieceBytes)
        pieces.withLock { $0[index] = piece }
      }
      waiting.withLock { $0[worker] = renderer }
    }
    Parallel.perform(workers, threads: workers, work)
    renderers = waiting.withLock { $0 }
    return pieces.withLock { $0 }
  }
}
