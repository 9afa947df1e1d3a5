internal import PushFanout
public import PushFiles
public import PushModel
public import PushWorkload
internal import QuietTime

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
  public static func measure(
    _ files: ReplayFiles, of settings: FanoutSettings, leavingOut leftOut: Set<Identifier> = [],
    skipped: ((FileProblem) -> Void)? = nil,
    progress: (_ count: Int, _ share: Double?) -> Void = { _, _ in }
  ) throws -> (profile: WorkloadProfile, skippedLines: Int) {
    let events = try ReplayEvents(files, rules: settings.app.rules, skipped: skipped)
    var profiler = WorkloadProfiler(
      settings, leavingOut: leftOut, zoneName: ZoneLinks.canonicalName)
    var clocks = SenderClocks(settings, files.unknownZones)
    var count = 0
    while let event = try events.next() {
      switch event {
      case .message(let message):
        let clock = try clocks.clock(of: message.sender, at: message.at.seconds)
        profiler.add(message, isReply: events.isReply, clock: clock)
      case .presence(let change):
        profiler.addPresence(
          at: change.at, user: change.user, conversation: change.conversation,
          isOnline: change.isOnline)
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
  private struct Entry {
    let zone: ZoneTable
    /// nil for a sender who has no quiet hours, or has them all day.
    let schedule: QuietSchedule?
  }

  private let settings: FanoutSettings
  private let unknownZones: UnknownZones
  private var zones: [String: ZoneTable] = [:]
  /// nil for a sender whose clock is not known.
  private var entries: [Identifier: Entry?] = [:]

  init(_ settings: FanoutSettings, _ unknownZones: UnknownZones) {
    self.settings = settings
    self.unknownZones = unknownZones
  }

  /// A sender's clock; nil for one who has neither a time zone nor quiet hours.
  ///
  /// - Throws: ``ZoneDataError`` or ``FanoutError/unknownZones(_:)``.
  mutating func clock(of sender: Identifier?, at seconds: Int64) throws -> SenderClock? {
    guard let sender else { return nil }
    let entry: Entry?
    if let known = entries[sender] {
      entry = known
    } else {
      entry = try knownEntry(of: sender)
      entries[sender] = entry
    }
    return entry.map {
      SenderClock(
        offsetSeconds: $0.zone.offsetSeconds(at: seconds),
        isInQuietHours: $0.schedule?.isQuiet(at: seconds))
    }
  }

  private mutating func knownEntry(of sender: Identifier) throws -> Entry? {
    let made: Result<Entry?, ZoneDataError>
    do throws(ZoneDataError) {
      made = .success(try makeEntry(settings.user(sender)))
    } catch {
      made = .failure(error)
    }
    guard case .failure(.unknownName(let name)) = made else { return try made.get() }
    if unknownZones == .ignore { return nil }
    throw FanoutError.unknownZones(UnknownZoneUsers(.init(sender, timeZone: name)))
  }

  private mutating func makeEntry(_ user: UserSettings) throws(ZoneDataError) -> Entry? {
    guard user.timeZone != nil || user.quietHours != nil else { return nil }
    let zone = try zone(user.timeZone ?? settings.app.timeZone)
    var schedule: QuietSchedule?
    if !user.isSilentAllDay {
      if let name = user.quietHours?.timeZone { _ = try self.zone(name) }
      let zones = zones
      schedule = try QuietSchedule(QuietSettings(user), app: settings.app) {
        (name) throws(ZoneDataError) in
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
