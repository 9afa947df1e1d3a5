import PushFanout
import PushFiles
import PushModel
import PushReplay
import PushWorkload
import QuietTime

extension WorkloadProfile {
  /// Measures the rates of a world from files.
  ///
  /// - Parameters:
  ///   - files: messages, presence and changes, each sorted by time. Changes are counted, not
  ///     applied.
  ///   - settings: the users, rooms and memberships.
  ///   - leftOut: as for ``WorkloadProfiler/init(_:leavingOut:)``.
  ///   - skipped: called with each bad line of messages or presence, which is then left out; nil
  ///     for a bad line to be an error.
  ///   - progress: called now and then with how many messages and rows were read, and with the
  ///     share of the messages' files, 0...1, nil when it is not known.
  /// - Returns: the profile, and how many bad lines were left out.
  /// - Throws: ``FileProblem``; ``ZoneDataError`` for a zone that cannot be read, and
  ///   ``FanoutError/unknownZones(_:)`` for a sender whose time zone the system does not have, unless
  ///   the files ignore it: then the sender's clock is not known.
  /// - Complexity: O(bytes); memory for the settings and who writes where.
  static func measure(
    _ files: ReplayFiles, of settings: any SettingsRecords, leavingOut leftOut: Set<Identifier>,
    skipped: ((FileProblem) -> Void)?, progress: (_ count: Int, _ share: Double?) -> Void
  ) throws -> (profile: WorkloadProfile, skippedLines: Int) {
    let events = try EventsAhead(files, rules: settings.app.rules, skipped: skipped)
    var profiler = WorkloadProfiler(
      settings, leavingOut: leftOut, settingsOf: files.options.slice.users,
      zoneName: ZoneLinks.canonicalName, threads: Fanout.coreCount)
    var clocks = SenderClocks(settings, files.unknownZones)
    var count = 0
    while let event = try events.next() {
      switch event {
      case .message(let message):
        try profiler.add(message, isReply: events.isReply) { sender in
          try clocks.clock(of: sender, at: message.at.seconds)
        }
      case .presence(let change):
        profiler.addPresence(
          at: change.at, user: change.user, conversation: change.conversation,
          isOnline: change.isOnline)
      case .heartbeat:
        try events.refuse(.cannotApply("sessions are not measured from heartbeats"))
      case .change(let change):
        switch change.record {
        case .user(let id, _), .member(let id, _, _, _): profiler.addChange(of: id)
        case .app, .conversation: break
        }
      }
      count += 1
      if count & 0x3FFF == 0 { progress(count, events.progress) }
    }
    return (profiler.profile(), events.skippedCount)
  }
}

/// The senders' clocks, by their settings before any change.
private struct SenderClocks {
  /// nil for a sender who has neither a time zone nor quiet hours, or whose zone is not known.
  private struct Entry {
    let zone: ZoneTable
    /// nil for a sender who has no quiet hours, or has them all day.
    let schedule: QuietSchedule?
  }

  private let settings: any SettingsRecords
  private let app: AppSettings
  private let unknownZones: UnknownZones
  private var zones: [String: ZoneTable] = [:]
  /// What senders have set, by the number that it has among ``entries``: many have set the same.
  private var numbers: [QuietSettings: UInt32] = [:]
  private var entries: [Entry?] = []
  /// The number of each user, who has sent something; others have ``unused``.
  private var numbersOfUsers: [UInt32]
  private static let unused = UInt32.max

  init(_ settings: any SettingsRecords, _ unknownZones: UnknownZones) {
    self.settings = settings
    self.unknownZones = unknownZones
    app = settings.app
    numbersOfUsers = Array(repeating: Self.unused, count: settings.userCount)
  }

  /// A sender's clock; nil for one who has neither a time zone nor quiet hours.
  ///
  /// - Throws: ``ZoneDataError`` or ``FanoutError/unknownZones(_:)``.
  mutating func clock(of user: UserIndex, at seconds: Int64) throws -> SenderClock? {
    var number = numbersOfUsers[Int(user.rawValue)]
    if number == Self.unused {
      number = try newNumber(of: user)
      numbersOfUsers[Int(user.rawValue)] = number
    }
    return entries[Int(number)].map {
      SenderClock(
        offsetSeconds: $0.zone.offsetSeconds(at: seconds),
        isInQuietHours: $0.schedule?.isQuiet(at: seconds))
    }
  }

  private mutating func newNumber(of index: UserIndex) throws -> UInt32 {
    let user = settings.user(index)
    let quiet = QuietSettings(user)
    if let number = numbers[quiet] { return number }
    entries.append(
      try knownEntry(quiet, isSilentAllDay: user.isSilentAllDay, settings.id(of: index)))
    let number = UInt32(entries.count - 1)
    numbers[quiet] = number
    return number
  }

  private mutating func knownEntry(
    _ quiet: QuietSettings, isSilentAllDay: Bool, _ id: Identifier
  ) throws -> Entry? {
    let made: Result<Entry?, ZoneDataError>
    do throws(ZoneDataError) {
      made = .success(try makeEntry(quiet, isSilentAllDay: isSilentAllDay))
    } catch {
      made = .failure(error)
    }
    guard case .failure(.unknownName(let name)) = made else { return try made.get() }
    if unknownZones == .ignore { return nil }
    throw FanoutError.unknownZones(UnknownZoneUsers(.init(id, timeZone: name)))
  }

  private mutating func makeEntry(
    _ quiet: QuietSettings, isSilentAllDay: Bool
  ) throws(ZoneDataError) -> Entry? {
    guard quiet.timeZone != nil || quiet.quietHours != nil else { return nil }
    let zone = try zone(quiet.timeZone ?? app.timeZone)
    var schedule: QuietSchedule?
    if !isSilentAllDay {
      if let name = quiet.quietHours?.timeZone { _ = try self.zone(name) }
      let zones = zones
      schedule = try QuietSchedule(quiet, app: app) { (name) throws(ZoneDataError) in
        if let known = zones[name] { return known }
        return try ZoneTable(named: name)
      }
    }
    return Entry(zone: zone, schedule: schedule)
  }

  private mutating func zone(_ name: String) throws(ZoneDataError) -> ZoneTable {
    if let known = zones[name] { return known }
    let zone = try ZoneTable(named: name)
    zones[name] = zone
    return zone
  }
}
