public import PushModel
internal import PushSupport
internal import Synchronization

/// Distinct quiet settings, each with the index at which it came.
///
/// It hashes only what tells most settings apart: a `Dictionary` takes longer to hash them than all else
/// takes that is done for a user.
struct QuietSettingsTable: Sendable {
  private(set) var settings: [QuietSettings] = []
  /// Indices plus one where their hashes say, or behind; 0 for none. A power of two, and at least twice
  /// as many as settings.
  private var slots = [UInt32](repeating: 0, count: 64)
  /// Not known to who chooses settings.
  private let seed = UInt64(truncatingIfNeeded: 0.hashValue)

  /// The index of settings; nil if they never came.
  ///
  /// - Complexity: O(1).
  func index(of wanted: QuietSettings) -> UInt32? {
    let slot = slots[slot(of: wanted)]
    return slot == 0 ? nil : slot - 1
  }

  /// Appends settings that never came.
  ///
  /// - Complexity: O(1) amortized.
  mutating func append(_ new: QuietSettings) -> UInt32 {
    settings.append(new)
    if 2 * settings.count > slots.count {
      slots = [UInt32](repeating: 0, count: 4 * slots.count)
      for (index, settings) in settings.enumerated() {
        slots[slot(of: settings)] = UInt32(index) + 1
      }
    } else {
      slots[slot(of: new)] = UInt32(settings.count)
    }
    return UInt32(settings.count - 1)
  }

  /// The slot of settings, or the free one where they would be.
  private func slot(of wanted: QuietSettings) -> Int {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash(wanted)) & mask
    while slots[slot] != 0, settings.span[Int(slots[slot]) - 1] != wanted {
      slot = (slot + 1) & mask
    }
    return slot
  }

  private func hash(_ settings: QuietSettings) -> UInt64 {
    var hash = seed
    func add(_ word: UInt64) {
      hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
    }
    func add(_ one: Int32, _ other: Int32) {
      add(UInt64(UInt32(bitPattern: one)) << 32 | UInt64(UInt32(bitPattern: other)))
    }
    // Zones of one continent differ behind their first letters.
    func add(_ zone: String?) {
      if let zone { add(zone.utf8.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }) }
    }
    switch settings.quietHours {
    case .interval(let interval): add(interval.startMinute, interval.endMinute)
    case .span(let span):
      add(span.startSecond, span.spanMinutes)
      add(span.timeZone)
      add(UInt64(span.level.vendorCode))
    case .windows(let windows):
      for window in windows.windows {
        add(window.startMinute, window.endMinute)
        add(UInt64(window.days) << 16 | UInt64(window.allow.rawValue))
      }
    case nil: break
    }
    add(settings.timeZone)
    return hash
  }
}

/// Quiet settings of the users that one thread reads, by an index for each. Others may look them up.
package final class QuietSettingsList: Sendable {
  private let table = Lock(QuietSettingsTable())

  /// An empty list.
  package init() {}

  /// How many there are.
  package var count: Int { table.withLock { $0.settings.count } }

  /// The settings of an index.
  package subscript(index: Int) -> QuietSettings { table.withLock { $0.settings[index] } }

  /// The index of settings, which are listed now if they were not.
  package func index(of settings: QuietSettings) -> UInt32 {
    table.withLock { $0.index(of: settings) ?? $0.append(settings) }
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
  private var table = QuietSettingsTable()
  private var schedules: [QuietSchedule?] = [nil]
  private var zones: [String: ZoneTable] = [:]
  /// The zones that the system does not have, by the indices of settings that need them.
  private var missing: [UInt32: String] = [:]

  /// A table with the empty settings only, at index 0.
  public init(app: AppSettings, unknownZones: UnknownZones = .fail) {
    self.app = app
    self.unknownZones = unknownZones
    _ = table.append(QuietSettings())
  }

  /// How many distinct settings there are, the empty ones included.
  public var count: Int { schedules.count }

  /// About how many bytes an entry takes.
  package static let bytesPerEntry =
    MemoryLayout<QuietSettings>.stride + MemoryLayout<QuietSchedule?>.stride + 8

  /// The settings of an index. The first are empty.
  public subscript(index: UInt32) -> QuietSettings { table.settings[Int(index)] }

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
  public func areApps(_ index: UInt32) -> Bool { self[index].quietHours == nil }

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
    if let index = table.index(of: new) { return index }
    let schedule = try schedule(of: new, UInt32(count))
    schedules.append(schedule)
    return table.append(new)
  }

  /// Takes back the indices of settings, but for the empty ones.
  ///
  /// - Parameter used: by index, whether it is still used.
  /// - Returns: the later index of each that is used; 0 for the others.
  /// - Complexity: O(settings).
  package mutating func keep(_ used: [Bool]) -> [UInt32] {
    let before = self
    var indices = [UInt32](repeating: 0, count: used.count)
    (table, schedules, missing) = (QuietSettingsTable(), [], [:])
    for (old, settings) in before.table.settings.enumerated() where old == 0 || used[old] {
      let index = table.append(settings)
      schedules.append(before.schedules[old])
      missing[index] = before.missing[UInt32(old)]
      indices[old] = index
    }
    return indices
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
    for (index, settings) in table.settings.enumerated() {
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
