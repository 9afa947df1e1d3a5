import ArgumentParser
import PushModel

/// Numbers with commas between.
struct NumberList: ExpressibleByArgument {
  let values: [Double]

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    values = parts.compactMap { Double($0) }
    if values.count != parts.count { return nil }
  }
}

/// Whole numbers with commas between, or `none`.
struct IntegerList: ExpressibleByArgument {
  let values: [Int]

  init?(argument: String) {
    if argument == "none" {
      values = []
      return
    }
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    values = parts.compactMap { Int($0) }
    if values.count != parts.count { return nil }
  }
}

/// Unix milliseconds, or an RFC 3339 time.
struct InstantArgument: ExpressibleByArgument {
  let instant: Instant

  init?(argument: String) {
    guard let instant = Instant(text: argument) else { return nil }
    self.instant = instant
  }
}

/// A number and s, m, h or d.
struct DurationArgument: ExpressibleByArgument {
  let milliseconds: Int64

  init?(argument: String) {
    let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = argument.last.flatMap({ units[$0] }),
      let number = Int64(argument.dropLast()), number >= 0
    else { return nil }
    let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit)
    if isTooLarge { return nil }
    milliseconds = product
  }
}

/// A time of day, `HH:MM`.
struct ClockArgument: ExpressibleByArgument {
  let minute: Int

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
      0..<24 ~= hour, 0..<60 ~= minute
    else { return nil }
    self.minute = hour * 60 + minute
  }
}
