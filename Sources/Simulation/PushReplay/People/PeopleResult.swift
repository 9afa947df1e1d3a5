/// How many pushes people get a day.
///
/// A *person-day* is a person and a day, in the result's time zone, on which a message had that
/// person as a recipient. A person is a user who was a recipient at all.
///
/// - Source: docs/replay.md, "People".
public struct PeopleResult: Codable, Equatable, Sendable {
  /// Users who were a recipient of a message.
  public var people = 0
  /// Person-days.
  public var personDays = 0
  /// The most person-days of one person; no more than the days that had messages.
  public var mostDays = 0
  /// Pushes a person and day.
  public var pushes = DailyPushes()
  /// People who never got a push.
  public var neverReached = 0
  /// Why those were not reached: by the reason of most of a person's decisions, most people first.
  public var neverReasons: [NeverReason] = []

  /// Nothing.
  public init() {}
}

/// The distribution of pushes a person and day.
public struct DailyPushes: Codable, Equatable, Sendable {
  /// Where the classes of ``classes`` begin; the last has no end.
  public static let classes = [0, 1, 3, 6, 11, 21, 51, 101, 1001]

  /// The least number of pushes that half of the person-days do not exceed.
  public var median = 0
  /// The same of nine in ten.
  public var p90 = 0
  /// The same of 99 in a hundred.
  public var p99 = 0
  /// The greatest number.
  public var most = 0
  /// Person-days of each class of ``classes``.
  public var classes = [Int](repeating: 0, count: DailyPushes.classes.count)

  /// No person-days.
  public init() {}

  /// - Parameter sorted: person-days by their number of pushes, ascending.
  init(_ sorted: [(pushes: Int, count: Int)]) {
    let total = sorted.reduce(0) { $0 + $1.count }
    func least(of hundredths: Int) -> Int {
      var sum = 0
      for (pushes, count) in sorted {
        sum += count
        if sum * 100 >= total * hundredths { return pushes }
      }
      return 0
    }
    (median, p90, p99, most) = (
      least(of: 50), least(of: 90), least(of: 99), sorted.last?.pushes ?? 0
    )
    for (pushes, count) in sorted { classes[Self.index(pushes)] += count }
  }

  /// The class of a number of pushes.
  static func index(_ pushes: Int) -> Int { (classes.lastIndex { $0 <= pushes }) ?? 0 }
}

/// A reason, and how many people it mostly kept from being reached.
public struct NeverReason: Codable, Equatable, Sendable {
  /// The name of the reason, as in decisions.
  public var reason: String
  /// People.
  public var people: Int

  /// A reason and its count.
  public init(reason: String, people: Int) {
    self.reason = reason
    self.people = people
  }
}

/// How many pushes people get a day on both sides.
public struct ComparedPeople: Codable, Equatable, Sendable {
  /// Users who were a recipient of a message on either side.
  public var people = 0
  /// Person-days.
  public var personDays = 0
  /// The most person-days of one person; no more than the days that had messages.
  public var mostDays = 0
  /// Pushes a person and day in A.
  public var a = DailyPushes()
  /// Pushes a person and day in B.
  public var b = DailyPushes()
  /// Person-days by the class in A and, within it, the class in B, as in ``DailyPushes/classes``.
  public var flow: [[Int]] = DailyPushes.classes.map { _ in
    [Int](repeating: 0, count: DailyPushes.classes.count)
  }
  /// People who get a push in A and none at all in B.
  public var noneAnyMore = 0
  /// People who get none at all in A and a push in B.
  public var firstTime = 0
  /// People who get none at all on either side.
  public var never = 0

  /// Nothing.
  public init() {}
}
