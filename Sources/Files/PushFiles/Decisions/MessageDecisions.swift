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
    return result.hasPush(in: 0..<ranks.lowerBound)
  }

  /// Calls `body` with the index, the id's UTF-8 and the outcome's code of each recipient, in the
  /// order of users.
  ///
  /// - Parameter withDevices: whether ``devices`` will be read.
  @inline(__always)
  func forEachRecipient(
    withDevices: Bool = false, _ body: (UInt32, UnsafeRawBufferPointer, UInt8) -> Void
  ) {
    switch source {
    case .result(let result):
      unsafe result.forEachRecipient(in: ranks, withDevices: withDevices, body)
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

  /// Calls `body` with the id's UTF-8 of each recipient of a push, in the order of users.
  @inline(__always)
  func forEachPush(_ body: (UnsafeRawBufferPointer) -> Void) {
    switch source {
    case .result(let result): unsafe result.forEachPush(in: ranks, body)
    case .list:
      unsafe forEachRecipient { (_, id, code) -> Void in if code & 1 != 0 { unsafe body(id) } }
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

  /// Where the notifications go.
  var devices: Devices {
    switch source {
    case .result(let result): .read(result.targetReader)
    case .list(let list): .list(list.map(\.decision.devices))
    }
  }

  /// The devices of recipients. Used while the decisions are retained.
  enum Devices {
    case read(TargetReader)
    case list([[Identifier]])

    /// Calls `body` with the id's UTF-8 of each device of a recipient, by the index and code that
    /// ``forEachRecipient(withDevices:_:)`` gave.
    func forEachID(of user: UInt32, code: UInt8, _ body: (UnsafeRawBufferPointer) -> Void) {
      switch self {
      case .read(let reader): unsafe reader.forEachID(of: user, code: code, body)
      case .list(let lists):
        for device in lists[Int(user)] {
          var text = device.text
          text.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
        }
      }
    }
  }
}
