internal import PushFanout

/// The outcomes of messages and how often each occurred, message by message.
struct MessageCounts: Sendable {
  var codes: [UInt8] = []
  var values: [UInt32] = []
  /// Where each message's end.
  var ends: [Int] = []

  mutating func append(_ counts: FanoutCounts) {
    counts.forEach { code, count in
      codes.append(code)
      values.append(UInt32(count))
    }
    ends.append(codes.count)
  }
}
