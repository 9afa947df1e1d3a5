internal import PushFanout
internal import PushModel
internal import QuietTime

/// Which users and members a change was for.
public struct ChangeReach: Codable, Equatable, Sendable {
  /// Users whose own settings it is for.
  public var users = 0
  /// Rooms whose members it is for.
  public var rooms = 0
  /// Memberships of these rooms that it is for.
  public var members = 0

  /// Nothing.
  public init(users: Int = 0, rooms: Int = 0, members: Int = 0) {
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

  /// The users who meet the conditions on users.
  ///
  /// - Complexity: O(users).
  var users: [Identifier] {
    var ids: [Identifier] = []
    version.forEachUser { id, user in if isMet(by: id, user) { ids.append(id) } }
    return ids
  }

  private func isMet(by id: Identifier, _ user: UserSettings) -> Bool {
    let zone = user.timeZone ?? app.timeZone
    return conditions.allSatisfy { $0.isMet(by: id, zone: zone) }
  }

  /// Sets the level that members have for rooms: of all members, or of those who have set none
  /// themselves, neither for the room nor for all rooms of the type. The settings of threads follow
  /// from their parents' (E-63).
  ///
  /// - Complexity: O(users + memberships), each O(log members).
  func setLevel(_ level: NotificationLevel, _ onlyUnset: Bool) throws(FanoutError) -> ChangeReach {
    var settings: [Identifier: UserSettings] = [:]
    version.forEachUser { id, user in if isMet(by: id, user) { settings[id] = user } }
    var memberships: [(user: Identifier, room: Identifier)] = []
    var reach = ChangeReach()
    version.forEachConversation { room, conversation in
      guard conversation.kind != .thread else { return }
      let count = fanout.memberCount(of: room)
      guard conditions.allSatisfy({ $0.isMet(by: room, conversation.kind, members: count) }) else {
        return
      }
      reach.rooms += 1
      version.forEachMember(of: room) { user, member in
        guard let own = settings[user] else { return }
        if onlyUnset {
          guard !member.level.isSet, !hasLevel(own, in: conversation.kind) else { return }
        }
        memberships.append((user, room))
      }
    }
    reach.members = memberships.count
    try fanout.update { (update) throws(FanoutError) in
      for (user, room) in memberships {
        try update.updateMember(user, of: room) { $0.level = level }
      }
    }
    return reach
  }

  /// Whether a user has a level for all rooms of a kind (E-20, R-10).
  private func hasLevel(_ user: UserSettings, in kind: ConversationKind) -> Bool {
    let fields = app.rules.fields
    return fields.contains(.userLevel) && user.level.isSet
      || fields.contains(.kindLevels) && user.levels[kind].isSet
  }
}
