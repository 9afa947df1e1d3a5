public import PushModel
internal import PushSupport

/// The messages of a world in the order of time, a batch at a time.
struct MessageStream {
  private let bursts: MessageBursts
  private let threads: Int
  private var order = EventOrder<PlainMessage>()
  private var mentions: MessageMentions
  private var done = 0

  init(_ workload: Workload, threads: Int) {
    bursts = MessageBursts(workload)
    mentions = MessageMentions(workload)
    self.threads = threads
  }

  /// The next pieces; nil at the end.
  mutating func next() -> [[WorkloadMessage]]? {
    if done == bursts.chunkCount { return nil }
    let chunks = done..<min(bursts.chunkCount, done + threads * 2)
    let made = Parallel.map(chunks.count, threads: threads) { [bursts] in
      bursts.messages(ofChunk: chunks.lowerBound + $0)
    }
    for (chunk, messages) in zip(chunks, made) {
      for message in messages { order.add(message, madeIn: chunk, bursts) }
    }
    done = chunks.upperBound
    return order.take(chunks, threads: threads).map { mentions.complete($0) }
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
    return value
  }
}
