import BenchSupport
import Foundation
import PushFanout
import PushModel
import PushWorkload

/// What it costs that messages are not in order, and that settings change.
extension DaySuite {
  /// The day in order, and with half of its messages minutes late or early, on one thread.
  ///
  /// Users: services whose messages wait in queues, or come from hosts whose clocks differ.
  func late() -> [Line] {
    let inOrder = MessageArray(world.messages)
    return [(-5, "five minutes late"), (-1, "a minute late"), (5, "five minutes early")].map {
      minutes, name in
      let shifted = MessageArray(
        world.messages.enumerated().map { index, message in
          var message = message
          // Neighbours differ, and so do messages to one conversation.
          if (index &* 0x9E37_79B1) >> 8 & 1 == 0 {
            message.at = Instant(
              milliseconds: max(0, message.at.milliseconds + Int64(minutes) * 60_000))
          }
          return message
        })
      var prices = Samples()
      for _ in 0..<5 {
        let plain = 1 / inTurn(inOrder, 1, world.fanout).rate
        let mixed = 1 / inTurn(shifted, 1, world.fanout).rate
        // Half of the messages have this price, the others that of a message in order.
        prices.add(2 * mixed / plain - 1)
      }
      return Line(
        name: "a message that is \(name)", value: prices.median, unit: "× one in order",
        most: 2)
    }
  }

  /// Changes of the level of users who are members of so many conversations, each published.
  ///
  /// Users: services whose users change their settings while messages are decided.
  func changes() -> [Line] {
    let engine = world.alone
    return [(10, 1_000), (100, 200), (1_000, 20), (10_000, 4)].map { memberships, count in
      let users = (0..<count).map { Identifier("changing-\(memberships)-\($0)") }
      do throws(FanoutError) {
        try engine.update { (update) throws(FanoutError) in
          for (number, user) in users.enumerated() {
            try update.setUser(user, UserSettings())
            for index in 0..<memberships {
              // Conversations far from each other.
              let room = (number &+ index &* 7_919) % world.conversations.count
              try update.setMember(user, of: world.conversations[room], MemberSettings())
            }
          }
        }
        var samples = Samples()
        for round in 0..<5 {
          let start = ContinuousClock.now
          for user in users {
            try engine.update { (update) throws(FanoutError) in
              try update.updateUser(user) { $0.level = round % 2 == 0 ? .mention : .all }
            }
          }
          samples.add((ContinuousClock.now - start) / .seconds(1))
        }
        return Line(
          name: "a change of a user with \(memberships) memberships",
          value: samples.median / Double(count) * 1e6, unit: "µs")
      } catch {
        fatalError("\(error)")
      }
    }
  }
}
