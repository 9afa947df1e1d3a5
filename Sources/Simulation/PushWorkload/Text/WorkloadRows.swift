internal import PushModel

/// The rows of settings: users and memberships, as CSV or NDJSON.
struct SettingsRows: Sendable {
  let workload: Workload
  private let isJSON: Bool
  var rules: RuleSet { workload.options.rules }
  /// Whether users have a level of their own; otherwise levels by kind of conversation.
  private let hasUserLevel: Bool
  /// Whether quiet hours have an end; otherwise a span.
  private let hasIntervals: Bool

  init(_ workload: Workload, isJSON: Bool) {
    self.workload = workload
    self.isJSON = isJSON
    hasUserLevel = workload.options.rules.fields.contains(.userLevel)
    hasIntervals = workload.options.rules.fields.contains(.quietInterval)
  }

  func app() -> [UInt8] {
    Array("{\"kind\":\"app\",\"rules\":\"\(rules.rawValue)\",\"timeZone\":\"UTC\"}\n".utf8)
  }

  var userHeader: [UInt8] {
    let columns =
      hasIntervals
      ? "id,level,quietStart,quietEnd,timeZone"
      : "id,quietStart,quietSpanMinutes,quietLevel,timeZone"
    return Array("\(columns)\n".utf8)
  }

  let memberHeader = Array("conversation,user,level,since\n".utf8)

  func append(conversation room: Int, _ kind: ConversationKind, to bytes: inout [UInt8]) {
    bytes.append("{\"kind\":\"conversation\",\"id\":\"c")
    bytes.append(number: room)
    bytes.append("\",\"type\":\"")
    bytes.append(text: kind.rawValue)
    bytes.append("\"}\n")
  }

  // MARK: Users

  func append(user: Int, to bytes: inout [UInt8]) {
    let drawn = workload.drawnUser(user)
    if isJSON {
      appendJSON(user, drawn, to: &bytes)
      bytes.append("}\n")
    } else {
      appendCSV(user, drawn, to: &bytes)
    }
  }

  private func appendCSV(_ user: Int, _ drawn: WorkloadUser, to bytes: inout [UInt8]) {
    bytes.append("u")
    bytes.append(number: user)
    bytes.append(",")
    let window = window(drawn)
    if hasIntervals {
      if drawn.level.isSet { bytes.append(text: drawn.level.name) }
      bytes.append(",")
      if let window {
        bytes.append(clock: window.start)
        bytes.append(",")
        bytes.append(clock: window.end)
      } else {
        bytes.append(",")
      }
    } else if let window {
      bytes.append(clock: window.start)
      bytes.append(":00,")
      bytes.append(number: window.span)
      bytes.append(",")
      bytes.append(text: window.level.name)
    } else {
      bytes.append(",,")
    }
    bytes.append(",")
    bytes.append(text: ZonePopulation.zones[drawn.zone].name)
    bytes.append("\n")
  }

  /// A user's record without its end.
  private func appendJSON(_ user: Int, _ drawn: WorkloadUser, to bytes: inout [UInt8]) {
    bytes.append("{\"kind\":\"user\",\"id\":\"u")
    bytes.append(number: user)
    bytes.append("\"")
    if hasUserLevel {
      append(level: drawn.level, to: &bytes)
    } else if drawn.level.isSet {
      let level = drawn.level.name
      bytes.append(
        text: ",\"levels\":{\"group\":\"\(level)\",\"ultraGroup\":\"\(level)\"}")
    }
    if workload.options.hasOpenFacts { bytes.append(workload.openUser(user, zone: drawn.zone)) }
    let window = window(drawn)
    switch (rules.quietForm, window) {
    case (.windows, _): appendWindows(Workload.windows(drawn), to: &bytes)
    case (.interval, let window?):
      appendStart(window.start, to: &bytes)
      bytes.append("\",\"end\":\"")
      bytes.append(clock: window.end)
      bytes.append("\"}")
    case (.span, let window?):
      appendStart(window.start, to: &bytes)
      bytes.append(":00\",\"spanMinutes\":")
      bytes.append(number: window.span)
      bytes.append(",\"level\":\"")
      bytes.append(text: window.level.name)
      bytes.append("\"}")
    case (.interval, nil), (.span, nil), (nil, _): break
    }
    bytes.append(",\"timeZone\":\"")
    bytes.append(text: ZonePopulation.zones[drawn.zone].name)
    bytes.append("\"")
    if workload.options.people.listsDevices {
      bytes.append(",\"devices\":[{\"id\":\"p1\",\"token\":")
      bytes.append(drawn.hasToken ? "true" : "false")
      bytes.append(",\"notifier\":\"")
      bytes.append(
        text: (drawn.isAndroid ? Workload.androidNotifier : Workload.iosNotifier).text)
      bytes.append("\"}]")
    }
  }

  private func appendStart(_ minute: Int, to bytes: inout [UInt8]) {
    bytes.append(",\"quietHours\":{\"start\":\"")
    bytes.append(clock: minute)
  }

  private func appendWindows(_ windows: [QuietWindows.Window], to bytes: inout [UInt8]) {
    if windows.isEmpty { return }
    bytes.append(",\"quiet\":[")
    for (index, window) in windows.enumerated() {
      bytes.append(index == 0 ? "{" : ",{")
      if window.days != QuietWindows.Window.everyDay {
        let days = window.namesOfDays.map { "\"\($0)\"" }.joined(separator: ",")
        bytes.append(text: "\"days\":[\(days)],")
      }
      bytes.append("\"start\":\"")
      bytes.append(clock: Int(window.startMinute))
      bytes.append("\",\"end\":\"")
      bytes.append(clock: Int(window.endMinute))
      bytes.append("\"")
      if !window.allow.isEmpty {
        let names = window.allow.names.map { "\"\($0)\"" }.joined(separator: ",")
        bytes.append(text: ",\"allow\":[\(names)]")
      }
      bytes.append("}")
    }
    bytes.append("]")
  }

  private func window(
    _ drawn: WorkloadUser
  ) -> (start: Int, end: Int, span: Int, level: NotificationLevel)? {
    if drawn.isSilent {
      let start = Workload.silentStartMinute
      return (start, start, QuietSpan.spanMinutesRange.upperBound, .blocked)
    }
    guard let window = drawn.window else { return nil }
    return (
      window.startMinute, (window.startMinute + window.lengthMinutes) % 1440,
      window.lengthMinutes, drawn.quietLetsMentions ? .mention : .blocked
    )
  }

  // MARK: Members

  func append(_ part: RoomPieces.Part, to bytes: inout [UInt8]) {
    let members = RoomMembers(room: part.room, size: part.size, workload)
    let start = memberStart(room: part.room)
    for rank in part.ranks {
      let drawn = workload.drawnMember(rank, room: part.room, size: part.size, of: members)
      bytes.append(contentsOf: start)
      bytes.append(number: drawn.user)
      if isJSON {
        appendJSON(drawn, to: &bytes)
        bytes.append("}\n")
      } else {
        bytes.append(",")
        if drawn.level.isSet { bytes.append(text: drawn.level.name) }
        bytes.append(",")
        if drawn.since > 0 { bytes.append(number: Int(drawn.since)) }
        bytes.append("\n")
      }
    }
    if part.ranks.upperBound == part.size { append(followersOf: part, members, to: &bytes) }
  }

  /// What the records of a room's members begin with.
  private func memberStart(room: Int) -> [UInt8] {
    var start: [UInt8] = []
    start.append(isJSON ? "{\"kind\":\"member\",\"conversation\":\"c" : "c")
    start.append(number: room)
    start.append(isJSON ? "\",\"user\":\"u" : ",u")
    return start
  }

  /// What follows the user's number in a member's record, without its end.
  private func appendJSON(_ drawn: WorkloadMember, to bytes: inout [UInt8]) {
    bytes.append("\"")
    append(level: drawn.level, to: &bytes)
    bytes.append(roles: drawn.roles, isImportant: drawn.isImportant)
    if drawn.since > 0 {
      bytes.append(",\"since\":")
      bytes.append(number: Int(drawn.since))
    }
  }

  // MARK: Changes

  /// A record that replaces another from an instant on. These are JSON whatever the format.
  func append(_ change: WorkloadChange, to bytes: inout [UInt8]) {
    switch change.settings {
    case .user(let user, let drawn): appendJSON(user, drawn, to: &bytes)
    case .member(let room, let drawn):
      bytes.append(contentsOf: memberStart(room: room))
      bytes.append(number: drawn.user)
      appendJSON(drawn, to: &bytes)
    }
    bytes.append(",\"at\":")
    bytes.append(number: Int(change.at))
    bytes.append("}\n")
  }
}
