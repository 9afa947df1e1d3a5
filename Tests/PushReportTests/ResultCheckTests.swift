import PushReplay
import Testing

@testable import PushReport

/// Goal: a result that contradicts itself is refused, and the message says where.
@Suite struct ResultCheckTests {
  private typealias Case = (defect: @Sendable (inout ReplayResult) -> Void, message: String)

  private static let cases: [Case] = [
    ({ $0.pushFanoutReplay = 2 }, "pushFanoutReplay: the format is 2, and only 1 is known"),
    ({ $0.timeZone = "GMT+8" }, "timeZone: \"GMT+8\" is not a time zone of the IANA database"),
    ({ $0.messages += 1 }, "hours.messages: they add up to 10, and the total is 11"),
    ({ $0.decisions = -1 }, "decisions: -1 is not 0...9007199254740991"),
    ({ $0.users = .max }, "users: 9223372036854775807 is not 0...9007199254740991"),
    ({ $0.pushes += 1 }, "pushes: 683 do not agree with the outcomes, which have 682"),
    ({ $0.outcomes[0].count += 1 }, "outcomes: they add up to 2823, and the total is 2822"),
    ({ $0.outcomes[0].count = .max }, "outcomes: 9223372036854775807 is not 0...9007199254740991"),
    ({ $0.first = nil }, "first: first and last belong to messages, of which there are 10"),
    ({ $0.last = 5 }, "last: is before the first message"),
    ({ $0.first = -5 }, "first: -5 is not an instant"),
    ({ $0.hours.pushes.removeLast() }, "hours.pushes: has 9 entries where 10 belong"),
    ({ $0.hours.outcomes!.removeLast() }, "hours.outcomes: has 4 entries where 5 belong"),
    ({ $0.hours.outcomes![2].append(1) }, "hours.outcomes[2]: has 11 entries where 10 belong"),
    (
      { $0.hours.outcomes![2][0] += 1 },
      "hours.outcomes, row 0: they add up to 3, and the total is 2"
    ),
    ({ $0.hours.at.swapAt(0, 1) }, "hours.at[1]: steps begin at multiples of 3600000, each after"),
    ({ $0.hours.at[3] += 1 }, "hours.at[3]: steps begin at multiples of 3600000, each after"),
    ({ $0.hours.at[9] = 4_000_000_000 * 3600 }, "hours.at: is outside of first and last"),
    ({ $0.hours.step = 0 }, "hours.step: is 0, not 3600000"),
    ({ $0.hours.messages[0] = -1 }, "hours.messages[0]: -1 is not 0...9007199254740991"),
    ({ $0.minutes = TimeSeries(step: 60_000) }, "minutes.messages: they add up to 0, and the "),
    ({ $0.peakDay.at[0] -= 86_400_000 }, "peakDay.at: is outside of first and last"),
    ({ $0.week.removeLast() }, "week: has 167 entries where 168 belong"),
    ({ $0.week[1].hour = 0 }, "week[1]: is weekday 1, hour 0, not 1, 1"),
    ({ $0.week[1].outcomes = [] }, "week[1].outcomes: has 0 entries where 5 belong"),
    ({ $0.week[1].messages += 1 }, "week[1].days: is 0.0, and the hour has 1 message"),
    ({ $0.week[73].messages += 1 }, "week.messages: they add up to 11, and the total is 10"),
    ({ $0.week[73].days = -1 }, "week[73].days: is -1.0, and the hour has 0 messages"),
    ({ $0.week[73].days = .nan }, "week[73].days: is nan, and the hour has 0 messages"),
    ({ $0.week[73].days = 9 }, "week.days: add up to 36.0 hours, and first and last are 27.0"),
    ({ $0.conversations = 4 }, "conversationTable: has 3 entries where 4 belong"),
    ({ $0.conversationTable[1].pushes = 5000 }, "conversationTable[1].pushes: are more than the "),
    ({ $0.conversationTable[1].outcomes[0] += 1 }, "conversationTable[1].outcomes: they add up to"),
    ({ $0.conversationTable[1].first = -1 }, "conversationTable[1].first: -1 is not an instant"),
    ({ $0.sizes[1].from = 0 }, "sizes[1].from: is not above the one before"),
    ({ $0.sizes[1].messages = 0 }, "sizes.messages: they add up to 6, and the total is 10"),
    ({ $0.peaks[0].pushes = 5000 }, "peaks[0].pushes: 5000 is more than all, 682"),
    ({ $0.peaks[0].decidingSeconds = -1 }, "peaks[0].decidingSeconds: -1.0 is not a duration"),
    ({ $0.cost!.seconds = .infinity }, "cost.seconds: inf is not a duration"),
    ({ $0.hold!.held = 91 }, "hold.outcomes.held: they add up to 90, and the total is 91"),
    ({ $0.hours.pushes[0] += 5000 }, "hours.pushes[0]: are more than the decisions"),
    (
      { (result: inout ReplayResult) in
        result.hours.outcomes![0][1] += 1
        result.hours.outcomes![0][2] -= 1
      }, "hours.outcomes, row 1: they add up to 40, and the total is 39"
    ),
    ({ $0.minutes!.outcomes![4][0] += 1 }, "minutes.outcomes, row 0: they add up to 3, and the "),
    (
      { $0.minutes!.outcomes = [[], [], [], [], []] },
      "minutes.outcomes[0]: has 0 entries where 10 belong"
    ),
    (
      { $0.peakDay.messages[0] += 10 },
      "peakDay.messages: they add up to 18, and there are 10 in all"
    ),
    ({ $0.peakDay.messages[0] += 1 }, "peakDay.messages: are not those of the minutes"),
    ({ $0.peakDay.pushes[0] = 0 }, "peakDay.pushes: are not those of the minutes"),
    (
      { $0.conversationTable[0].last = $0.last! + 1 },
      "conversationTable[0].first: and last are outside of the replay"
    ),
    (
      { $0.sizes[1].conversations = 2 }, "sizes.conversations: they add up to 4, and the total is 3"
    ),
    ({ $0.sizes[1].pushes = 9 }, "sizes[1].pushes: are more than the decisions"),
    ({ $0.peaks[0].share += 1 }, "peaks[0].share: "),
    ({ $0.peaks[0].decisions = 1 }, "peaks[0].pushes: are more than the decisions"),
    ({ $0.hold!.never -= 1 }, "hold.outcomes.never: they add up to "),
    ({ $0.hold!.outcomes.removeFirst() }, "hold.outcomes.never: they add up to "),
    ({ $0.hold!.outcomes.swapAt(0, 1) }, "hold.outcomes[0]: is not the suppressed outcome of its "),
    (
      { (result: inout ReplayResult) in
        result.hold!.never += 1
        result.hold!.outcomes[0].never += 1
      }, "hold.outcomes[0], held and never: they add up to "
    ),
    ({ $0.hold!.hours.held[0] += 1 }, "hold.hours.waiting[0]: is 90, and what is held less "),
    ({ $0.hold!.minutes!.waiting[1] = 1 }, "hold.minutes.waiting[1]: is 1, and what is held less "),
    (
      { (result: inout ReplayResult) in
        result.hold!.hours.released[2] = 50
        result.hold!.hours.waiting[2] = 10
      }, "hold.hours.released: they add up to 80, and the total is 90"
    ),
    (
      { (result: inout ReplayResult) in
        result.hold!.peakDay.released = [0, 20, 70]
        result.hold!.peakDay.waiting = [90, 70, 0]
      }, "hold.peakDay.released: are not those of the minutes"
    ),
    ({ $0.hold!.releasePeak!.count = 61 }, "hold.releasePeak.count: is 61, and the most is 60"),
    ({ $0.hold!.releasePeak = nil }, "hold.releasePeak.count: is 0, and the most is 60"),
    ({ $0.hold!.waitingPeak!.count = 91 }, "hold.waitingPeak.count: is 91, and the most is 90"),
    ({ $0.hold!.peakDay.waiting = [] }, "hold.peakDay.waiting: has 0 entries where 3 belong"),
    ({ $0.hold!.peakDay.at[2] += 86_400_000 }, "hold.peakDay.at: is more than a day"),
    ({ $0.hold!.aroundPeak!.released[2] = 1 }, "hold.aroundPeak.waiting[2]: is 0, and what is"),
    ({ $0.hold!.aroundPeak!.at[2] += 60_000 }, "hold.aroundPeak: has not the greatest release"),
    ({ $0.hold!.aroundPeak!.at[1] += 60_000 }, "hold.aroundPeak: is not that of the minutes"),
    ({ $0.pushesByLocalHour!.removeLast() }, "pushesByLocalHour: has 23 entries where 24 belong"),
    ({ $0.pushesByLocalHour![3] += 1 }, "pushesByLocalHour: they add up to 683, and the total"),
    ({ $0.hold!.releasePeak!.at = -1 }, "hold.releasePeak.at: -1 is not an instant"),
  ]

  @Test(arguments: cases.indices)
  func aContradictionIsFound(index: Int) {
    var result = SampleResult.make(hours: 30)
    // Every message is in the first minute of an hour.
    result.minutes = result.hours
    result.minutes!.step = 60_000
    #expect(throws: Never.self) { try ResultCheck.check(result) }
    Self.cases[index].defect(&result)
    var found = "nothing"
    do throws(ReportProblem) { try ResultCheck.check(result) } catch { found = "\(error)" }
    #expect(found.hasPrefix(Self.cases[index].message), "\(found)")
  }
}
