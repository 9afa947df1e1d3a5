public import PushModel

/// The 1,440 minutes of one UTC date, in which of them a schedule is quiet, and what it then lets
/// through.
///
/// A bit tells whether the minute's first second is inside. A minute in which the level changes
/// after its first second is *partial*; exact seconds are found by the transitions, so that windows
/// with seconds, closed or open ends and zones whose offset has seconds are right
/// too.
///
/// Days of 23, 23.5, 24.5 and 25 hours need nothing of their own: a UTC date always has 1,440
/// minutes, and a clock change in it only moves the transitions.
///
/// - Memory: 185 bytes and 4 bytes a transition; a day rarely has more than two.
public struct DayBitmap: Hashable, Sendable {
  /// What a minute is to a schedule.
  public enum Minute: Hashable, Sendable {
    /// Not quiet at any second.
    case outside
    /// Quiet at every second.
    case inside
    /// Outside for some seconds and inside for others.
    case partial
  }

  /// A bit a minute, the first in the lowest bit of the first word.
  let words: [UInt64]
  /// What holds at the first second, and from each transition on: one array, so that copying and
  /// reading a bitmap is cheap.
  private let first: Change
  private let changes: [Change]

  /// A second of the day, and what is let through from then on; nil outside of quiet hours.
  private struct Change: Hashable, Sendable {
    private let bits: UInt32
    /// The lowest 10 bits where it is not quiet: no level has this number.
    private static let outside: UInt32 = 0x3FF

    init(second: Int64, level: NotificationLevel?) {
      bits = UInt32(second) << 10 | (level.map { UInt32($0.rawValue) } ?? Self.outside)
    }

    var second: Int { Int(bits >> 10) }
    var isQuiet: Bool { bits & Self.outside != Self.outside }
    var level: NotificationLevel? {
      NotificationLevel(rawValue: UInt16(truncatingIfNeeded: bits & Self.outside))
    }
  }

  /// The seconds of the day, ascending, at which another level holds than the second before.
  /// Second 0 is never among them.
  public var transitions: [Int32] { changes.map { Int32($0.second) } }

  /// The bitmap of a schedule that is never quiet.
  public static let never = DayBitmap(first: Change(second: 0, level: nil), changes: [])

  /// The bitmap of a schedule on a date.
  ///
  /// - Parameter day: days since 1970-01-01, 0 or more.
  /// - Complexity: O(transitions of the day), each O(log transitions of the zone); about 0.3 µs.
  public init(_ schedule: QuietSchedule, day: Int64) {
    let start = day * 86_400
    var changes: [Change] = []
    var now = start
    while let transition = schedule.nextTransition(after: now), transition < start + 86_400 {
      changes.append(Change(second: transition - start, level: schedule.level(at: transition)))
      now = transition
    }
    self.init(first: Change(second: 0, level: schedule.level(at: start)), changes: changes)
  }

  private init(first: Change, changes: [Change]) {
    self.first = first
    self.changes = changes
    var words = [UInt64](repeating: 0, count: 23)
    var minute = 0
    var isQuiet = first.isQuiet
    for change in changes {
      // The first minute whose first second is at the transition or behind it.
      let next = (change.second + 59) / 60
      if isQuiet { Self.set(minute..<next, in: &words) }
      minute = next
      isQuiet = change.isQuiet
    }
    if isQuiet { Self.set(minute..<1440, in: &words) }
    self.words = words
  }

  /// Sets a range of bits, a word at a time.
  private static func set(_ bits: Range<Int>, in words: inout [UInt64]) {
    var bit = bits.lowerBound
    while bit < bits.upperBound {
      let count = min(64 - bit % 64, bits.upperBound - bit)
      words[bit / 64] |= (UInt64.max >> UInt64(64 - count)) << UInt64(bit % 64)
      bit += count
    }
  }

  /// What a minute of the UTC date is, 0 ..< 1,440.
  ///
  /// - Complexity: O(transitions of the day).
  public subscript(minute: Int) -> Minute {
    let isInside = isInsideAtStart(ofMinute: minute)
    let isPartial = changes.contains {
      $0.second / 60 == minute && $0.second % 60 != 0 && $0.isQuiet != isInside
    }
    return isPartial ? .partial : isInside ? .inside : .outside
  }

  /// Whether a second of the UTC date is inside, 0 ..< 86,400.
  ///
  /// - Complexity: O(1), and O(transitions of the day) where there are some.
  public func contains(second: Int) -> Bool {
    let minute = second / 60
    var isInside = isInsideAtStart(ofMinute: minute)
    for change in changes where minute * 60 < change.second && change.second <= second {
      isInside = change.isQuiet
    }
    return isInside
  }

  /// What is let through at a second of the UTC date, 0 ..< 86,400; nil when it is not quiet.
  ///
  /// - Complexity: O(transitions of the day).
  public func level(second: Int) -> NotificationLevel? {
    var change = first
    for next in changes where next.second <= second { change = next }
    return change.level
  }

  private func isInsideAtStart(ofMinute minute: Int) -> Bool {
    words[minute / 64] >> UInt64(minute % 64) & 1 != 0
  }
}
