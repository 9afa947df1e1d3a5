/// The files of what happens: messages and presence.
extension WorkloadText {
  /// Puts the files of messages and of presence together at once, which makes the messages once:
  /// presence has visits of their senders.
  ///
  /// The bytes are those of ``write(_:threads:to:)`` for each file.
  ///
  /// - Parameters:
  ///   - threads: how many put pieces together; the bytes are the same with any number.
  ///   - messages: gets the next bytes of messages and how many rows they are.
  ///   - presence: the same for presence.
  /// - Memory: some megabytes a thread, in addition to what messages and presence need.
  public func writeEvents<Problem: Error>(
    threads: Int,
    messages: @escaping ([UInt8], _ rows: Int) throws(Problem) -> Void,
    presence: @escaping ([UInt8], _ rows: Int) throws(Problem) -> Void
  ) throws(Problem) {
    let threads = Workload.usefulThreads(threads)
    let presencePieces = TextPieces(threads: threads, sink: presence)
    let rows = EventRows(workload, isJSON: format == .ndjson)
    try presencePieces.sink(rows.presenceHeader, 0)
    var changes = PresenceStream(workload, threads: threads)
    func writeChanges() throws(Problem) {
      while !changes.needsMessages, let batch = changes.next() {
        try write(batch, rows, presencePieces)
      }
    }
    try writeMessages(
      TextPieces(threads: threads, sink: messages), made: { changes.add($0) },
      written: { () throws(Problem) in try writeChanges() })
  }

  func writeMessages<Problem>(_ pieces: TextPieces<Problem>) throws(Problem) {
    try writeMessages(pieces, made: { _ in }, written: { () throws(Problem) in })
  }

  /// - Parameters:
  ///   - made: called with each batch of messages, and with nil at the end.
  ///   - written: called when a batch is written, and at the end.
  private func writeMessages<Problem>(
    _ pieces: TextPieces<Problem>, made: ([[PlainMessage]]?) -> Void,
    written: () throws(Problem) -> Void
  ) throws(Problem) {
    let rows = EventRows(workload, isJSON: format == .ndjson)
    try pieces.sink(rows.messageHeader, 0)
    var stream = MessageStream(workload, threads: pieces.threads)
    var number = 0
    while let batch = stream.next(made) {
      let firsts = batch.map { piece in
        defer { number += piece.count }
        return number + 1
      }
      try pieces.write(count: batch.count) { piece, bytes in
        for (index, message) in batch[piece].enumerated() {
          rows.append(message, number: firsts[piece] + index, to: &bytes)
        }
        return batch[piece].count
      }
      try written()
    }
    try written()
  }

  func writePresence<Problem>(_ pieces: TextPieces<Problem>) throws(Problem) {
    let rows = EventRows(workload, isJSON: format == .ndjson)
    try pieces.sink(rows.presenceHeader, 0)
    var messages = PlainMessageStream(workload, threads: pieces.threads)
    var stream = PresenceStream(workload, threads: pieces.threads)
    while let batch = stream.next(of: &messages) { try write(batch, rows, pieces) }
  }

  private func write<Problem>(
    _ batch: [[WorkloadPresence]], _ rows: EventRows, _ pieces: TextPieces<Problem>
  ) throws(Problem) {
    try pieces.write(count: batch.count) { piece, bytes in
      for change in batch[piece] { rows.append(change, to: &bytes) }
      return batch[piece].count
    }
  }
}
