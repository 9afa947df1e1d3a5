internal import PushSupport

/// Reads an input in pieces, which are parsed on several threads and handed over in their order.
struct ParallelReading {
  let threads: Int
  /// Told after each piece.
  let progress: () -> Void

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
    while true {
      while !isAtEnd, !pipeline.isFull {
        do throws(ImportProblem) {
          if let piece = try next() { pipeline.submit(piece) } else { isAtEnd = true }
        } catch {
          // What was read before it is dealt with first.
          ending = error
          isAtEnd = true
        }
      }
      guard let (_, rows) = pipeline.take() else { break }
      try take(rows.get())
      progress()
    }
    if let ending { throw ending }
  }
}
