import BenchSupport
import PushFanout
import PushModel

extension Contest {
  /// Changes of a user's or a member's level, in nanoseconds a change.
  func updates() -> [Row] {
    let count = 1000
    let users = (0..<count).map { BenchWorld.userID($0 * 7919 % userCount) }
    guard let group = world.groups.max(by: { $0.members.count < $1.members.count }) else {
      return []
    }
    let members = (0..<count).map {
      BenchWorld.userID(Int(group.members[$0 * 7919 % group.members.count]))
    }
    var samples: [String: Samples] = [:]
    func measure(_ contestant: String, _ body: () throws(FanoutError) -> Void) {
      samples[contestant, default: Samples()].add(
        seconds { do { try body() } catch { fatalError("\(error)") } })
    }
    for round in 0..<rounds {
      let levels: (NotificationLevel, NotificationLevel) =
        round % 2 == 0 ? (.mention, .all) : (.all, .mention)
      measure("user-together") { () throws(FanoutError) in
        try one.update { (update) throws(FanoutError) in
          for id in users { try update.updateUser(id) { $0.level = levels.0 } }
        }
      }
      measure("user-each-published") { () throws(FanoutError) in
        for id in users {
          try one.update { (update) throws(FanoutError) in
            try update.updateUser(id) { $0.level = levels.1 }
          }
        }
      }
      measure("member-together") { () throws(FanoutError) in
        try one.update { (update) throws(FanoutError) in
          for id in members { try update.updateMember(id, of: group.id) { $0.level = levels.0 } }
        }
      }
      measure("member-each-published") { () throws(FanoutError) in
        for id in members {
          try one.update { (update) throws(FanoutError) in
            try update.updateMember(id, of: group.id) { $0.level = levels.1 }
          }
        }
      }
    }
    return samples.sorted { $0.key < $1.key }.map { contestant, samples in
      Row(
        suite: "update", name: "level", contestant: contestant, members: userCount,
        nanoseconds: samples.median / Double(count) * 1e9, spread: samples.spread)
    }
  }
}
