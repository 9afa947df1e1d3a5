import BenchSupport
import PushModel

/// The users and groups of a store that is measured: those of ``BenchWorld``, a thousand and more to a
/// group.
struct StoreWorld {
  let users: Int
  let memberships: Int
  static let groupSize = 1000

  var settings: FanoutSettings {
    var settings = FanoutSettings()
    settings.reserveCapacity(users: users, declared: users)
    let groups = max(1, users / Self.groupSize)
    for user in 0..<users {
      let id = BenchWorld.userID(user)
      settings.setUser(id, BenchWorld.settings(user))
      for place in 0..<memberships / users {
        let group = (user / Self.groupSize + place * 7919) % groups
        let level: NotificationLevel = (user + place) % 5 < 2 ? .mention : .unset
        settings.setMember(id, of: Identifier("g\(group)"), MemberSettings(level: level))
      }
    }
    return settings
  }
}
