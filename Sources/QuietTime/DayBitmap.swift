/// The 1,440 minutes of one UTC date, and in which of them a window holds.
///
/// A bit says whether the minute's first second is inside. A minute in which the answer turns
/// behind its first second is *partial*: there the exact turns are asked, so that windows with
/// seconds, closed or open ends and zones whose offset has seconds are right too.
///
/// Days of 23, 23.5, 24.5 and 25 hours need nothing of their own: a UTC date always has 1,440
/// minutes, and a clock change in it only moves the turns.
///
/// - Memory: 184 bytes and 4 bytes a turn; a day rarely has more than two turns.
public struct DayBitmap: Hashable, Sendable {
  /// What a minute is to a window.
  public enum Minute: Hashable, Sendable {
    case outside, inside
    /// Outside for some seconds and inside for others.
    case partial
  }

  /// A bit a minute, the first in the lowest bit of the first word.
  private let words: [UInt64]
  /// The seconds of the day, ascending, at which the answer is another than the second before.
  /// Second 0 is never among them.
  public let turns: [Int32]

  /// The bitmap of a window that never holds.
  public static let never = DayBitmap(isInsideAtStart: false, turns: [])

  /// The bitmap of a window on a date.
  ///
  /// - Parameter day: days since 1970-01-01, 0 or more.
  /// - Complexity: O(turns of the day), each O(log transitions of the zone); about 0.3 µs.
  public init(_ window: ZonedWindow, day: Int64) {
    let start = day * DailyWindow.daySeconds
    let end = start + DailyWindow.daySeconds
    var turns: [Int32] = []
    var now = start
    while let turn = window.nextTurn(after: now), turn < end {
      turns.append(Int32(turn - start))
      now = turn
    }
    self.init(isInsideAtStart: window.contains(utcSeconds: start), turns: turns)
  }

  private init(isInsideAtStart: Bool, turns: [Int32]) {
    self.turns = turns
    var words = [UInt64](repeating: 0, count: 23)
    var isInside = isInsideAtStart
    var minute = 0
    for turn in turns + [86_400] {
      // The first minute whose first second is at the turn or behind it.
      let next = Int(turn + 59) / 60
      if isInside {
        for minute in minute..<next { words[minute / 64] |= 1 << UInt64(minute % 64) }
      }
      minute = next
      isInside.toggle()
    }
    self.words = words
  }

  /// What a minute of the UTC date is, 0 ..< 1,440.
  ///
  /// - Complexity: O(turns of the day).
  public subscript(minute: Int) -> Minute {
    let isPartial = turns.contains { Int($0) / 60 == minute && $0 % 60 != 0 }
    return isPartial ? .partial : isInsideAtStart(ofMinute: minute) ? .inside : .outside
  }

  /// Whether a second of the UTC date is inside, 0 ..< 86,400.
  ///
  /// - Complexity: O(1), and O(turns of the day) where there are some.
  public func contains(second: Int) -> Bool {
    let minute = second / 60
    var isInside = isInsideAtStart(ofMinute: minute)
    for turn in turns where minute * 60 < Int(turn) && Int(turn) <= second { isInside.toggle() }
    return isInside
  }

  private func isInsideAtStart(ofMinute minute: Int) -> Bool {
    words[minute / 64] >> UInt64(minute % 64) & 1 != 0
  }
}
