internal import CPushFiles
internal import PushModel
internal import QuietTime

/// Values that were checked before. Many users share zones and windows: each is parsed once.
final class ParseCache {
  /// Whether a time zone may be one that the system does not have.
  let takesUnknownZones: Bool
  // SAFETY: one thread parses with it, and no function of it calls another.
  @safe @exclusivity(unchecked) private var zones = IdentifierTable()
  @safe @exclusivity(unchecked) private var windows = [Window](
    repeating: Window(start: 0, end: 0, value: nil), count: 256)

  /// - Parameter unknownZones: what is done with time zones that the system does not have.
  init(_ unknownZones: UnknownZones) { takesUnknownZones = unknownZones != .fail }

  private struct Window {
    var start: UInt64
    var end: UInt64
    var value: QuietHours?
  }

  /// A time zone's name, if it is one, or may be an unknown one. Equal ones share their characters.
  func zone(
    _ utf8: UnsafeRawBufferPointer, _ field: StaticString
  ) throws(FileProblem.Problem) -> String {
    let known = unsafe zones.index(ofUTF8: RawSpan(_unsafeBytes: utf8))
    if let known { return zones[known].text }
    let text = unsafe String(decoding: utf8, as: UTF8.self)
    do throws(ZoneDataError) {
      _ = try ZoneTable(named: text)
    } catch .unknownName {
      if !takesUnknownZones { throw .unknownTimeZone("\(field)", value: text) }
    } catch {
      throw .timeZoneData("\(field)", error)
    }
    _ = zones.insert(Identifier(text))
    return text
  }

  /// Easemob's quiet hours; nil when both texts are empty.
  func interval(
    start: UnsafeRawBufferPointer, end: UnsafeRawBufferPointer
  ) throws(FileProblem.Problem) -> QuietHours? {
    let (startKey, endKey) = unsafe (Self.key(start), Self.key(end))
    let mixed = (startKey &* 31 &+ endKey) &* 0x9E37_79B9_7F4A_7C15
    let slot = Int(truncatingIfNeeded: mixed >> 56)
    if startKey != 0, endKey != 0, windows[slot].start == startKey, windows[slot].end == endKey {
      return windows[slot].value
    }
    let value = try unsafe TextValue.interval(
      start: String(decoding: start, as: UTF8.self), end: String(decoding: end, as: UTF8.self))
    windows[slot] = Window(start: startKey, end: endKey, value: value)
    return value
  }

  /// The characters of a text of up to seven bytes as one number, behind a 1; 0 for a longer one.
  private static func key(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard bytes.count < 8 else { return 0 }
    return unsafe bytes.reduce(1) { $0 << 8 | UInt64($1) }
  }
}

extension JSONValue {
  func text(_ field: String) throws(FileProblem.Problem) -> String {
    guard let string else { throw .wrongType(field, expected: "a string") }
    return string
  }

  func zone(
    _ field: StaticString, _ checked: ParseCache
  ) throws(FileProblem.Problem) -> String {
    try unsafe checked.zone(utf8(field), field)
  }

  func utf8(_ field: StaticString) throws(FileProblem.Problem)
    -> UnsafeRawBufferPointer
  {
    guard kind == PF_JSON_STRING else { throw .wrongType("\(field)", expected: "a string") }
    return unsafe utf8
  }

  func identifier(_ field: String) throws(FileProblem.Problem) -> Identifier {
    let text = try text(field)
    if text.isEmpty { throw .emptyID(field) }
    return Identifier(text)
  }

  func flag(_ field: some CustomStringConvertible) throws(FileProblem.Problem) -> Bool {
    guard let bool else { throw .wrongType("\(field)", expected: "true or false") }
    return bool
  }

  func whole(
    _ field: String, in range: ClosedRange<Int64>
  ) throws(FileProblem.Problem) -> Int64 {
    guard let integer else { throw .wrongType(field, expected: "a whole number") }
    guard range.contains(integer) else {
      throw .outOfRange(
        field, value: "\(integer)", range: "\(range.lowerBound)...\(range.upperBound)")
    }
    return integer
  }

  func instant(_ field: some CustomStringConvertible) throws(FileProblem.Problem) -> Instant {
    if let integer {
      guard let instant = Instant(exactMilliseconds: integer) else {
        throw .notAnInstant("\(field)", value: "\(integer)")
      }
      return instant
    }
    if let string {
      guard let instant = Instant(rfc3339: string) else {
        throw .notAnInstant("\(field)", value: "\"\(string)\"")
      }
      return instant
    }
    throw .wrongType("\(field)", expected: "an instant, a whole number or an RFC 3339 string")
  }

  func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ field: String
  ) throws(FileProblem.Problem) -> Value {
    try TextValue.choice(text(field), field)
  }

  func object(_ field: String) throws(FileProblem.Problem) -> JSONFields {
    guard kind == PF_JSON_OBJECT else { throw .wrongType(field, expected: "an object") }
    return fields
  }

  func strings(_ field: String) throws(FileProblem.Problem) -> [String] {
    guard kind == PF_JSON_ARRAY else { throw .wrongType(field, expected: "an array of strings") }
    var strings: [String] = []
    for item in items {
      guard let string = item.string else {
        throw .wrongType(field, expected: "an array of strings")
      }
      strings.append(string)
    }
    return strings
  }

  func identifiers(_ field: String) throws(FileProblem.Problem) -> [Identifier] {
    let strings = try strings(field)
    if strings.contains("") { throw .emptyID(field) }
    return strings.map { Identifier($0) }
  }

  /// A set of classes: a list of their names, or a word (O-2).
  func classes(
    _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> MessageClasses { try level(field, &uses).mask }

  private func classList(_ field: String) throws(FileProblem.Problem) -> NotificationLevel {
    let names = try strings(field)
    do throws(SettingsWriteError) {
      return NotificationLevel(try MessageClasses(names: names))
    } catch {
      throw .refused(field, error)
    }
  }

  /// Windows of the week (O-11).
  func quietWindows(
    _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> QuietHours {
    guard kind == PF_JSON_ARRAY else { throw .wrongType(field, expected: "an array of windows") }
    var windows: [QuietWindows.Window] = []
    for item in items { windows.append(try item.quietWindow(field, &uses)) }
    do throws(SettingsWriteError) {
      return .windows(try QuietWindows(windows))
    } catch {
      throw .refused(field, error)
    }
  }

  private func quietWindow(
    _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> QuietWindows.Window {
    var days: [String]?
    var start: String?
    var end: String?
    var allow: MessageClasses = []
    for (key, value) in try object(field) {
      switch key {
      case "days": days = try value.strings("\(field).days")
      case "start": start = try value.text("\(field).start")
      case "end": end = try value.text("\(field).end")
      case "allow": allow = try value.classes("\(field).allow", &uses)
      default: throw .unknownField(key.text, among: ["days", "start", "end", "allow"], of: field)
      }
    }
    guard let start else { throw .missingField("\(field).start") }
    guard let end else { throw .missingField("\(field).end") }
    do throws(SettingsWriteError) {
      return try QuietWindows.Window(
        days: days.map { (names) throws(SettingsWriteError) in
          try QuietWindows.Window.days(names)
        } ?? QuietWindows.Window.everyDay, start: start, end: end, allow: allow)
    } catch {
      throw .refused(field, error)
    }
  }

  /// A level of a field that only vendors have.
  func vendorLevel(
    _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> NotificationLevel {
    let level = try level(field, &uses)
    if !level.isOfVendor { throw .unknownLevel(field, value: level.name, rules: nil) }
    return level
  }

  func level(
    _ field: some CustomStringConvertible, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> NotificationLevel {
    if let integer {
      let level = try TextValue.level(rongCloudNumber: integer, "\(field)")
      uses.note(.levelNumbers, "the level \(integer) of \"\(field)\"")
      return level
    }
    switch self {  // the usual ones, without a string
    case "all": return .all
    case "mention":
      uses.note(.mentionLevel, "the level \"mention\" of \"\(field)\"")
      return .mention
    case "none": return .blocked
    default: break
    }
    if kind == PF_JSON_ARRAY {
      uses.note(.classLevels, "a list of classes as \"\(field)\"")
      return try classList("\(field)")
    }
    guard let string else { throw .wrongType("\(field)", expected: "a level") }
    return try TextValue.level(string, "\(field)", &uses)
  }
}

/// Values whose text is the same in JSON strings and CSV cells.
enum TextValue {
  static func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ text: String, _ field: String
  ) throws(FileProblem.Problem) -> Value {
    guard let value = Value(rawValue: text) else {
      throw .unknownValue(field, value: text, allowed: Value.allCases.map(\.rawValue))
    }
    return value
  }

  /// A level by its name in files, by a word of open rules, or in Easemob's spelling.
  static func level(
    _ text: String, _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> NotificationLevel {
    let level = NotificationLevel.named(text)
    if let level = level ?? MessageClasses(word: text).map({ NotificationLevel($0) }) {
      uses.note(level: text, field)
      return level
    }
    guard let level = NotificationLevel.easemobSpelling(text) else {
      throw .unknownLevel(field, value: text, rules: nil)
    }
    uses.note(.levelSpellings, "the level \"\(text)\" of \"\(field)\"")
    return level
  }

  static func level(
    rongCloudNumber number: Int64, _ field: String
  ) throws(FileProblem.Problem) -> NotificationLevel {
    do throws(SettingsWriteError) {
      return try NotificationLevel(rongCloudNumber: number)
    } catch {
      throw .refused(field, error)
    }
  }

  static func interval(
    start: String, end: String
  ) throws(FileProblem.Problem) -> QuietHours? {
    do throws(SettingsWriteError) {
      return try QuietInterval.parse(start: start, end: end).map { .interval($0) }
    } catch {
      throw .refused("quietHours", error)
    }
  }

  static func span(
    start: String, spanMinutes: Int, level: NotificationLevel, timeZone: String?
  ) throws(FileProblem.Problem) -> QuietHours? {
    do throws(SettingsWriteError) {
      return try QuietSpan.parse(
        start: start, spanMinutes: spanMinutes, level: level, timeZone: timeZone
      ).map { .span($0) }
    } catch {
      throw .refused("quietHours", error)
    }
  }
}
