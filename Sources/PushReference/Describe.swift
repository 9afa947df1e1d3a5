internal import PushRules

// How a trace names what it found.

func describe(_ devices: [Device]) -> String {
  if devices.isEmpty { return "none" }
  return devices.map { "\($0.id) (\($0.kind.rawValue), \($0.state.rawValue))" }
    .joined(separator: ", ")
}

/// An instant at which a mute ends or a membership begins; zero stands for none.
func describe(_ instant: Instant) -> String { instant == .zero ? "none" : instant.rfc3339 }

func describe(_ interval: QuietInterval) -> String {
  "\(clockText(Int(interval.startMinute) * 60, hasSeconds: false))"
    + "-\(clockText(Int(interval.endMinute) * 60, hasSeconds: false))"
}

func describe(_ span: QuietSpan) -> String {
  "\(describe(Int(span.startSecond))) for \(span.spanMinutes) min, level \(span.level.name)"
}

func describe(_ windows: QuietWindows) -> String { "\(windows.windows.count) windows" }

func describe(_ secondOfDay: Int) -> String { clockText(secondOfDay, hasSeconds: true) }

private func clockText(_ secondOfDay: Int, hasSeconds: Bool) -> String {
  let parts = [secondOfDay / 3600, secondOfDay / 60 % 60] + (hasSeconds ? [secondOfDay % 60] : [])
  return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
}
