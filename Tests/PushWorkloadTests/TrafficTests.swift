import Foundation
import PushModel
import Testing

@testable import PushWorkload

/// Goal: messages have the rates that docs/generate.md names, as far as chance and the
/// model allow.
@Suite struct TrafficTests {
  static let world = RateTests.world
  static let messages: [WorkloadMessage] = {
    var messages: [WorkloadMessage] = []
    world.forEachMessage(threads: 2) { messages.append($0) }
    return messages
  }()

  static let profile = RateTests.profile

  @Test func mentions() {
    #expect(Self.messages.count == 60_000)
    let mentioning = Self.messages.filter { !$0.mentions.isEmpty }
    // A message that mentions everyone mentions no one else, which 0.2 % of the messages do.
    #expect(Self.profile.misses("mention-share", [0.1], model: -0.0002...0) == [])
    #expect(mentioning.count > 5000)
    #expect(Self.profile.misses("mention-counts", [0.93, 0.06, 0.01]) == [])
  }

  /// 14 to 77 % of the mentioned posted there within five minutes, 66 to 96 % within a day.
  @Test func mentionedPeoplePostedLately() {
    struct Place: Hashable { var room, user: Int }
    var last: [Place: Int64] = [:]
    var (recent, day, all) = (0, 0, 0)
    for message in Self.messages {
      let at = message.at.milliseconds
      for user in message.mentions {
        all += 1
        guard let then = last[Place(room: message.room, user: user)] else { continue }
        if at - then <= 300_000 { recent += 1 }
        if at - then <= 86_400_000 { day += 1 }
      }
      last[Place(room: message.room, user: message.sender)] = at
    }
    let shares = [recent, day].map { Double($0) / Double(all) }
    #expect((0.14...0.77).contains(shares[0]), "\(shares)")
    #expect((0.66...0.96).contains(shares[1]), "\(shares)")
    // Of the second and third mentions of a message, 7 % of all, some have no one else who posted
    // lately. Those of an earlier time may be missing, and then are of the 5 minutes, too; of any
    // members up to half posted lately by chance.
    let few = (0.06 + 2 * 0.01) / (0.93 + 2 * 0.06 + 3 * 0.01)
    #expect(
      Self.profile.misses(
        "recent-share", [0.5], model: (-0.5 * few)...(0.35 + 0.15 * 0.5)) == [])
    #expect(Self.profile.misses("day-share", [0.85], model: (-0.85 * few)...(0.15 * 0.5)) == [])
  }

  /// Of one message in 526 in small rooms, and one in 100,000 in large ones.
  @Test func mentionsOfEveryone() {
    let isBig = { (message: WorkloadMessage) in Self.world.size(ofRoom: message.room) >= 1000 }
    let small = Self.messages.filter { !isBig($0) }
    #expect(isChance(small.count { $0.mentionsAll }, of: small.count, 0.0019))
    let big = Self.messages.filter(isBig)
    #expect(big.count > 20_000)
    #expect(big.count { $0.mentionsAll } <= 3)
    #expect(Self.messages.allSatisfy { !$0.mentionsAll || $0.mentions.isEmpty })
  }

  /// In a room where much is written, the top 1 % of the members send 51 to 73 %, and 66 to 74 %
  /// never post.
  @Test func sendersOfABigRoom() throws {
    var options = WorkloadOptions()
    options.sizes.users = 10_000
    options.sizes.giants = [5000]
    options.sizes.rooms = 1
    options.traffic.messages = 80_000
    let world = try Workload(options)
    var counts: [Int: Int] = [:]
    world.forEachMessage(threads: 2) { counts[$0.sender, default: 0] += 1 }
    let sorted = counts.values.sorted(by: >)
    let top = Double(sorted.prefix(50).reduce(0, +)) / 80_000
    #expect((0.51...0.73).contains(top), "\(top)")
    let never = 1 - Double(counts.count) / 5000
    #expect((0.66...0.74).contains(never), "\(never)")
  }

  /// By the senders' own clocks the busiest hour has ten times the messages of the quietest.
  @Test func hoursOfTheDay() {
    var hours = [Int](repeating: 0, count: 24)
    for message in Self.messages {
      let zone = ZonePopulation.zones[Self.world.zones.zone(of: message.sender)]
      let minute = Int(message.at.milliseconds / 60_000) + zone.offsetMinutes
      hours[minute / 60 % 24] += 1
    }
    let ratio = Double(hours.max()!) / Double(hours.min()!)
    #expect((8.5...12).contains(ratio), "\(hours)")
    #expect((2...5).contains(hours.firstIndex(of: hours.min()!)!), "\(hours)")
    #expect((13...18).contains(hours.firstIndex(of: hours.max()!)!), "\(hours)")
  }

  /// Poisson arrivals would have a coefficient of variation of 1; by the hour of the day, little
  /// more.
  @Test func arrivalsAreBursts() {
    var times: [Int: [Int64]] = [:]
    for message in Self.messages {
      times[message.room, default: []].append(message.at.milliseconds)
    }
    var variations: [Double] = []
    var near = 0
    var gapCount = 0
    for room in times.values where room.count > 50 {
      let gaps = zip(room.dropFirst(), room).map { Double($0 - $1) }
      let mean = gaps.reduce(0, +) / Double(gaps.count)
      let square = gaps.reduce(0) { $0 + pow($1 - mean, 2) } / Double(gaps.count)
      variations.append(square.squareRoot() / mean)
      near += gaps.count { $0 <= 300_000 }
      gapCount += gaps.count
    }
    variations.sort()
    #expect(variations.count > 50)
    #expect(variations[variations.count / 10] > 1.3, "\(variations.prefix(20))")
    #expect(variations[variations.count / 2] > 2, "\(variations[variations.count / 2])")
    let share = Double(near) / Double(gapCount)
    #expect((0.6...0.97).contains(share), "\(share)")
  }

  /// Rooms of twice the members have about three times the messages.
  @Test func largerRoomsAreMoreActive() throws {
    var options = WorkloadOptions()
    options.sizes.users = 2000
    options.sizes.rooms = 400
    options.sizes.giants = Array(repeating: 50, count: 200) + Array(repeating: 100, count: 200)
    options.traffic.messages = 40_000
    options.traffic.activeShares = [1, 1, 1, 1, 1]
    options.traffic.dayDeviation = 0
    options.traffic.activityDeviation = 0
    let world = try Workload(options)
    var counts = [0, 0]
    world.forEachMessage(threads: 2) { counts[$0.room < 200 ? 0 : 1] += 1 }
    let ratio = Double(counts[1]) / Double(counts[0])
    // 2^1.57 = 2.97; long bursts make a tenth of a difference.
    #expect((2.4...3.6).contains(ratio), "\(counts)")
  }
}
