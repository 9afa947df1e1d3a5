internal import PushFanout
internal import PushModel
internal import PushSupport

/// What messages were encoded to: rows of text, and a byte for each member.
struct EncodedPiece: Sendable {
  var bytes: [UInt8] = []
  var codes: [UInt8] = []

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    codes.removeAll(keepingCapacity: true)
  }

  /// Makes room for more bytes. Unlike `reserveCapacity`, it grows geometrically when it is called
  /// for each of many messages.
  mutating func reserve(_ more: Int) {
    let needed = bytes.count + more
    if needed > bytes.capacity { bytes.reserveCapacity(max(needed, 2 * bytes.capacity)) }
  }
}

/// One message in an ``EncodingArena``.
struct EncodedMessage: Sendable {
  /// Its index in the batch.
  let index: Int
  let recipients: Int
  let pushes: Int
  /// nil unless the encoder asks for it.
  let members: MemberList?
  fileprivate(set) var bytes: Range<Int>
  fileprivate(set) var codes: Range<Int>
  /// What follows the bytes of the arena, where several threads encoded the message.
  fileprivate(set) var parts: [EncodedPiece] = []
}

/// How often each outcome's code occurs for one message.
struct MessageCounts: Sendable {
  /// By code.
  private(set) var byCode = [UInt32](repeating: 0, count: Outcome.codeCount)
  private(set) var recipients = 0
  private(set) var pushes = 0
  /// The codes that occur, and how often.
  private var codes: [UInt8] = []
  private var values: [UInt32] = []

  mutating func set(_ counts: FanoutCounts) {
    removeAll()
    (recipients, pushes) = counts.append(to: &codes, &values)
    for (code, value) in zip(codes, values) { byCode[Int(code)] = value }
  }

  mutating func set(_ counts: OutcomeCounts) {
    removeAll()
    for (code, outcome) in Outcome.coded where counts[outcome] > 0 {
      codes.append(code)
      byCode[Int(code)] = UInt32(counts[outcome])
    }
    recipients = counts.total
    pushes = counts.total(of: .push)
  }

  private mutating func removeAll() {
    for code in codes { byCode[Int(code)] = 0 }
    codes.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
  }

  /// Adds the numbers to those of other messages, by code.
  func add(to totals: inout [Int]) {
    for code in codes { totals[Int(code)] += Int(byCode[Int(code)]) }
  }
}

/// Where one thread at a time puts the messages of a batch that it encodes.
///
/// SAFETY: used by one thread at a time, which takes it from a lock and puts it back there.
final class EncodingArena: @unchecked Sendable {
  private(set) var piece = EncodedPiece()
  private(set) var messages: [EncodedMessage] = []
  /// Of all messages, by code.
  private(set) var totals = [Int](repeating: 0, count: Outcome.codeCount)
  private var counts = MessageCounts()

  /// About so many members one thread encodes of a message that others help with.
  private static let partSize = 1 << 14

  func removeAll() {
    piece.removeAll()
    messages.removeAll(keepingCapacity: true)
    for code in totals.indices { totals[code] = 0 }
  }

  /// Encodes a message that was decided.
  ///
  /// - Parameters:
  ///   - index: the message's index in the batch.
  ///   - number: the ordinal of the message in the run.
  ///   - threads: how many threads may encode parts of a large one.
  func encode(
    _ message: borrowing Message, at index: Int, number: Int, _ result: borrowing FanoutResult,
    by encoder: any DecisionEncoder, threads: Int
  ) {
    let kind = type(of: encoder)
    counts.set(result.counts)
    counts.add(to: &totals)
    let (bytes, codes) = (piece.bytes.count, piece.codes.count)
    var encoded = EncodedMessage(
      index: index, recipients: counts.recipients, pushes: counts.pushes,
      members: kind.needsMembers ? result.memberList : nil, bytes: bytes..<bytes,
      codes: codes..<codes)
    if !kind.needsResults {
      encoder.encode(message, counts, to: &piece)
    } else if kind.splitsMessages, threads > 1, result.memberCount >= 2 * Self.partSize {
      encoded.parts = Self.parts(copy message, number, copy result, encoder, threads)
    } else {
      let all = 0..<result.memberCount
      encoder.encode(
        MessageDecisions(copy message, number: number, copy result, in: all), to: &piece)
    }
    encoded.bytes = bytes..<piece.bytes.count
    encoded.codes = codes..<piece.codes.count
    messages.append(encoded)
  }

  private static func parts(
    _ message: Message, _ number: Int, _ result: FanoutResult, _ encoder: any DecisionEncoder,
    _ threads: Int
  ) -> [EncodedPiece] {
    let count = result.memberCount
    return Parallel.map((count + partSize - 1) / partSize, threads: threads) { part in
      let ranks = part * partSize..<min((part + 1) * partSize, count)
      var piece = EncodedPiece()
      encoder.encode(
        MessageDecisions(message, number: number, result, in: ranks), to: &piece)
      return piece
    }
  }
}
