internal import PushModel
internal import PushSupport

// How the steps of an explanation name what was found.

func describe(_ devices: [Device]) -> String {
  if devices.isEmpty { return "none" }
  return devices.map { device in
    let state =
      switch device.state {
      case .foreground: "connected (foreground)"
      case .background: "connected (background)"
      case .offline: "offline"
      case .loggedOut: "logged out"
      case .kicked: "kicked"
      }
    return "\(device.id) (\(device.kind.rawValue)) is \(state)"
  }.joined(separator: ", ")
}

func names(_ devices: [Device]) -> String { devices.map(\.id.text).joined(separator: ", ") }

func describe(_ conversation: ConversationSettings) -> String {
  switch conversation.kind {
  case .private: "a direct chat"
  case .group: "a group"
  case .thread: "a thread of \(conversation.parent?.text ?? "")"
  case .discussion: "a discussion"
  case .customerService: "customer service"
  case .system: "a system conversation"
  case .ultraGroup: "an ultra group"
  case .room: "a chat room"
  }
}

/// A level, and who set it.
func describe(_ level: NotificationLevel, _ scope: Scope, of parent: Identifier? = nil) -> String {
  let messages =
    switch level {
    case .unset: "nothing"
    case .mention: "mentions only"
    case .mentionUsers: "mentions of the user only"
    case .mentionAll: "mentions of everyone only"
    default: describe(level.mask)
    }
  return "\(messages), \(setter(scope, parent))"
}

/// A level of open rules, and who set it.
func describe(classes: MessageClasses, _ scope: Scope, of parent: Identifier?) -> String {
  "\(describe(classes)), \(setter(scope, parent))"
}

private func describe(_ classes: MessageClasses) -> String {
  switch classes {
  case .all: "all messages"
  case []: "no message"
  case .mentions: "all messages but plain ones"
  default: "messages of the classes \(classes.names.joined(separator: ", "))"
  }
}

private func setter(_ scope: Scope, _ parent: Identifier?) -> String {
  if let parent {
    return scope == .conversationDefault
      ? "the default of \(parentName(parent))" : "set by the user for \(parentName(parent))"
  }
  return switch scope {
  case .quietHours: "in quiet hours"
  case .channel: "set by the user for the channel"
  case .conversation: "set by the user for the conversation"
  case .type: "set by the user for conversations of this type"
  case .channelDefault: "the channel's default"
  case .groupDefault: "the group's default"
  case .appKey: "the app's default"
  case .app: "set by the user for all conversations"
  case .default: "as nobody set one"
  case .thread: "set by the user for the thread"
  case .user: "set by the user for all conversations"
  case .conversationDefault: "the conversation's default"
  case .appDefault: "the app's default"
  }
}

func describe(mutedUntil until: Instant, at now: Instant, _ what: String) -> String {
  if until == .zero { return "not set for \(what)" }
  if until.milliseconds == Instant.maximumMilliseconds { return "\(what) for ever" }
  let comma = what.hasSuffix(parentWords) ? "," : ""
  return "\(what)\(comma) \(now < until ? "until" : "until it ended at") \(until.rfc3339)"
}

/// A thread's parent, by its name.
func parentName(_ parent: Identifier) -> String { "\(parent)\(parentWords)" }

private let parentWords = ", the thread's parent"

/// Who of a list is named; the user whom it is about is always among them, or said not to be.
func describe(_ ids: [Identifier], _ user: Identifier, _ ignoresCase: Bool) -> String {
  if ids.isEmpty { return "nobody" }
  if ids.contains(user) { return user.text }
  if let other = ids.first(where: { $0.lowercased() == user.lowercased() }) {
    return ignoresCase
      ? "\(user), written \"\(other)\" (E-47)"
      : "\"\(other)\", not \(user): ids are compared with case"
  }
  let more = ids.count > 3 ? " and \(ids.count - 3) more" : ""
  return ids.prefix(3).map(quoted).joined(separator: ", ") + more + ", not \(user)"
}

/// An id, in quotes where it would look like several.
private func quoted(_ id: Identifier) -> String {
  id.text.contains { ", ;".contains($0) } ? "\"\(id)\"" : id.text
}

/// Days, hours, minutes or seconds: the two largest units that it has.
func describe(milliseconds: Int64) -> String {
  let units: [(name: String, size: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1),
  ]
  // A day is 24 h to most people.
  let first = units.firstIndex { milliseconds >= $0.size * ($0.name == "d" ? 2 : 1) } ?? 4
  let (count, rest) = milliseconds.quotientAndRemainder(dividingBy: units[first].size)
  var text = "\(count) \(units[first].name)"
  if first + 1 < units.count, rest / units[first + 1].size > 0 {
    text += " \(rest / units[first + 1].size) \(units[first + 1].name)"
  }
  return text
}

func describe(_ interval: QuietInterval) -> String {
  // From 0:00 to 0:00 is none, or a day, by an option (E-32).
  interval.startMinute == 0 && interval.endMinute == 0
    ? "00:00-00:00" : describe(from: interval.startMinute, to: interval.endMinute)
}

private func describe(from start: Int32, to end: Int32) -> String {
  let from = ClockTime.text(minuteOfDay: start)
  return start == end ? "24 h from \(from)" : "\(from)-\(ClockTime.text(minuteOfDay: end))"
}

func describe(_ span: QuietSpan) -> String {
  "from \(describe(Int(span.startSecond))) for \(span.spanMinutes) min, level \(span.level.name)"
}

func describe(_ windows: QuietWindows) -> String {
  if windows.windows.isEmpty { return "no windows" }
  return windows.windows.map { window in
    (window.days == QuietWindows.Window.everyDay
      ? "" : window.namesOfDays.joined(separator: " ") + " ")
      + describe(from: window.startMinute, to: window.endMinute)
  }.joined(separator: ", ")
}

func describe(_ secondOfDay: Int) -> String { ClockTime.text(secondOfDay: secondOfDay) }
