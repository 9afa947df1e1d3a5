internal import PushFanout
internal import PushModel

/// The decisions of one message, or of a range of its members, as an encoder takes them: the
/// engine's result, or a list of decisions.
struct MessageDecisions {
  private enum Source {
    case result(FanoutResult)
    case list([(user: Identifier, decision: Decision)])
  }

  let message: Message
  /// The ordinal of the message in the run.
  let number: Int
  /// The members, by rank in the result or by index in the list.
  let ranks: Range<Int>
  private let source: Source

  /// Some members of a message that the engine decided.
  init(_ message: Message, number: Int, _ result: FanoutResult, in ranks: Range<Int>) {
    self.message = message
    self.number = number
    self.ranks = ranks
    source = .result(result)
  }

  /// All recipients of a message.
  ///
  /// - Precondition: each outcome has a code.
  init(_ message: Message, number: Int, _ list: [(user: Identifier, decision: Decision)]) {
    self.message = message
    self.number = number
    ranks = 0..<list.count
    source = .list(list)
  }

  /// Whether the message has no members before these.
  var isFirst: Bool { ranks.lowerBound == 0 }

  /// Whether the message has no members behind these.
  var isLast: Bool {
    switch source {
    case .result(let result): ranks.upperBound == result.memberCount
    case .list: true
    }
  }

  /// Whether a member before these gets a push.
  ///
  /// - Complexity: O(members before the first push).
  var hasEarlierPush: Bool {
    guard !isFirst, case .result(let result) = source else { return false }
    struct Found: Error {}
    do {
      try unsafe result.forEachRecipient(in: 0..<ranks.lowerBound) { _, _, code in
        if code & 1 != 0 { throw Found() }
      }
      return false
    } catch {
      return true
    }
  }

  /// Calls `body` with the index, the id's UTF-8 and the outcome's code of each recipient, in the
  /// order of users.
  @inline(__always)
  func forEachRecipient(_ body: (UInt32, UnsafeRawBufferPointer, UInt8) -> Void) {
    switch source {
    case .result(let result): unsafe result.forEachRecipient(in: ranks, body)
    case .list(let list):
      for (index, (user, decision)) in list.enumerated() {
        var text = user.text
        text.withUTF8 { utf8 in
          unsafe body(
            UInt32(truncatingIfNeeded: index), UnsafeRawBufferPointer(utf8), decision.outcome.code)
        }
      }
    }
  }

  /// Appends the code of each member, 0 for one who is not a recipient.
  func appendCodes(to codes: inout [UInt8]) {
    switch source {
    case .result(let result):
      let start = codes.count
      codes.append(contentsOf: repeatElement(0, count: result.memberCount))
      unsafe codes.withUnsafeMutableBufferPointer { codes in
        let added = unsafe UnsafeMutableBufferPointer(rebasing: codes[start...])
        var span = unsafe added.mutableSpan
        result.writeCodes(into: &span)
      }
    case .list(let list): codes.append(contentsOf: list.lazy.map(\.decision.outcome.code))
    }
  }

  /// The devices of a recipient, by the index that ``forEachRecipient(_:)`` gave.
  func devices(of user: UInt32) -> [Identifier] {
    switch source {
    case .result(let result): result.devices(of: UserIndex(user))
    case .list(let list): list[Int(user)].decision.devices
    }
  }
}
