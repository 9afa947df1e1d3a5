internal import PushSupport

/// Numbers formatted for readers.
enum Figures {
  /// Between a number and its unit, which stay on one line.
  private static let space = "\u{A0}"

  /// A whole number with its thousands apart: `1,234,567`.
  static func exact(_ number: Int) -> String {
    (number < 0 ? "\u{2212}" : "") + number.magnitude.grouped
  }

  /// Three digits and a unit: `1.23 M`, `2.24 billion`; below ten thousand the whole number.
  static func short(_ number: Double) -> String {
    let size = number.magnitude
    if size < 9_999.5 {
      return size < 100 && size != size.rounded() ? digits(number) : exact(whole(number))
    }
    // A thousandth below, so that 999,950 is 1 M and not 1000 k.
    for (unit, name) in [
      (1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "M"),
    ] where size >= unit * 0.9995 {
      return digits(number / unit) + space + name
    }
    return digits(number / 1e3) + space + "k"
  }

  /// Three digits and a unit.
  static func short(_ number: Int) -> String { short(Double(number)) }

  /// A mark of an axis: `1.5 M`, `2 bn`.
  static func tick(_ number: Double) -> String {
    let parts = short(number).split(separator: "\u{A0}", maxSplits: 1)
    guard parts.count > 1 else { return withoutZeros(String(parts[0])) }
    // An axis has no room for billions.
    let unit = parts[1].hasSuffix("illion") ? "\(parts[1].first!)n" : String(parts[1])
    return withoutZeros(String(parts[0])) + space + unit
  }

  /// A mean: whole if it is or has three digits, else with decimals.
  static func mean(_ number: Double) -> String {
    number == number.rounded() ? exact(whole(number)) : digits(number)
  }

  /// A difference with its sign; of nothing `0`.
  static func signed(_ number: Int) -> String { (number > 0 ? "+" : "") + exact(number) }

  /// A mark of an axis of shares: `12.5 %`.
  static func tick(percent share: Double) -> String {
    withoutZeros(fixed(share * 100, decimals: 2)) + space + "%"
  }

  private static func withoutZeros(_ number: String) -> String {
    guard number.contains(".") else { return number }
    let cut = number.reversed().drop { $0 == "0" }.reversed()
    return String(cut.last == "." ? cut.dropLast() : cut[...])
  }

  /// A share as percent: `12.3 %`; of nothing a dash.
  static func share(_ part: Int, of total: Int) -> String {
    guard total > 0 else { return "\u{2013}" }
    return percent(Double(part) / Double(total), isExact: part == 0 || part == total)
  }

  /// A share of 0...1 as percent; one that is nearly nothing or everything does not become it.
  static func percent(_ share: Double, isExact: Bool = false) -> String {
    if isExact { return fixed(share * 100, decimals: 0) + space + "%" }
    if share > 0, share < 0.0005 { return "<\(space)0.1\(space)%" }
    if share < 1, share >= 0.9995 { return ">\(space)99.9\(space)%" }
    return fixed(share * 100, decimals: 1) + space + "%"
  }

  /// Seconds in the unit that suits them: `1.23 ms`, `4.56 s`, `3 min 20 s`, `2 h 5 min`.
  static func seconds(_ seconds: Double) -> String {
    if seconds < 0.000_001 { return "\(digits(seconds * 1e9))\(space)ns" }
    if seconds < 0.001 { return "\(digits(seconds * 1e6))\(space)\u{B5}s" }
    if seconds < 0.9995 { return "\(digits(seconds * 1e3))\(space)ms" }
    if seconds < 119.5 { return "\(digits(seconds))\(space)s" }
    let all = whole(seconds)
    if all < 7200 { return "\(all / 60) min \(all % 60) s" }
    if all < 172_800 { return "\(all / 3600) h \(all / 60 % 60) min" }
    return "\(exact(all / 86_400)) d \(all / 3600 % 24) h"
  }

  /// Three digits, more before the point if there are more.
  static func digits(_ number: Double) -> String {
    let size = number.magnitude
    return fixed(number, decimals: size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
  }

  /// A number with a fixed number of decimals.
  static func fixed(_ number: Double, decimals: Int) -> String {
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let scaled = whole(number * Double(scale))
    let (front, back) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt(scale))
    let sign = scaled < 0 ? "\u{2212}" : ""
    guard decimals > 0 else { return sign + exact(Int(front)) }
    let fraction = String(back)
    return sign + exact(Int(front)) + "."
      + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  /// The nearest whole number; what fits none is cut to the largest that this page writes.
  static func whole(_ number: Double) -> Int {
    guard number.isFinite else { return 0 }
    let limit = 9e18
    return Int(max(-limit, min(limit, number)).rounded())
  }

  /// `1 push`, `38,017 pushes`, `1.23 M pushes`: exact below a million.
  static func pushes(_ number: Int) -> String {
    number < 1_000_000 ? count(number, "push", "pushes") : short(number) + " pushes"
  }

  /// `1 message`, `2 messages`.
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    exact(number) + " " + (number == 1 ? one : many ?? one + "s")
  }
}
