internal import PushSupport

// How the steps of an explanation name what was found. The engine and the reference find it each in
// its own way; only the words are shared.

package func describe(_ devices: [Device]) -> String {
  if devices.isEmpty { return "none" }
  return devices.map { "\($0.id) (\($0.kind.rawValue), \($0.state.rawValue))" }
    .joined(separator: ", ")
}

/// An instant at which a mute ends or a membership begins; zero means none.
package func describe(_ instant: Instant) -> String {
  instant == .zero ? "none" : instant.rfc3339
}

package func describe(_ interval: QuietInterval) -> String {
  ClockTime.text(minuteOfDay: interval.startMinute) + "-"
    + ClockTime.text(minuteOfDay: interval.endMinute)
}

package func describe(_ span: QuietSpan) -> String {
  "\(describe(Int(span.startSecond))) for \(span.spanMinutes) min, level \(span.level.name)"
}

package func describe(_ windows: QuietWindows) -> String { "\(windows.windows.count) windows" }

package func describe(_ secondOfDay: Int) -> String { ClockTime.text(secondOfDay: secondOfDay) }

package func yesNo(_ flag: Bool) -> String { flag ? "yes" : "no" }
