internal import PushModel
internal import PushSupport

// How the steps of an explanation name what was found.

func describe(_ devices: [Device]) -> String {
  if devices.isEmpty { return "none" }
  return devices.map { "\($0.id) (\($0.kind.rawValue), \($0.state.rawValue))" }
    .joined(separator: ", ")
}

/// An instant at which a mute ends or a membership begins; zero means none.
func describe(_ instant: Instant) -> String {
  instant == .zero ? "none" : instant.rfc3339
}

func describe(_ interval: QuietInterval) -> String {
  ClockTime.text(minuteOfDay: interval.startMinute) + "-"
    + ClockTime.text(minuteOfDay: interval.endMinute)
}

func describe(_ span: QuietSpan) -> String {
  "\(describe(Int(span.startSecond))) for \(span.spanMinutes) min, level \(span.level.name)"
}

func describe(_ windows: QuietWindows) -> String { "\(windows.windows.count) windows" }

func describe(_ secondOfDay: Int) -> String { ClockTime.text(secondOfDay: secondOfDay) }

func yesNo(_ flag: Bool) -> String { flag ? "yes" : "no" }
