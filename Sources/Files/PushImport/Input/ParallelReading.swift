internal import PushSupport

/// Reads an input in pieces, which are parsed on several threads and handed over in their order.
struct ParallelReading {
  let threads: Int
  /// Told after each piece.
  let progress: () -> Void

  /// A piece of a group is parsed when no rows are taken but those of its group: what other pieces
  /// before it have said can be read then, by all threads.
  ///
  /// - Parameters:
  ///   - next: cuts the next piece off; nil at the end.
  ///   - parse: makes rows of a piece.
  ///   - take: is given the rows of each piece, in their order.
  /// - Throws: the first problem in the order of the input.
  func run<Rows: Sendable>(
    _ next: () throws(ImportProblem) -> InputPiece?,
    parse: @escaping @Sendable (InputPiece, JSONReader) -> Result<Rows, ImportProblem>,
    take: (Rows) throws -> Void
  ) throws {
    let pipeline = OrderedPipeline<JSONReader, InputPiece, Result<Rows, ImportProblem>>(
      threads: threads, takerWorks: true, makeWorker: { JSONReader() }
    ) { piece, reader in parse(piece, reader) }
    var ending: ImportProblem?
    var isAtEnd = false
    var waiting: InputPiece?
    // How many pieces of each group, and of none, were submitted and not taken.
    var pending: [Int?: Int] = [:]
    while true {
      while !isAtEnd || waiting != nil, !pipeline.isFull {
        do throws(ImportProblem) {
          let found = if let waiting { waiting } else { try next() }
          guard let piece = found else {
            isAtEnd = true
            break
          }
          let mustWait = piece.group != nil && pending.contains { $0 != piece.group && $1 > 0 }
          waiting = mustWait ? piece : nil
          if mustWait { break }
          pending[piece.group, default: 0] += 1
          pipeline.submit(piece)
        } catch {
          // What was read before it is dealt with first.
          ending = error
          isAtEnd = true
        }
      }
      guard let (piece, rows) = pipeline.take() else { break }
      try take(rows.get())
      pending[piece.group]? -= 1
      progress()
    }
    if let ending { throw ending }
  }
}
