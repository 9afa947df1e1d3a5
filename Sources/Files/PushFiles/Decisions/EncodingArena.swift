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

/// The members of a message in an ``EncodingArena``, for outputs that take them.
struct EncodedMembers: Sendable {
  /// nil for a message to an unknown conversation.
  let list: MemberList?
  let recipients: Int
  let pushes: Int
  /// Where their codes are in the arena.
  let codes: Range<Int>
}

/// What a message in an ``EncodingArena`` has besides its bytes there.
struct EncodedMessage: Sendable {
  /// Where its bytes in the arena end.
  let end: Int
  /// What follows them, where several threads encoded the message.
  let parts: [EncodedPiece]
  /// nil unless the encoder asks for them.
  let members: EncodedMembers?
}

/// Where one thread encodes messages one after the other.
struct EncodingArena: Sendable {
  private(set) var piece = EncodedPiece()
  /// Those messages that have more than their bytes here.
  private(set) var messages: [EncodedMessage] = []
  /// Of all messages, by code.
  private(set) var totals = [Int](repeating: 0, count: Outcome.codeCount)
  /// Of the message at hand.
  private var counts = FanoutCounts()

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
  ///   - number: the ordinal of the message in the run.
  ///   - threads: how many threads may encode parts of a large one.
  mutating func encode(
    _ message: borrowing Message, number: Int, _ result: borrowing FanoutResult,
    by encoder: any DecisionEncoder, threads: Int
  ) {
    let kind = type(of: encoder)
    result.count(into: &counts)
    Self.add(counts, to: &totals)
    if !kind.needsResults || kind.needsMembers {
      encoder.encode(message, number: number, counts, to: &piece)
      if kind.needsMembers { addMembers(result) }
      return
    }
    if threads > 1, result.memberCount >= 2 * Self.partSize {
      let parts = Self.parts(copy message, copy result, encoder, threads)
      messages.append(EncodedMessage(end: piece.bytes.count, parts: parts, members: nil))
    } else {
      let all = 0..<result.memberCount
      encoder.encode(ResultDecisions(copy message, copy result, in: all), to: &piece)
    }
  }

  /// Appends the code of each member, 0 for one who is not a recipient.
  private mutating func addMembers(_ result: borrowing FanoutResult) {
    let codes = piece.codes.count..<piece.codes.count + result.memberCount
    piece.codes.append(contentsOf: repeatElement(0, count: codes.count))
    unsafe piece.codes.withUnsafeMutableBufferPointer { all in
      let added = unsafe UnsafeMutableBufferPointer(rebasing: all[codes])
      var span = unsafe added.mutableSpan
      result.writeCodes(into: &span)
    }
    let members = EncodedMembers(
      list: result.memberList, recipients: counts.recipientCount, pushes: counts.pushCount,
      codes: codes)
    messages.append(EncodedMessage(end: piece.bytes.count, parts: [], members: members))
  }

  private static func add(_ counts: borrowing FanoutCounts, to totals: inout [Int]) {
    counts.forEach { totals[Int($0)] += $1 }
  }

  private static func parts(
    _ message: Message, _ result: FanoutResult, _ encoder: any DecisionEncoder, _ threads: Int
  ) -> [EncodedPiece] {
    let count = result.memberCount
    return Parallel.map((count + partSize - 1) / partSize, threads: threads) { part in
      let ranks = part * partSize..<min((part + 1) * partSize, count)
      var piece = EncodedPiece()
      encoder.encode(ResultDecisions(message, result, in: ranks), to: &piece)
      return piece
    }
  }
}
