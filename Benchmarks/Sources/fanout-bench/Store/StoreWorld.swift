import BenchSupport
import PushModel

/// The users and groups of a store that is measured: those of ``BenchWorld``, a thousand and more to a
/// group.
struct StoreWorld {
  let users: Int
  /// Of each user.
  var memberships = 1

  private static let groupSize = 1000
  var groupCount: Int { max(1, users / Self.groupSize) }

  /// A group that a user is a member of.
  func group(of user: Int, place: Int = 0) -> Identifier {
    Identifier("g\((user / Self.groupSize + place * 7919) % groupCount)")
  }

  var settings: FanoutSettings {
    var settings = FanoutSettings()
    settings.reserveCapacity(users: users, declared: users)
    for user in 0..<users {
      let id = BenchWorld.userID(user)
      settings.setUser(id, BenchWorld.settings(user))
      for place in 0..<memberships {
        let level: NotificationLevel = (user + place) % 5 < 2 ? .mention : .unset
        settings.setMember(
          id, of: group(of: user, place: place), MemberSettings(level: level))
      }
    }
    return settings
  }
}
