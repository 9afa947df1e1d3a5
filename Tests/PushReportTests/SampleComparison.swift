@testable import PushReplay

/// A comparison that contradicts itself nowhere: in B a hundredth of A's pushes are left.
enum SampleComparison {
  private static let hour: Int64 = 3_600_000
  private static let lost = ["push/allowed/default", "none/notMentioned/app"]

  /// - Parameter hours: how long it lasted; each hour has a message of 100 to 2,400 pushes.
  static func make(hours: Int) -> CompareResult {
    var result = CompareResult(
      a: ComparedSide(what: [], rules: "easemob"),
      b: ComparedSide(what: ["unset.level=mention"], rules: "easemob"), timeZone: "UTC")
    result.week = (0..<168).map { ComparedWeekHour(weekday: $0 / 24 + 1, hour: $0 % 24) }
    result.hours = ComparedSeries(step: hour)
    var room = ComparedConversation(id: "room")
    for index in 0..<hours {
      let at = SampleResult.start + Int64(index) * hour
      let a = 100 * (index % 24 + 1)
      let b = index % 24 + 1
      result.hours.at.append(at)
      result.hours.messages.append(1)
      result.hours.a.append(a)
      result.hours.b.append(b)
      result.hours.gained.append(0)
      result.hours.lost.append(a - b)
      let row = Int((at / hour + 72) % 168)
      result.week[row].days += 1
      result.week[row].messages += 1
      result.week[row].a += a
      result.week[row].b += b
      room.a += a
      room.b += b
    }
    room.messages = hours
    room.decisions = room.a
    room.lost = room.a - room.b
    result.conversationTable = [room]
    result.conversations = 1
    result.messages = hours
    result.first = SampleResult.start
    result.last = result.hours.at.last
    (result.a.decisions, result.a.pushes) = (room.a, room.a)
    (result.b.decisions, result.b.pushes) = (room.a, room.b)
    result.changed = room.lost
    result.lost = room.lost
    result.outcomes = [
      ComparedOutcome(action: "none", reason: "notMentioned", scope: "app", a: 0, b: room.lost),
      ComparedOutcome(
        action: "push", reason: "allowed", scope: "default", a: room.a, b: room.b),
    ]
    result.changes = [OutcomeChange(from: lost[0], to: lost[1], count: room.lost)]
    result.users.fewer = 2
    result.users.losers = [
      ComparedUser(id: "u1", gained: 0, lost: room.lost - 1),
      ComparedUser(id: "=u,2\"", gained: 0, lost: 1),
    ]
    result.users.losses = [
      ComparedUsersStep(pushes: room.lost - 1, users: 1, examples: ["u1"]),
      ComparedUsersStep(pushes: 1, users: 1, examples: ["=u,2\""]),
    ]
    return result
  }

  /// A month of everything that a comparison can have.
  static func complete() -> CompareResult {
    var result = make(hours: 24 * 30)
    result.conversationTable[0].members = 400
    var people = ComparedPeople()
    (people.people, people.personDays, people.noneAnyMore) = (2, 3, 1)
    people.mostDays = 2
    people.a.classes = [0, 2, 1, 0, 0, 0, 0, 0, 0]
    people.b.classes = [1, 2, 0, 0, 0, 0, 0, 0, 0]
    (people.a.median, people.a.p90, people.a.p99, people.a.most) = (2, 4, 4, 4)
    (people.b.median, people.b.p90, people.b.p99, people.b.most) = (1, 2, 2, 2)
    (people.flow[1][0], people.flow[1][1], people.flow[2][1]) = (1, 1, 1)
    result.people = people
    result.mentionsLost = 5
    result.users.lostMentions = 2
    result.users.mentionLosers = [
      MentionLoser(id: "u1", conversation: "room", mentions: 4),
      MentionLoser(id: "=u,2\"", conversation: "room", mentions: 1),
    ]
    var hours = ComparedHours()
    (hours.a[23], hours.b[7]) = (result.a.pushes, result.b.pushes)
    result.pushesByLocalHour = hours
    (result.a.rateLimit, result.b.rateLimit) = (SampleResult.limit, RateLimitResult(perSecond: 5))
    return result
  }
}
