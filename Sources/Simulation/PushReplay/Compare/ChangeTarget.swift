internal import PushFanout
internal import PushModel
internal import QuietTime

/// Which users and members a change altered: those who had the value before are not counted.
public struct ChangeReach: Codable, Equatable, Sendable {
  /// Users whose own settings are others now.
  public var users = 0
  /// Rooms with such memberships.
  public var rooms = 0
  /// Memberships whose level is another one now.
  public var members = 0
  /// Why the change is for nobody, where nothing meets its conditions: which one is not met, with the
  /// nearest value that there is, like `no room has more than 500 members (the largest: 229)`.
  public var unmet: String?

  /// Nothing.
  public init(users: Int = 0, rooms: Int = 0, members: Int = 0, unmet: String? = nil) {
    self.unmet = unmet
    self.users = users
    self.rooms = rooms
    self.members = members
  }
}

/// The users and rooms that meet a change's conditions, by settings as they are now.
struct ChangeTarget {
  private let conditions: [ChangeCondition]
  private let fanout: Fanout
  private let version: FanoutVersion
  private let app: AppSettings

  /// - Throws: ``WhatIf/Problem`` for a type, room or time zone that there is not.
  init(_ conditions: [ChangeCondition], _ fanout: Fanout, _ whatIf: WhatIf) throws {
    self.conditions = conditions
    self.fanout = fanout
    version = fanout.currentVersion
    app = fanout.app
    for condition in conditions {
      switch condition {
      case .members, .share: break
      case .kinds(let kinds, _):
        if let kind = kinds.first(where: { !$0.exists(under: app.rules) }) {
          throw whatIf.problem("\(app.rules.rawValue) has no type \(kind.rawValue)")
        }
      case .rooms(let rooms, _):
        if let room = rooms.first(where: { fanout.conversation($0) == nil }) {
          throw whatIf.problem("there is no room \"\(room)\"")
        }
      case .zones(let zones, _):
        let database = try ZoneDatabase.system.get()
        if let zone = zones.first(where: { !$0.hasSuffix("*") && !database.isName($0) }) {
          throw whatIf.problem("\(FanoutError.unknownTimeZone(zone))")
        }
      }
    }
  }

  /// Whether users meet the conditions on users, by their indices; nil if all do.
  ///
  /// - Complexity: O(users).
  private var users: [Bool]? {
    if conditions.allSatisfy(\.isOfRooms) { return nil }
    var users: [Bool] = []
    users.reserveCapacity(version.userCount)
    version.forEachZone { _, id, own in
      let zone = own ?? app.timeZone
      users.append(conditions.allSatisfy { $0.isMet(by: id, zone: zone) })
    }
    return users
  }

  /// The first condition that nothing meets which meets those before it, in words; nil if all are met.
  ///
  /// - Complexity: O(rooms + users).
  private var unmet: String? {
    var rooms: [(id: Identifier, kind: ConversationKind, members: Int)] = []
    if conditions.contains(where: \.isOfRooms) {
      version.forEachRoom { rooms.append(($1, $2, $3)) }
    }
    for (place, condition) in conditions.filter(\.isOfRooms).enumerated() {
      let left = rooms.filter { condition.isMet(by: $0.id, $0.kind, members: $0.members) }
      if left.isEmpty { return condition.unmet(by: rooms, isFirst: place == 0) }
      rooms = left
    }
    var users: [(id: Identifier, zone: String)] = []
    version.forEachZone { users.append(($1, $2 ?? app.timeZone)) }
    for (place, condition) in conditions.filter({ !$0.isOfRooms }).enumerated() {
      let left = users.filter { condition.isMet(by: $0.id, zone: $0.zone) }
      if left.isEmpty { return condition.unmet(by: users, isFirst: place == 0) }
      users = left
    }
    return nil
  }

  /// Changes the settings of users, except devices, and counts those that are others then.
  ///
  /// - Complexity: O(users + memberships).
  func changeUsers(
    _ touched: inout TouchedRooms, _ change: (inout UserSettings) -> Void
  ) throws(FanoutError) -> ChangeReach {
    let users = users
    var reach = ChangeReach()
    if users == nil { touched.addEverything() }
    try fanout.update { (update) throws(FanoutError) in
      try update.updateUsers { user, settings in
        if let users, !users[Int(user.rawValue)] { return false }
        let before = settings
        change(&settings)
        if settings == before { return false }
        reach.users += 1
        if users != nil { touched.add(user: user) }
        return true
      }
    }
    if reach.users == 0 { reach.unmet = unmet }
    return reach
  }

  /// Sets the level that members have for rooms: of all members, or of those who have set none
  /// themselves, neither for the room nor for all rooms of the type. The settings of threads follow
  /// from their parents' (E-63).
  ///
  /// - Complexity: O(users + memberships).
  func setLevel(
    _ level: NotificationLevel, _ onlyUnset: Bool, _ touched: inout TouchedRooms
  ) throws(FanoutError) -> ChangeReach {
    var rooms: [UInt32] = []
    version.forEachRoom { index, id, kind, members in
      if conditions.allSatisfy({ $0.isMet(by: id, kind, members: members) }) {
        rooms.append(index)
      }
    }
    var reach = ChangeReach()
    let (users, fields) = (users, app.rules.fields)
    let (hasUserLevel, hasKindLevels) = (fields.contains(.userLevel), fields.contains(.kindLevels))
    var isAnyoneMeant = users == nil
    try fanout.update { (update) throws(FanoutError) in
      for room in rooms {
        let count = try update.setLevel(level, of: room) { user, levels in
          if let users, !users[Int(user.rawValue)] { return false }
          isAnyoneMeant = true
          // Whether the user has a level for all rooms of a kind: E-20, R-10.
          return !onlyUnset
            || !(levels.own.isSet || hasUserLevel && levels.ofUser.isSet
              || hasKindLevels && levels.ofKind.isSet)
        }
        reach.members += count
        if count > 0 {
          reach.rooms += 1
          touched.add(room: room)
        }
      }
    }
    if reach.members == 0 {
      let apart = "no room that meets the conditions has a member who meets the others"
      reach.unmet = unmet ?? (isAnyoneMeant ? nil : apart)
    }
    return reach
  }
}
