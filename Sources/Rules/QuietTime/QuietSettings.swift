public import PushModel

/// A user's quiet hours and the zone the user has set, as they were written.
///
/// Many users share them: ten million users have a few thousand distinct ones. Their meaning is a
/// ``QuietSchedule``.
public struct QuietSettings: Hashable, Sendable {
  /// As the user has set them; nil for none.
  public var quietHours: QuietHours?
  /// nil for the app's (E-36, R-24).
  public var timeZone: String?

  /// Quiet hours in a zone; by default none.
  public init(quietHours: QuietHours? = nil, timeZone: String? = nil) {
    self.quietHours = quietHours
    self.timeZone = timeZone
  }

  /// The quiet hours and zone of a user's settings.
  public init(_ user: UserSettings) {
    self.init(quietHours: user.quietHours, timeZone: user.timeZone)
  }
}

extension QuietSchedule {
  /// What settings mean under an app's rules and options; nil when they never hold.
  ///
  /// - Parameter zone: the table of an IANA name.
  /// - Throws: ``ZoneDataError`` for any zone that is named.
  public init?(
    _ settings: QuietSettings, app: AppSettings,
    zone: (String) throws(ZoneDataError) -> ZoneTable
  ) throws(ZoneDataError) {
    let usersZone = try zone(settings.timeZone ?? app.timeZone)
    switch settings.quietHours ?? app.quietHours {  // O-11
    case nil: return nil
    case .interval(let interval):  // E-36
      guard app.rules.fields.contains(.quietInterval), let window = interval.window(app.easemob)
      else { return nil }
      self.init(startSecond: window.start, spanSeconds: window.span, zone: usersZone)
    case .span(let span):
      var ownZone = usersZone
      if let name = span.timeZone { ownZone = try zone(name) }
      guard app.rules.fields.contains(.quietSpan) else { return nil }
      let window = span.window(app.rongcloud)
      self.init(
        startSecond: window.start, spanSeconds: window.span, level: span.level, zone: ownZone)
    case .windows(let windows):  // O-12
      guard app.rules.fields.contains(.quietWindows), !windows.windows.isEmpty else { return nil }
      self.init(windows, zone: usersZone)
    }
  }
}

extension QuietInterval {
  /// Easemob's quiet hours as a start and a span, in seconds; nil when they are off (E-30 to E-34).
  fileprivate func window(_ options: EasemobOptions) -> (start: Int32, span: Int32)? {
    if startMinute == 0, endMinute == 0, options.zeroZeroMeans == .off { return nil }  // E-32
    let minutes = (endMinute - startMinute + 1440) % 1440
    let span = minutes == 0 ? 86_400 : minutes * 60  // E-31
    let extra: Int32 = options.intervalEnd == .inclusiveMinute ? 60 : 0  // E-34
    return (startMinute * 60, min(span + extra, 86_400))
  }
}

extension QuietSpan {
  /// RongCloud's quiet hours as a start and a span, in seconds.
  fileprivate func window(_ options: RongCloudOptions) -> (start: Int32, span: Int32) {
    if spanMinutes == 1439, options.span1439 == .allDay { return (startSecond, 86_400) }
    let seconds = spanMinutes * 60
    switch options.boundary {
    case .halfOpen: return (startSecond, seconds)
    case .closed: return (startSecond, seconds + 1)
    case .neither: return ((startSecond + 1) % 86_400, seconds - 1)
    }
  }
}

// MARK: As bytes

extension QuietSettings {
  /// Bytes that no settings are written as.
  package struct Malformed: Error {
    package let what: String
  }

  /// Appends the settings as bytes: numbers with the lowest byte first, texts with their length.
  package func write(to bytes: inout [UInt8]) {
    func put(_ number: Int32) {
      for shift: Int32 in [0, 8, 16, 24] {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    func put(_ text: String?) {
      bytes.append(text == nil ? 0 : 1)
      guard let text else { return }
      put(Int32(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
    switch quietHours {
    case nil: bytes.append(0)
    case .interval(let interval):
      bytes.append(1)
      put(interval.startMinute)
      put(interval.endMinute)
    case .span(let span):
      bytes.append(2)
      put(span.startSecond)
      put(span.spanMinutes)
      bytes.append(UInt8(span.level.rawValue))
      put(span.timeZone)
    case .windows(let windows):
      bytes.append(3)
      put(Int32(windows.windows.count))
      for window in windows.windows {
        bytes.append(window.days)
        put(window.startMinute)
        put(window.endMinute)
        put(Int32(window.allow.rawValue))
      }
    }
    put(timeZone)
  }

  /// Reads settings and takes their bytes away.
  ///
  /// - Throws: ``Malformed`` for anything that ``write(to:)`` does not write.
  package init(readingFrom bytes: inout ArraySlice<UInt8>) throws(Malformed) {
    var reader = Reader(bytes: bytes)
    switch try reader.byte() {
    case 0: quietHours = nil
    case 1: quietHours = .interval(try reader.interval())
    case 2: quietHours = .span(try reader.span())
    case 3: quietHours = .windows(try reader.windows())
    default: throw Malformed(what: "unknown kind of quiet hours")
    }
    timeZone = try reader.text()
    bytes = reader.bytes
  }

  private struct Reader {
    var bytes: ArraySlice<UInt8>

    mutating func byte() throws(Malformed) -> UInt8 {
      guard let byte = bytes.popFirst() else { throw Malformed(what: "unexpected end") }
      return byte
    }

    mutating func number() throws(Malformed) -> Int32 {
      var number: UInt32 = 0
      for shift: UInt32 in [0, 8, 16, 24] { number |= UInt32(try byte()) << shift }
      return Int32(bitPattern: number)
    }

    mutating func level() throws(Malformed) -> NotificationLevel {
      guard let level = NotificationLevel(rawValue: UInt16(try byte())) else {
        throw Malformed(what: "invalid level")
      }
      return level
    }

    mutating func text() throws(Malformed) -> String? {
      switch try byte() {
      case 0: return nil
      case 1: break
      default: throw Malformed(what: "invalid flag")
      }
      let count = Int(try number())
      guard 0 <= count, count <= bytes.count else {
        throw Malformed(what: "count beyond the end")
      }
      guard let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
        throw Malformed(what: "invalid UTF-8")
      }
      bytes.removeFirst(count)
      return text
    }

    mutating func interval() throws(Malformed) -> QuietInterval {
      let (start, end) = (Int(try number()), Int(try number()))
      do {
        return try QuietInterval(
          startHour: start / 60, startMinute: start % 60, endHour: end / 60, endMinute: end % 60)
      } catch {
        throw Malformed(what: "invalid quiet hours")
      }
    }

    mutating func span() throws(Malformed) -> QuietSpan {
      let (start, minutes) = (Int(try number()), Int(try number()))
      let (level, zone) = (try level(), try text())
      do {
        return try QuietSpan(
          hour: start / 3600, minute: start / 60 % 60, second: start % 60, spanMinutes: minutes,
          level: level, timeZone: zone)
      } catch {
        throw Malformed(what: "invalid quiet hours")
      }
    }

    mutating func windows() throws(Malformed) -> QuietWindows {
      let count = Int(try number())
      guard 0 <= count, count <= bytes.count / 13 else {
        throw Malformed(what: "count beyond the end")
      }
      var windows: [QuietWindows.Window] = []
      for _ in 0..<count {
        let (days, start, end) = (try byte(), try number(), try number())
        let allow = try number()
        guard (0...Int32(MessageClasses.all.rawValue)).contains(allow) else {
          throw Malformed(what: "invalid classes")
        }
        do {
          windows.append(
            try QuietWindows.Window(
              days: days, start: "\(start / 60):\(start % 60)", end: "\(end / 60):\(end % 60)",
              allow: MessageClasses(rawValue: UInt16(allow))))
        } catch {
          throw Malformed(what: "invalid quiet hours")
        }
      }
      do { return try QuietWindows(windows) } catch { throw Malformed(what: "too many windows") }
    }
  }
}
