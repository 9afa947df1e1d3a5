public import PushModel

/// The indices of schedules recently inserted into a ``ScheduleTable``: guesses, which it checks.
///
/// Not part of the table, so that a version of that is not copied for a guess.
public struct RecentSchedules: Sendable {
  /// Two for each set, the one noted last first. There are at least as many as settings, and a
  /// power of two, or none.
  private var indices: [UInt32] = []

  /// Empty guesses.
  public init() {}

  /// The index of settings in a list, if it is among the guesses for them.
  fileprivate func index<List: QuietSettingsByIndex>(
    of new: QuietSettings, in settings: List
  ) -> UInt32? {
    if indices.isEmpty { return nil }
    let first = first(of: new)
    let guess = indices[first]
    if guess < settings.count, settings.has(new, at: Int(guess)) { return guess }
    let second = indices[first + 1]
    return second < settings.count && settings.has(new, at: Int(second)) ? second : nil
  }

  /// Makes an index of a list a guess.
  ///
  /// - Complexity: O(1) amortized.
  fileprivate mutating func note<List: QuietSettingsByIndex>(_ index: UInt32, in settings: List) {
    guard indices.count < settings.count else { return set(index, settings[Int(index)]) }
    var count = 1 << 10
    while count < 4 * settings.count { count *= 2 }
    indices = [UInt32](repeating: 0, count: count)
    for index in 0..<settings.count { set(UInt32(index), settings[index]) }
  }

  private mutating func set(_ index: UInt32, _ settings: QuietSettings) {
    let first = first(of: settings)
    indices[first + 1] = indices[first]
    indices[first] = index
  }

  /// Where the guesses for settings are: mostly elsewhere for other settings.
  private func first(of settings: QuietSettings) -> Int {
    var number =
      switch settings.quietHours {
      case .interval(let interval): Int(interval.startMinute) &* 1440 &+ Int(interval.endMinute)
      case .span(let span): Int(span.startSecond) &* 1440 &+ Int(span.spanMinutes)
      case .windows(let windows): windows.windows.count
      case nil: 0
      }
    if let zone = settings.timeZone {
      // Zones of one continent differ behind their first letters.
      for byte in zone.utf8.suffix(6) { number = number &* 31 &+ Int(byte) }
    }
    return ((number &* 0x9E37_79B9) >> 16 & (indices.count / 2 - 1)) * 2
  }
}

private protocol QuietSettingsByIndex {
  var count: Int { get }
  subscript(index: Int) -> QuietSettings { get }
  /// Whether the settings of an index equal others. Nothing is copied.
  func has(_ settings: QuietSettings, at index: Int) -> Bool
}

extension [QuietSettings]: QuietSettingsByIndex {
  fileprivate func has(_ settings: QuietSettings, at index: Int) -> Bool {
    self.span[index] == settings
  }
}

/// Quiet settings of many users, most of them once: settings that were seen last are found again,
/// others are listed again.
package struct QuietSettingsList: Sendable {
  /// Settings in the order in which they were listed. In pages, so that a list that goes on beside
  /// a copy of its settings copies the last page only.
  package struct Listed: Sendable, QuietSettingsByIndex {
    private final class Identity: Sendable {}

    /// nil until something is listed.
    private var identity: Identity?
    private var pages: [[QuietSettings]] = []
    /// How many there are.
    package private(set) var count = 0
    private static var pageSize: Int { 1024 }

    /// The settings of an index.
    package subscript(index: Int) -> QuietSettings {
      pages[index / Self.pageSize][index % Self.pageSize]
    }

    fileprivate func has(_ settings: QuietSettings, at index: Int) -> Bool {
      pages[index / Self.pageSize].has(settings, at: index % Self.pageSize)
    }

    /// Whether these are settings of the same list, one perhaps at an earlier time.
    package func isSameList(as other: Listed) -> Bool { identity === other.identity }

    fileprivate mutating func append(_ settings: QuietSettings) {
      if identity == nil { identity = Identity() }
      if count % Self.pageSize == 0 { pages.append([]) }
      pages[count / Self.pageSize].append(settings)
      count += 1
    }
  }

  /// The settings.
  package private(set) var settings = Listed()
  private var recent = RecentSchedules()

  /// An empty list.
  package init() {}

  /// The index of settings, which are listed now if they are not found.
  package mutating func index(of new: QuietSettings) -> UInt32 {
    if let index = recent.index(of: new, in: settings) { return index }
    let index = UInt32(settings.count)
    settings.append(new)
    recent.note(index, in: settings)
    return index
  }
}

/// The distinct quiet settings of all users, and the schedule that each means under the app's
/// options.
///
/// - Limit: 2^32 - 1 of them.
public struct ScheduleTable: Sendable {
  /// The app whose rules, options and zone schedules are made by.
  public private(set) var app: AppSettings
  /// What is done with settings whose zone the system does not have.
  public let unknownZones: UnknownZones
  private var settings: [QuietSettings] = [QuietSettings()]
  private var schedules: [QuietSchedule?] = [nil]
  private var indices: [QuietSettings: UInt32] = [QuietSettings(): 0]
  private var zones: [String: ZoneTable] = [:]
  /// The zones that the system does not have, by the indices of settings that need them.
  private var missing: [UInt32: String] = [:]

  /// A table with the empty settings only, at index 0.
  public init(app: AppSettings, unknownZones: UnknownZones = .fail) {
    self.app = app
    self.unknownZones = unknownZones
  }

  /// How many distinct settings there are, the empty ones included.
  public var count: Int { settings.count }

  /// The settings of an index. The first are empty.
  public subscript(index: UInt32) -> QuietSettings { settings[Int(index)] }

  /// Whether there are settings whose zone the system does not have.
  public var hasUnknownZones: Bool { !missing.isEmpty }

  /// The zone that the settings of an index need and the system does not have; nil when it has all.
  public func unknownZone(_ index: UInt32) -> String? { missing.isEmpty ? nil : missing[index] }

  /// Whether users with the settings of an index are not decided for.
  public func isRefused(_ index: UInt32) -> Bool {
    unknownZones == .refuse && unknownZone(index) != nil
  }

  /// The schedule of an index; nil when it is never quiet, and when it cannot be known.
  public func schedule(_ index: UInt32) -> QuietSchedule? { schedules[Int(index)] }

  /// Whether the quiet hours of an index are the app's, as the settings have none (O-11).
  public func areApps(_ index: UInt32) -> Bool { settings[Int(index)].quietHours == nil }

  /// What the schedule of an index lets through at an instant, in seconds since the epoch; nil when
  /// it is not quiet.
  public func level(_ index: UInt32, at utcSeconds: Int64) -> NotificationLevel? {
    schedules[Int(index)]?.level(at: utcSeconds)
  }

  /// The same, and whether the quiet hours are the app's.
  public func quiet(
    _ index: UInt32, at utcSeconds: Int64
  ) -> (level: NotificationLevel, areApps: Bool)? {
    level(index, at: utcSeconds).map { ($0, areApps(index)) }
  }

  /// The index of settings, which they get now if they have none.
  ///
  /// - Throws: ``ZoneDataError`` for a zone that they name, but for one that the system does not have
  ///   only where ``unknownZones`` says so; they then get no index.
  /// - Complexity: O(1), but for the first settings of a zone, about 40 µs.
  public mutating func insert(_ new: QuietSettings) throws(ZoneDataError) -> UInt32 {
    if let index = indices[new] { return index }
    let index = UInt32(settings.count)
    let schedule = try schedule(of: new, index)
    settings.append(new)
    schedules.append(schedule)
    indices[new] = index
    return index
  }

  /// The same, where many settings are inserted: those seen last are found without hashing them,
  /// which takes longer than all else that is done for a user.
  public mutating func insert(
    _ new: QuietSettings, _ recent: inout RecentSchedules
  ) throws(ZoneDataError) -> UInt32 {
    if let index = recent.index(of: new, in: settings) { return index }
    let index = try insert(new)
    recent.note(index, in: settings)
    return index
  }

  /// Reads all settings under other settings of the app.
  ///
  /// - Throws: ``ZoneDataError`` for the app's zone, or for one that counts only now, as ``insert(_:)``
  ///   does; nothing is changed then.
  public mutating func setApp(_ app: AppSettings) throws(ZoneDataError) {
    var changed = self
    changed.app = app
    changed.missing = [:]
    _ = try changed.knownZone(app.timeZone)
    for (index, settings) in settings.enumerated() {
      changed.schedules[index] = try changed.schedule(of: settings, UInt32(index))
    }
    self = changed
  }

  /// The schedule of settings, or a note that it needs a zone that there is not.
  private mutating func schedule(
    of settings: QuietSettings, _ index: UInt32
  ) throws(ZoneDataError) -> QuietSchedule? {
    // Without either, no zone matters.
    if settings == QuietSettings(), app.quietHours == nil { return nil }
    do throws(ZoneDataError) {
      return try QuietSchedule(settings, app: app) { (name) throws(ZoneDataError) in try zone(name)
      }
    } catch .unknownName(let name) where unknownZones != .fail {
      missing[index] = name
      return nil
    }
  }

  /// A zone; nil for one that there is not, where that is no error.
  private mutating func knownZone(_ name: String) throws(ZoneDataError) -> ZoneTable? {
    do throws(ZoneDataError) {
      return try zone(name)
    } catch .unknownName where unknownZones != .fail {
      return nil
    }
  }

  private mutating func zone(_ name: String) throws(ZoneDataError) -> ZoneTable {
    if let zone = zones[name] { return zone }
    let zone = try ZoneTable(named: name)
    zones[name] = zone
    return zone
  }
}
