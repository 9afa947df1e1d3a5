import Foundation
import PushModel
import PushStore
import PushSupport

/// A result that a person and a program can read.
protocol SettingResult {
  /// One line of plain text.
  var text: String { get }
  /// One line for programs, a JSON object.
  func json() throws -> String
}

extension SettingResult where Self: Encodable {
  func json() throws -> String { try encoded() }
}

extension Encodable {
  /// One line of JSON, the keys in byte order.
  func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

/// What a user has set in one scope; named like the fields of settings files.
struct OwnSetting: SettingResult, Encodable {
  struct Quiet: Encodable {
    let start: String
    var end: String?
    var spanMinutes: Int32?
    var level: String?
    var timeZone: String?

    init(_ interval: QuietInterval) {
      start = ClockTime.text(minuteOfDay: interval.startMinute)
      end = ClockTime.text(minuteOfDay: interval.endMinute)
    }

    init(_ span: QuietSpan) {
      start = ClockTime.text(secondOfDay: span.startSecond)
      spanMinutes = span.spanMinutes
      level = span.level.name
      timeZone = span.timeZone
    }

    var text: String {
      if let end { return "quiet hours \(start)-\(end)" }
      var text = "quiet hours \(start)+\(spanMinutes ?? 0)"
      if let level { text += " level \(level)" }
      if let timeZone { text += " in \(timeZone)" }
      return text
    }
  }

  let user: String
  var conversation: String?
  var channel: String?
  var type: String?
  var level: String?
  /// Of types of conversations, or of one's channels, in the order of their bytes. Not encoded as a
  /// dictionary, where ids that only look alike would be one.
  private var levels: [(name: Identifier, level: NotificationLevel)]?
  var mutedUntil: Int64?
  var quietHours: Quiet?
  var timeZone: String?
  /// Present when it is on.
  var pushWhenDesktopOnline: Bool?
  /// Open rules'.
  private var important, follow: Bool?
  /// What was written but has no effect there.
  var ignored: [String]?

  init(_ user: Identifier, _ mode: SilentMode, _ timeZone: String? = nil) {
    self.user = user.text
    conversation = mode.conversation?.text
    level = mode.level.name
    mutedUntil = mode.mutedUntil > .zero ? mode.mutedUntil.milliseconds : nil
    quietHours = mode.interval.map { Quiet($0) }
    self.timeZone = timeZone
  }

  init(
    _ user: Identifier, _ span: QuietSpan?, _ levels: [ConversationKind: NotificationLevel],
    _ timeZone: String?, pushWhenDesktopOnline: Bool
  ) {
    self.user = user.text
    self.levels = Self.sorted(
      levels.filter { $0.value.isSet }.map { (Identifier($0.key.rawValue), $0.value) })
    quietHours = span.map { Quiet($0) }
    self.timeZone = timeZone
    self.pushWhenDesktopOnline = pushWhenDesktopOnline ? true : nil
  }

  init(
    _ user: Identifier, _ level: NotificationLevel, conversation: Identifier? = nil,
    channel: Identifier? = nil, kind: ConversationKind? = nil
  ) {
    self.user = user.text
    self.level = level.name
    self.conversation = conversation?.text
    self.channel = channel?.text
    type = kind?.rawValue
  }

  init(_ user: Identifier, _ own: ConversationLevel, _ rules: RuleSet) {
    self.user = user.text
    conversation = own.conversation.text
    type = own.kind.rawValue
    level = own.level.name(under: rules)
    mutedUntil = own.mutedUntil > .zero ? own.mutedUntil.milliseconds : nil
    important = own.isImportant ? true : nil
    follow = own.isFollowing
    if !own.channels.isEmpty { levels = Self.sorted(own.channels.map { ($0.key, $0.value) }) }
  }

  private static func sorted(
    _ levels: [(Identifier, NotificationLevel)]
  ) -> [(name: Identifier, level: NotificationLevel)] {
    levels.map { (name: $0.0, level: $0.1) }.sorted {
      $0.name.text.utf8.lexicographicallyPrecedes($1.name.text.utf8)
    }
  }

  private enum CodingKeys: String, CodingKey {
    case user, conversation, channel, type, level, mutedUntil, quietHours, timeZone, ignored
    case pushWhenDesktopOnline, important, follow
  }

  func json() throws -> String {
    let others = try encoded()
    guard let levels else { return others }
    // The first of the sorted keys in both cases.
    var bytes = Array((conversation == nil ? "{\"levels\":{" : "{\"channels\":{").utf8)
    for (index, (name, level)) in levels.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.appendJSON(name.text)
      bytes.append(contentsOf: ":\"\(level.name)\"".utf8)
    }
    return String(decoding: bytes, as: UTF8.self) + "}," + others.dropFirst()
  }

  var text: String {
    var subject = "user \(user)"
    if let type { subject += ", \(type)" }
    if let conversation {
      subject += type == nil ? ", conversation \(conversation)" : " \(conversation)"
    }
    if let channel { subject += ", channel \"\(channel)\"" }
    var parts: [String] = []
    if let level { parts.append("level \(level)") }
    for (name, level) in levels ?? [] {
      parts.append("\(conversation == nil ? "" : "channel ")\(name) \(level.name)")
    }
    if let mutedUntil {
      parts.append("muted until \(Instant(milliseconds: mutedUntil).rfc3339)")
    }
    if let quietHours { parts.append(quietHours.text) }
    if let timeZone { parts.append("time zone \(timeZone)") }
    if important == true { parts.append("important") }
    if let follow { parts.append("follow \(follow ? "on" : "off")") }
    if pushWhenDesktopOnline == true { parts.append("push when desktop online") }
    if parts.isEmpty { parts.append("nothing set") }
    if ignored != nil { parts.append("quiet hours ignored: only the app level has them") }
    return subject + ": " + parts.joined(separator: ", ")
  }
}

/// A device of a user; named like the fields of settings files.
struct DeviceResult: SettingResult, Encodable {
  let user, id, type, state: String
  let token: Bool
  let notifier, platform: String?
  let backgroundSince, seenAt: Int64?

  init(_ user: Identifier, _ device: Device) {
    self.user = user.text
    id = device.id.text
    type = device.kind.rawValue
    state = device.state.rawValue
    token = device.hasToken
    notifier = device.notifier?.text
    platform = device.address.platform?.rawValue
    backgroundSince = device.backgroundSince?.milliseconds
    seenAt = device.seenAt?.milliseconds
  }

  var text: String {
    var text = "user \(user), device \(id): \(type), \(state)"
    if let backgroundSince {
      text += " since \(Instant(milliseconds: backgroundSince).rfc3339)"
    }
    if let seenAt { text += ", seen \(Instant(milliseconds: seenAt).rfc3339)" }
    text += token ? ", token" : ", no token"
    if let notifier { text += " of \(notifier)" }
    if let platform { text += ", \(platform)" }
    return text
  }
}

/// A level that belongs to no user.
struct DefaultResult: SettingResult, Encodable {
  var conversation: String?
  var channel: String?
  let level: String

  var text: String {
    guard let conversation else { return "App Key: level \(level)" }
    return "ultra group \(conversation)" + (channel.map { ", channel \"\($0)\"" } ?? "")
      + ": level \(level)"
  }
}

/// A conversation whose level is none.
struct BlockedResult: SettingResult, Encodable {
  let conversation: String
  var text: String { conversation }
}

/// An entry of the change feed.
struct EventResult: SettingResult, Encodable {
  /// The value for `--after` that continues after this entry.
  let cursor: String
  let sequence, at: Int64
  let change: String
  let user, conversation, channel, device: String?
  /// What was set before, and what is set since, in words.
  let old, new: String?

  init(_ event: ChangeEvent) {
    cursor = "\(event.cursor)"
    sequence = event.sequence
    at = event.at.milliseconds
    change = event.change.rawValue
    user = event.user?.text
    conversation = event.conversation?.text
    channel = event.channel?.text
    device = event.device?.text
    (old, new) = (event.old, event.new)
  }

  var text: String {
    var text = "\(cursor) \(Instant(milliseconds: at).rfc3339) \(change)"
    if let user { text += ", user \(user)" }
    if let conversation { text += ", conversation \(conversation)" }
    if let channel { text += ", channel \"\(channel)\"" }
    if let device { text += ", from \(device)" }
    if old != nil || new != nil { text += ": \(old ?? "none") -> \(new ?? "none")" }
    return text
  }
}
