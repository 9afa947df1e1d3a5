public import PushModel

/// The number of a message's recipients by outcome.
///
/// - Memory: 528 bytes, inline: counting does not allocate.
public struct FanoutCounts: Sendable {
  private var counts = InlineArray<128, UInt32>(repeating: 0)
  /// A bit for each code that was added; the counts of all others are 0.
  private var codes: UInt128 = 0

  /// Creates counts of 0.
  public init() {}

  package mutating func add(_ code: UInt8, _ count: Int) {
    // Corrections subtract before they add, but never more than was counted. Subscripting an inline
    // array may copy it; subscripting its span does not.
    var span = counts.mutableSpan
    span[Int(code)] &+= UInt32(truncatingIfNeeded: count)
    codes |= 1 &<< UInt128(code)
  }

  /// Sets all counts to 0.
  package mutating func removeAll() {
    var span = counts.mutableSpan
    while codes != 0 {
      span[codes.trailingZeroBitCount] = 0
      codes &= codes &- 1
    }
  }

  /// Removes members who are not recipients: no outcome has the code 0.
  mutating func removeNobody() {
    var span = counts.mutableSpan
    span[0] = 0
  }

  /// Passes on the codes that occur, in their order, and how often each does.
  package func forEach(_ body: (_ code: UInt8, _ count: Int) -> Void) {
    let span = counts.span
    var rest = codes
    while rest != 0 {
      let code = rest.trailingZeroBitCount
      rest &= rest &- 1
      if span[code] > 0 { body(UInt8(code), Int(span[code])) }
    }
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
    var pushes = 0
    forEach { pushes += Int($0 & 1) * $1 }
    return pushes
  }

  /// The number of recipients.
  public var recipientCount: Int {
    var recipients = 0
    forEach { recipients += $1 }
    return recipients
  }

  /// The outcomes that occur and their counts, in the order of codes.
  public var nonZero: [(outcome: Outcome, count: Int)] {
    Outcome.coded.compactMap { code, outcome in
      self[code: code] > 0 ? (outcome: outcome, count: self[code: code]) : nil
    }
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

extension FanoutCounts {
  /// The same counts, of one message.
  package init(_ counts: OutcomeCounts) {
    for (code, outcome) in Outcome.coded where counts[outcome] > 0 { add(code, counts[outcome]) }
  }
}
