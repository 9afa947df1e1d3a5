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
  let bytes: Range<Int>
  let codes: Range<Int>
  /// What follows the bytes of the arena, where several threads encoded the message.
  let parts: [EncodedPiece]
}

/// Where one thread at a time puts the messages of a batch that it encodes.
struct EncodingArena: Sendable {
  private(set) var piece = EncodedPiece()
  private(set) var messages: [EncodedMessage] = []
  /// Of all messages, by code.
  private(set) var totals = [Int](repeating: 0, count: Outcome.codeCount)

  /// About so many members one thread encodes of a message that others help with.
  private static let partSize = 1 << 14

  mutating func removeAll() {
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
  mutating func encode(
    _ message: borrowing Message, at index: Int, number: Int, _ result: borrowing FanoutResult,
    by encoder: any DecisionEncoder, threads: Int
  ) {
    let kind = type(of: encoder)
    let counts = result.counts
    var (recipients, pushes) = (0, 0)
    counts.forEach { code, count in
      totals[Int(code)] += count
      recipients += count
      pushes += Int(code & 1) * count
    }
    let (bytes, codes) = (piece.bytes.count, piece.codes.count)
    var parts: [EncodedPiece] = []
    if !kind.needsResults {
      encoder.encode(message, counts, to: &piece)
    } else if kind.splitsMessages, threads > 1, result.memberCount >= 2 * Self.partSize {
      parts = Self.parts(copy message, number, copy result, encoder, threads)
    } else {
      let all = 0..<result.memberCount
      encoder.encode(
        MessageDecisions(copy message, number: number, copy result, in: all), to: &piece)
    }
    messages.append(
      EncodedMessage(
        index: index, recipients: recipients, pushes: pushes,
        members: kind.needsMembers ? result.memberList : nil, bytes: bytes..<piece.bytes.count,
        codes: codes..<piece.codes.count, parts: parts))
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
