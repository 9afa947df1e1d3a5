/// An hour of the week with counts, and how many such hours they are of: a replay seldom has as many
/// Mondays as Tuesdays, so its hours are compared by their means.
///
/// - Source: docs/replay.md, "Means".
public protocol CoveredHour {
  /// 1 is Monday, 7 is Sunday.
  var weekday: Int { get }
  /// 0 ..< 24.
  var hour: Int { get }
  /// How many such hours there were.
  var days: Double { get }
}

extension Sequence where Element: CoveredHour {
  /// The mean of a count in one of these hours; 0 if there was none.
  ///
  /// - Complexity: O(hours).
  public func mean(_ count: (Element) -> Int) -> Double {
    let sum = reduce(into: (count: 0, days: 0.0)) {
      $0.count += count($1)
      $0.days += $1.days
    }
    return sum.days > 0 ? Double(sum.count) / sum.days : 0
  }

  /// The sum of the means of these hours: of those of a weekday, the mean of such a day.
  ///
  /// - Complexity: O(hours).
  public func sumOfMeans(_ count: (Element) -> Int) -> Double {
    reduce(0) { $0 + CollectionOfOne($1).mean(count) }
  }
}
