internal import PushSupport

/// Reads an input in pieces, which are parsed on several threads and handed over in their order.
struct ParallelReading {
  let threads: Int
  /// Told after each piece.
  let progress: () -> Void

  /// A piece that is plain is parsed when nothing is taken but plain pieces: what those before it have
  /// said can be read then, by all threads.
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
    // Pieces that were submitted, are not plain and not taken.
    var others = 0
    while true {
      while !isAtEnd || waiting != nil, !pipeline.isFull {
        do throws(ImportProblem) {
          let found = if let waiting { waiting } else { try next() }
          guard let piece = found else {
            isAtEnd = true
            break
          }
          waiting = piece.isPlain && others > 0 ? piece : nil
          if waiting != nil { break }
          if !piece.isPlain { others += 1 }
          pipeline.submit(piece)
        } catch {
          // What was read before it is dealt with first.
          ending = error
          isAtEnd = true
        }
      }
      guard let (piece, rows) = pipeline.take() else { break }
      try take(rows.get())
      if !piece.isPlain { others -= 1 }
      progress()
    }
    if let ending { throw ending }
  }
}
