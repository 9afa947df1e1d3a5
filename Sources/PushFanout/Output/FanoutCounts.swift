public import PushModel

/// The number of a message's recipients by outcome.
///
/// - Memory: 512 bytes, inline: counting does not allocate.
public struct FanoutCounts: Sendable {
  private var counts = InlineArray<128, UInt32>(repeating: 0)

  /// Creates counts of 0.
  public init() {}

  mutating func add(_ code: UInt8, _ count: Int) {
    // Corrections subtract before they add, but never more than was counted. Subscripting an inline
    // array may copy it; subscripting its span does not.
    var span = counts.mutableSpan
    span[Int(code)] &+= UInt32(truncatingIfNeeded: count)
  }

  /// Removes members who are not recipients: no outcome has the code 0.
  mutating func removeNobody() {
    var span = counts.mutableSpan
    span[0] = 0
  }

  /// The number of recipients with an outcome.
  public subscript(outcome: Outcome) -> Int { outcome.code == 0 ? 0 : self[code: outcome.code] }

  /// The number of recipients with a reason, whatever the scope.
  public subscript(reason: Reason) -> Int {
    Outcome.coded.reduce(0) {
      $0 + ($1.outcome.reason == reason ? self[code: $1.code] : 0)
    }
  }

  /// The number of recipients with the outcome of a code.
  public subscript(code code: UInt8) -> Int { Int(counts.span[Int(code)]) }

  /// Writes the counts of all codes, `Outcome.codeCount` numbers, of which the first is 0.
  ///
  /// - Precondition: there is room for them.
  public func write(into output: inout MutableSpan<UInt32>) {
    let span = counts.span
    for code in 0..<128 { output[code] = span[code] }
  }

  /// The number of recipients who get a push. Their codes are the odd ones.
  public var pushCount: Int {
    let span = counts.span
    var count = 0
    for code in stride(from: 1, to: 128, by: 2) { count &+= Int(span[code]) }
    return count
  }

  /// The number of recipients.
  public var recipientCount: Int {
    let span = counts.span
    var count = 0
    for code in 1..<128 { count &+= Int(span[code]) }
    return count
  }

  /// The outcomes that occur and their counts, in the order of codes.
  public var nonZero: [(outcome: Outcome, count: Int)] {
    Outcome.coded.compactMap { code, outcome in
      self[code: code] > 0 ? (outcome: outcome, count: self[code: code]) : nil
    }
  }
}

extension FanoutCounts {
  /// Appends the codes that occur and their counts.
  ///
  /// - Returns: the number of recipients, and of those who get a push.
  @discardableResult package func append(
    to codes: inout [UInt8], _ values: inout [UInt32]
  ) -> (recipients: Int, pushes: Int) {
    var recipients = 0
    var pushes = 0
    let span = counts.span
    for code in 1..<128 {
      let value = span[code]
      if value == 0 { continue }
      codes.append(UInt8(code))
      values.append(value)
      recipients &+= Int(value)
      pushes &+= Int(value) &* (code & 1)
    }
    return (recipients, pushes)
  }
}

extension FanoutCounts: Equatable {
  public static func == (left: FanoutCounts, right: FanoutCounts) -> Bool {
    let (a, b) = (left.counts.span, right.counts.span)
    for code in 0..<128 where a[code] != b[code] { return false }
    return true
  }
}

extension OutcomeCounts {
  /// Adds the counts of one message.
  public mutating func add(_ counts: FanoutCounts) {
    for (code, outcome) in Outcome.coded where counts[code: code] > 0 {
      add(outcome, counts[code: code])
    }
  }
}
