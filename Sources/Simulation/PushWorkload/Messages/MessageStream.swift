public import PushModel
internal import PushSupport

/// Messages made in pieces.
protocol MessageChunks: TimeChunks, Sendable {
  /// The next pieces that may be made at once, at most `limit`, after preparing what they need.
  mutating func batch(from first: Int, atMost limit: Int, threads: Int) -> Range<Int>
  /// The messages of the bursts that begin in a piece, in no order.
  func messages(ofChunk chunk: Int) -> [PlainMessage]
}

extension Workload {
  func messageChunks() -> any MessageChunks {
    guard let plan, let writing else { return MessageBursts(self) }
    return DailyBursts(self, plan, writing)
  }
}

/// The messages of a world in the order of time without mentions, a batch at a time.
struct PlainMessageStream {
  private var chunks: any MessageChunks
  private let threads: Int
  private var order = EventOrder<PlainMessage>()
  private var done = 0

  init(_ workload: Workload, threads: Int) {
    chunks = workload.messageChunks()
    self.threads = threads
  }

  /// The next pieces; nil at the end.
  mutating func next() -> [[PlainMessage]]? {
    if done == chunks.chunkCount { return nil }
    let batch = chunks.batch(from: done, atMost: threads * 2, threads: threads)
    let made = Parallel.map(batch.count, threads: threads) { [chunks] in
      chunks.messages(ofChunk: batch.lowerBound + $0)
    }
    for (chunk, messages) in zip(batch, made) { order.add(messages, madeIn: chunk, chunks) }
    done = batch.upperBound
    return order.take(batch, threads: threads)
  }
}

/// The messages of a world in the order of time, a batch at a time.
struct MessageStream {
  private var messages: PlainMessageStream
  private var mentions: MessageMentions

  init(_ workload: Workload, threads: Int) {
    messages = PlainMessageStream(workload, threads: threads)
    mentions = MessageMentions(workload)
  }

  /// The next pieces; nil at the end.
  ///
  /// - Parameter plain: called with them as they are without mentions; with nil at the end.
  mutating func next(_ plain: ([[PlainMessage]]?) -> Void = { _ in }) -> [[WorkloadMessage]]? {
    let pieces = messages.next()
    plain(pieces)
    return pieces?.map { mentions.complete($0) }
  }
}

extension Workload {
  /// Calls for each message, in the order of time.
  ///
  /// - Memory: the messages of some hundred seconds to come, and the rooms of the last day.
  public func forEachMessage(threads: Int = 1, _ body: (WorkloadMessage) throws -> Void) rethrows {
    var stream = MessageStream(self, threads: Workload.usefulThreads(threads))
    while let pieces = stream.next() {
      for piece in pieces {
        for message in piece { try body(message) }
      }
    }
  }

  /// A message as the evaluators take it; its id is its number in the file, from 1.
  public func message(_ message: WorkloadMessage, number: Int) -> Message {
    var value = Message(
      id: Identifier("\(number)"), conversation: Self.roomID(message.room), at: message.at,
      sender: Self.userID(message.sender))
    if !message.mentions.isEmpty { value.mentions = message.mentions.map(Self.userID) }
    if message.mentionsAll { value.mentionsAll = true }
    if options.hasOpenFacts { addOpenFacts(to: &value, message, number: number) }
    return value
  }
}
