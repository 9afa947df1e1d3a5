public import PushModel

/// A world made from a seed: people with their settings, rooms, messages, and who is connected
/// when, by measured rates.
///
/// Nothing of it is kept but sums over rooms: each fact is a function of the seed and of what it is
/// about, so that a world of any size can be made, in any part, on any thread.
///
/// - Memory: half a byte a room.
public struct Workload: Sendable {
  /// What the world was made from.
  public let options: WorkloadOptions
  let rooms: RoomTable
  let zones: ZoneShares
  /// People's day by their own clocks.
  let localDay: DayCurve
  /// The day of all of them in UTC.
  let worldDay: DayCurve
  /// When people write; nil under ``WorkloadRates/first``.
  let writing: WritingHours?
  /// How many messages each day has; nil under ``WorkloadRates/first``.
  private(set) var plan: TrafficPlan?
  /// How often users begin sessions; nil when there are no sessions.
  private(set) var presenceCycle: PresenceCycle?
  /// How often users connect to write; nil when there are no visits.
  private(set) var visits: VisitShare?

  /// Works out the rooms.
  ///
  /// - Parameter threads: how many; the world is the same with any number.
  /// - Throws: what is wrong with the options.
  /// - Complexity: O(rooms), under ``WorkloadRates/people`` for each day.
  public init(_ options: WorkloadOptions, threads: Int = 1) throws(WorkloadError) {
    try options.validate()
    self.options = options
    rooms = try RoomTable(options, threads: Workload.usefulThreads(threads))
    zones = ZoneShares(options)
    localDay =
      options.rates == .first
      ? .local(ratio: options.traffic.hourRatio ?? 3.8)
      : .local(ratio: options.traffic.hourRatio ?? 10, hours: DayCurve.ownHours)
    worldDay = localDay.combined(
      ZonePopulation.zones.map { (people: $0.weight, offsetMinutes: $0.offsetMinutes) })
    if options.rates == .first {
      writing = nil
      presenceCycle = try Self.presenceCycle(
        options.presence.onlineShare ?? 0.06, options.presence, localDay)
    } else {
      writing = try WritingHours(options)
      plan = TrafficPlan(self, threads: Workload.usefulThreads(threads))
      let share = try VisitShare(self, threads: Workload.usefulThreads(threads))
      visits = share.ofTime > 0 ? share : nil
      presenceCycle = try Self.presenceCycle(share.others, options.presence, localDay)
    }
  }

  private static func presenceCycle(
    _ share: Double, _ presence: WorkloadOptions.Presence, _ day: DayCurve
  ) throws(WorkloadError) -> PresenceCycle? {
    guard share > 0 else { return nil }
    let cycle = PresenceCycle(
      onlineShare: share, lengths: SessionLengths(quantiles: presence.sessionMinutes), day: day)
    guard let cycle else { throw .sessionsTooShort(onlineShare: presence.onlineShare ?? share) }
    return cycle
  }

  /// How many users there are.
  public var userCount: Int { options.sizes.users }
  /// How many rooms there are, the giants included.
  public var roomCount: Int { rooms.count }
  /// How many memberships all rooms have together.
  public var membershipCount: Int { rooms.membershipCount }
  /// None when there are no rooms.
  public var messageCount: Int {
    roomCount == 0 ? 0 : options.traffic.messages ?? options.sizes.users
  }

  /// When the world's time begins and ends, in milliseconds.
  var time: Range<Int64> {
    let start = options.traffic.start.milliseconds
    return start..<start + options.traffic.durationMilliseconds
  }

  /// How many members a room has, 0 ..< ``roomCount``; the giants are first.
  public func size(ofRoom room: Int) -> Int { rooms.size(of: room) }
  /// What a room is: under RongCloud an ultra group, when it is too large for a group; under open
  /// rules a private conversation, when it has two members.
  public func kind(ofRoom room: Int) -> ConversationKind {
    kind(size: rooms.size(of: room))
  }

  func kind(size: Int) -> ConversationKind {
    if size == 2, options.hasOpenFacts { return .private }
    return ConversationKind.ultraGroup.exists(under: options.rules)
      && size > Self.rongCloudGroupLimit
      ? .ultraGroup : .group
  }

  /// The largest group of RongCloud, in members.
  static let rongCloudGroupLimit = 3000

  /// The id of a user in files: `u` and the number.
  public static func userID(_ user: Int) -> Identifier { Identifier("u\(user)") }
  /// The id of a room in files: `c` and the number.
  public static func roomID(_ room: Int) -> Identifier { Identifier("c\(room)") }
}

extension Workload {
  /// A number of threads that pays: each thread has pieces of work in memory.
  static func usefulThreads(_ threads: Int) -> Int { max(1, min(64, threads)) }
}
