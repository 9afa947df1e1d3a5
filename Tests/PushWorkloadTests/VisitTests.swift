import PushModel
import Testing

@testable import PushWorkload

/// Goal: as many senders are connected when they send as is asked for, and as many users at once.
@Suite struct VisitTests {
  struct Case: CustomTestStringConvertible {
    var senders: Double
    var online: Double?
    var messages: Int
    var users = 10_000

    var testDescription: String { "\(senders) of senders, online \(online ?? -1), \(messages)" }
  }

  @Test(arguments: [
    Case(senders: 0.95, messages: 20_000), Case(senders: 1, messages: 20_000),
    Case(senders: 0.6, messages: 20_000), Case(senders: 0.95, online: 0.2, messages: 20_000),
    Case(senders: 1, online: 0.04, messages: 40_000),
    Case(senders: 1, messages: 200_000, users: 500),
  ])
  func sendersAreConnected(given: Case) throws {
    var options = WorkloadOptions()
    options.sizes.users = given.users
    options.traffic.messages = given.messages
    options.traffic.durationMilliseconds = 2 * 86_400_000
    options.presence.senderOnlineShare = given.senders
    options.presence.onlineShare = given.online
    let world = try Workload(options, threads: 2)
    var changes: [WorkloadPresence] = []
    world.forEachPresenceChange(threads: 2) { changes.append($0) }
    var online: Set<Int> = []
    var (next, connected, time) = (0, 0, 0.0)
    let end = world.time.upperBound
    for change in changes {
      let left = Double(end - change.at.milliseconds)
      time += change.isOnline ? left : -left
    }
    world.forEachMessage { message in
      while next < changes.count, changes[next].at <= message.at {
        if changes[next].isOnline {
          online.insert(changes[next].user)
        } else {
          online.remove(changes[next].user)
        }
        next += 1
      }
      if online.contains(message.sender) { connected += 1 }
    }
    let senders = Double(connected) / Double(given.messages)
    if given.senders == 1 {
      #expect(connected == given.messages)
    } else {
      // A visit is left out or not for a user and an hour, about as long as a burst of four messages
      // takes. That 9 % are connected by chance is an estimate, and may be off by half.
      let error = (given.senders * (1 - given.senders) * 4 / Double(given.messages)).squareRoot()
      let estimate = (1 - given.senders) * 0.09 / 2
      #expect(abs(senders - given.senders) < 4 * error + estimate, "\(senders)")
    }
    let share = time / Double(world.time.count) / Double(world.userCount)
    // Cycles may miss the share by 2 %, and so may the time of visits, which is that of 8 pieces of
    // the messages; 10,000 users have some thousand sessions, which have an error of a half of 1 %.
    if let wanted = given.online {
      #expect(abs(share / wanted - 1) < 0.06, "\(share)")
    } else if given.users == 10_000 {
      #expect(abs(share / 0.06 - 1) < 0.06, "\(share)")
    } else {
      // So many messages need more.
      #expect(share > 0.06, "\(share)")
    }
  }

  /// Nobody has to be connected who writes, if nobody ever is.
  @Test func nobodyIsConnectedWhenNobodyIsToBe() throws {
    let world = try smallWorld(.easemob) { $0.presence.onlineShare = 0 }
    var count = 0
    world.forEachPresenceChange { _ in count += 1 }
    #expect(count == 0)
  }
}
