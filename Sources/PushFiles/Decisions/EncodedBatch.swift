internal import Dispatch
internal import PushFanout
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Messages that are decided and encoded together, on several threads, and written in their order.
///
/// SAFETY: one thread reads messages into it, starts it, waits for it and writes it. Meanwhile the
/// threads that decide read the messages, and each writes to an arena whose flag it has set.
final class EncodedBatch: @unchecked Sendable {
  private let encoder: any DecisionEncoder
  private let threads: Int
  private var messages: [Message] = []
  /// The ordinal of the first message in the run.
  private var number = 0
  private let slots: [Slot]
  private let group = DispatchGroup()

  /// An arena, and whether a thread uses it.
  ///
  /// SAFETY: only the thread that has set the flag uses the arena, or the batch's own thread while
  /// nothing is being decided.
  private final class Slot: @unchecked Sendable {
    let isTaken = Atomic(false)
    var arena = EncodingArena()
  }

  /// So many messages beside each other, which one thread mostly decides, try the same arena first:
  /// threads then seldom touch each other's flags.
  private static let run = 64

  /// So many messages are decided at a time. With ``DecisionEncoder/memberLimit`` it bounds the
  /// memory.
  private static let messageLimit = 4096

  init(_ encoder: any DecisionEncoder, threads: Int) {
    self.encoder = encoder
    self.threads = threads
    // Two for each thread, so that one is nearly always free where a thread looks first.
    slots = (0..<max(1, 2 * threads)).map { _ in Slot() }
  }

  var messageCount: Int { messages.count }

  /// Empties the batch, and fills it with the next messages.
  ///
  /// - Parameter number: the ordinal of the first.
  /// - Returns: whether there may be more.
  func read(
    _ number: Int, for engine: Fanout, _ next: () throws -> Message?
  ) rethrows -> Bool {
    begin([], number)
    let kind = type(of: encoder)
    var members = 0
    while messages.count < Self.messageLimit, members < kind.memberLimit {
      guard let message = try next() else { return false }
      if kind.needsResults { members += engine.memberCount(of: message.conversation) }
      messages.append(message)
    }
    return true
  }

  /// Decides and encodes the messages, on all threads of the engine.
  ///
  /// - Parameter version: the settings; nil for the current ones.
  func decide(by engine: Fanout, on version: FanoutVersion?) {
    unsafe messages.withUnsafeBufferPointer { all in
      guard let start = all.baseAddress else { return }
      // SAFETY: the messages are read only until they are decided.
      nonisolated(unsafe) let list = unsafe MessageList(start)
      engine.decide(messages, on: version ?? engine.currentVersion) { index, result in
        unsafe list.withMessage(index) { encode($0, index, result) }
      }
    }
  }

  /// The same, while the caller does something else until it calls ``wait()``.
  func start(_ engine: Fanout, on version: FanoutVersion?) {
    DispatchQueue.global(qos: .userInitiated).async(group: group) {
      self.decide(by: engine, on: version)
    }
  }

  /// Waits until all messages are encoded, if they were started.
  func wait() { group.wait() }

  /// Encodes messages that were decided.
  func encode(_ messages: [Message], _ number: Int, _ results: [FanoutResult]) {
    begin(messages, number)
    Parallel.perform(messages.count, threads: threads) { index in
      encode(messages[index], index, results[index])
    }
  }

  private func begin(_ messages: [Message], _ number: Int) {
    self.number = number
    if messages.isEmpty {
      self.messages.removeAll(keepingCapacity: true)
    } else {
      self.messages = messages
    }
    for slot in slots { slot.arena.removeAll() }
  }

  private func encode(
    _ message: borrowing Message, _ index: Int, _ result: borrowing FanoutResult
  ) {
    var slot = index / Self.run % slots.count
    while slots[slot].isTaken.exchange(true, ordering: .acquiring) {
      slot = (slot + 1) % slots.count
    }
    slots[slot].arena.encode(
      message, at: index, number: number + index, result, by: encoder, threads: threads)
    slots[slot].isTaken.store(false, ordering: .releasing)
  }

  /// Writes the messages in their order, and adds up how often each code occurs.
  func put(to output: any DecisionOutput, _ totals: inout OutcomeCounts) throws(OutputProblem) {
    var positions = [(arena: Int, message: Int)](repeating: (0, 0), count: messages.count)
    let arenas = slots.map(\.arena)
    for (arenaIndex, arena) in arenas.enumerated() {
      for (messageIndex, message) in arena.messages.enumerated() {
        positions[message.index] = (arenaIndex, messageIndex)
      }
      for (code, outcome) in Outcome.coded { totals.add(outcome, arena.totals[Int(code)]) }
    }
    let needsMembers = type(of: encoder).needsMembers
    var next = 0
    while next < positions.count {
      let (arenaIndex, first) = positions[next]
      let arena = arenas[arenaIndex]
      var last = first
      next += 1
      // The rows of messages in a row follow each other in the arena, and are written together.
      while next < positions.count, !needsMembers, positions[next] == (arenaIndex, last + 1),
        arena.messages[last].parts.isEmpty
      {
        last += 1
        next += 1
      }
      let message = arena.messages[last]
      let start = arena.messages[first].bytes.lowerBound
      try output.put(arena.piece.bytes[start..<message.bytes.upperBound])
      for part in message.parts { try output.put(part.bytes[...]) }
      if needsMembers { try output.put(arena.piece.codes[message.codes], of: message) }
    }
  }
}
