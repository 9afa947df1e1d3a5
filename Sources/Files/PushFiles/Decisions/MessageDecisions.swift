internal import PushFanout
internal import PushModel

/// The decisions of one message, or of a range of its members, as an encoder takes them: ids and
/// codes, in the order of users.
protocol MessageDecisions {
  var message: Message { get }
  /// How many members these are.
  var count: Int { get }
  /// Whether the message has no members before these.
  var isFirst: Bool { get }
  /// Whether the message has no members behind these.
  var isLast: Bool { get }
  /// Whether a member before these gets a push.
  var hasEarlierPush: Bool { get }

  /// Calls `body` with a number, the id's UTF-8 and the outcome's code of each recipient.
  ///
  /// - Parameter withDevices: whether the devices will be read.
  func forEachRecipient(
    withDevices: Bool, _ body: (UInt32, UnsafeRawBufferPointer, UInt8) -> Void)

  /// Calls `body` with the id's UTF-8 of each recipient of a push.
  func forEachPush(_ body: (UnsafeRawBufferPointer) -> Void)

  /// Calls `body` with the id's UTF-8 of each device of a recipient, by the number and code that
  /// ``forEachRecipient(withDevices:_:)`` gave.
  func forEachDevice(of number: UInt32, code: UInt8, _ body: (UnsafeRawBufferPointer) -> Void)
}

/// Some members of a message that the engine decided.
struct ResultDecisions: MessageDecisions {
  let message: Message
  private let result: FanoutResult
  private let ranks: Range<Int>
  private let devices: TargetReader

  init(_ message: Message, _ result: FanoutResult, in ranks: Range<Int>) {
    self.message = message
    self.result = result
    self.ranks = ranks
    devices = result.targetReader
  }

  var count: Int { ranks.count }
  var isFirst: Bool { ranks.lowerBound == 0 }
  var isLast: Bool { ranks.upperBound == result.memberCount }
  /// - Complexity: O(members before the first push).
  var hasEarlierPush: Bool { !isFirst && result.hasPush(in: 0..<ranks.lowerBound) }

  func forEachRecipient(
    withDevices: Bool, _ body: (UInt32, UnsafeRawBufferPointer, UInt8) -> Void
  ) {
    unsafe result.forEachRecipient(in: ranks, withDevices: withDevices, body)
  }

  func forEachPush(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe result.forEachPush(in: ranks, body)
  }

  func forEachDevice(of number: UInt32, code: UInt8, _ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe devices.forEachID(of: number, code: code, body)
  }
}

/// All recipients of a message, by whatever decided it. Each outcome has a code.
struct ListedDecisions: MessageDecisions {
  let message: Message
  let list: [(user: Identifier, decision: Decision)]

  var count: Int { list.count }
  var isFirst: Bool { true }
  var isLast: Bool { true }
  var hasEarlierPush: Bool { false }

  func forEachRecipient(
    withDevices: Bool, _ body: (UInt32, UnsafeRawBufferPointer, UInt8) -> Void
  ) {
    for (number, (user, decision)) in list.enumerated() {
      unsafe user.withUTF8 { unsafe body(UInt32(number), $0, decision.outcome.code) }
    }
  }

  func forEachPush(_ body: (UnsafeRawBufferPointer) -> Void) {
    for (user, decision) in list where decision.outcome.action == .push {
      unsafe user.withUTF8 { unsafe body($0) }
    }
  }

  func forEachDevice(of number: UInt32, code: UInt8, _ body: (UnsafeRawBufferPointer) -> Void) {
    for device in list[Int(number)].decision.devices {
      unsafe device.withUTF8 { unsafe body($0) }
    }
  }
}
