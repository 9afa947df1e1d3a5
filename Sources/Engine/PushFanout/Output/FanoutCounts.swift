public import PushModel

/// The number of a message's recipients by outcome.
///
/// - Memory: 664 bytes, inline: counting does not allocate.
public struct FanoutCounts: Sendable {
  private var counts = InlineArray<160, UInt32>(repeating: 0)
  /// A bit for each code that was added; other counts are 0.
  private var codes = InlineArray<3, UInt64>(repeating: 0)

  /// Creates counts of 0.
  public init() {}

  package mutating func add(_ code: UInt8, _ count: Int) {
    // Corrections subtract first, but never more than was counted. An inline array's subscript may
    // copy it; its span's does not.
    var span = counts.mutableSpan
    span[Int(code)] &+= UInt32(truncatingIfNeeded: count)
    var bits = codes.mutableSpan
    bits[Int(code >> 6)] |= 1 &<< UInt64(code & 63)
  }

  package mutating func removeAll() {
    var span = counts.mutableSpan
    var bits = codes.mutableSpan
    for word in 0..<3 {
      while bits[word] != 0 {
        span[word * 64 + bits[word].trailingZeroBitCount] = 0
        bits[word] &= bits[word] &- 1
      }
    }
  }

  /// Removes members who are not recipients, which code 0 stands for.
  mutating func removeNobody() {
    var span = counts.mutableSpan
    span[0] = 0
  }

  /// Calls `body` with each code that occurs, ascending, and its count.
  package func forEach(_ body: (_ code: UInt8, _ count: Int) -> Void) {
    let span = counts.span
    let bits = codes.span
    for word in 0..<3 {
      var rest = bits[word]
      while rest != 0 {
        let code = word * 64 + rest.trailingZeroBitCount
        rest &= rest &- 1
        if span[code] > 0 { body(UInt8(code), Int(span[code])) }
      }
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

  /// Writes the counts of all `Outcome.codeCount` codes, of which the first is 0.
  ///
  /// - Precondition: `output` has room for them.
  public func write(into output: inout MutableSpan<UInt32>) {
    let span = counts.span
    for code in 0..<Outcome.codeCount { output[code] = span[code] }
  }

  /// The number of recipients who get a push, whose codes are odd.
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

  /// The outcomes that occur with their counts, in the order of codes.
  public var nonZero: [(outcome: Outcome, count: Int)] {
    Outcome.coded.compactMap { code, outcome in
      self[code: code] > 0 ? (outcome: outcome, count: self[code: code]) : nil
    }
  }
}

extension FanoutCounts: Equatable {
  public static func == (left: FanoutCounts, right: FanoutCounts) -> Bool {
    let (a, b) = (left.counts.span, right.counts.span)
    for code in 0..<Outcome.codeCount where a[code] != b[code] { return false }
    return true
  }
}

extension OutcomeCounts {
  /// Adds a message's counts.
  public mutating func add(_ counts: FanoutCounts) {
    for (code, outcome) in Outcome.coded where counts[code: code] > 0 {
      add(outcome, counts[code: code])
    }
  }
}

extension FanoutCounts {
  package init(_ counts: OutcomeCounts) {
    for (code, outcome) in Outcome.coded where counts[outcome] > 0 { add(code, counts[outcome]) }
  }
}
