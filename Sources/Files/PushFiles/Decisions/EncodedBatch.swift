internal import PushFanout
internal import PushModel

/// Messages beside each other that one thread decides and encodes.
///
/// SAFETY: one thread at a time uses it: the one that reads messages into it and writes what they
/// were encoded to, and between the two the one that decides them.
final class EncodedBatch: @unchecked Sendable {
  private let encoder: any DecisionEncoder
  private let threads: Int
  private var messages: [Message] = []
  /// The line of each message.
  private var lines: [Int] = []
  /// The messages of conversations without members.
  private var memberless: [Int] = []
  /// The ordinal of the first message in the run.
  private var number = 0
  private var arena = EncodingArena()

  /// So many messages are in a batch at most. With ``DecisionEncoder/memberLimit`` it bounds the
  /// memory.
  static let messageLimit = 256

  /// - Parameter threads: how many threads may encode parts of a large message.
  init(_ encoder: any DecisionEncoder, threads: Int) {
    self.encoder = encoder
    self.threads = threads
  }

  var messageCount: Int { messages.count }

  /// How many members are encoded; 0 where counts suffice.
  private(set) var memberCount = 0

  /// Fills the batch with the next messages.
  ///
  /// - Parameters:
  ///   - number: the ordinal of the first.
  ///   - line: the line of the message that was read last.
  /// - Returns: whether there may be more.
  func read(
    _ number: Int, for engine: Fanout, line: () -> Int, _ next: () throws -> Message?
  ) rethrows -> Bool {
    begin(number)
    let kind = type(of: encoder)
    while messages.count < Self.messageLimit, memberCount < kind.memberLimit {
      guard let message = try next() else { return false }
      if kind.needsResults { memberCount += engine.memberCount(of: message.conversation) }
      messages.append(message)
      lines.append(line())
    }
    return true
  }

  /// Decides and encodes the messages.
  ///
  /// - Parameter result: memory to decide with.
  func decide(by engine: Fanout, on version: FanoutVersion, into result: inout FanoutResult) {
    var arena = takeArena()
    unsafe messages.withUnsafeBufferPointer { all in
      guard let start = all.baseAddress else { return }
      let list = unsafe MessageList(start)
      engine.decide(messages, all.indices, on: version, into: &result) { index, result in
        list.withMessage(index) {
          arena.encode($0, number: number + index, result, by: encoder, threads: threads)
        }
        if result.memberCount == 0 { memberless.append(index) }
      }
    }
    self.arena = arena
  }

  /// Notes the messages to conversations that the settings do not have.
  func note(_ unknown: inout UnknownNames, _ engine: Fanout) {
    for index in memberless where engine.conversation(messages[index].conversation) == nil {
      unknown.add(messages[index].conversation, line: lines[index])
    }
  }

  /// Encodes messages that were decided.
  ///
  /// - Parameter number: the ordinal of the first.
  func encode(_ messages: ArraySlice<Message>, _ number: Int, _ results: [FanoutResult]) {
    begin(number)
    self.messages.append(contentsOf: messages)
    var arena = takeArena()
    for index in messages.indices {
      arena.encode(
        messages[index], number: number + index - messages.startIndex, results[index], by: encoder,
        threads: threads)
    }
    self.arena = arena
  }

  private func begin(_ number: Int) {
    self.number = number
    memberCount = 0
    messages.removeAll(keepingCapacity: true)
    lines.removeAll(keepingCapacity: true)
    memberless.removeAll(keepingCapacity: true)
    arena.removeAll()
  }

  private func takeArena() -> EncodingArena {
    var taken = EncodingArena()
    swap(&taken, &arena)
    return taken
  }

  /// Writes what the messages were encoded to, and adds up how often each code occurs.
  func put(to output: any DecisionOutput, _ totals: inout OutcomeCounts) throws(OutputProblem) {
    for (code, outcome) in Outcome.coded { totals.add(outcome, arena.totals[Int(code)]) }
    var start = 0
    for message in arena.messages {
      try output.put(arena.piece.bytes[start..<message.end])
      start = message.end
      for part in message.parts { try output.put(part.bytes[...]) }
      if let members = message.members {
        try output.put(arena.piece.codes[members.codes], of: members)
      }
    }
    try output.put(arena.piece.bytes[start...])
  }
}
