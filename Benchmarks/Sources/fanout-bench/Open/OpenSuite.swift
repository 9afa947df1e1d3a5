import BenchSupport
import PushFanout
import PushModel
import PushWorkload

/// What open rules cost: keywords in texts, keywords that very many have, heartbeats, and a day beside
/// Easemob's.
///
/// Users: those who run their own chat, where people may have any word as a keyword.
struct OpenSuite {
  typealias Line = DaySuite.Line

  let users: Int

  static let parts = ["keywords", "hostile", "heartbeats", "open-day"]
  static let rounds = 5
  /// Of a day, at most: enough for a ratio.
  private static let messages = 100_000

  /// - Parameter hasText: whether messages have texts.
  func options(_ rules: RuleSet, hasText: Bool = false) -> WorkloadOptions {
    var options = WorkloadOptions()
    options.seed = 5
    options.rules = rules
    options.sizes.users = users
    options.sizes.memberships = users * 10
    options.traffic.messages = min(users, Self.messages)
    options.traffic.hasText = hasText
    return options
  }

  /// Decides messages one after the other, and says how long that took and what it came to.
  static func time(
    _ fanout: Fanout, _ messages: MessageArray, _ result: inout FanoutResult
  ) -> (seconds: Double, decisions: Int, pushes: Int) {
    var (decisions, pushes) = (0, 0)
    let seconds = seconds {
      for index in messages.indices {
        messages.with(index) { fanout.decide($0, into: &result) }
        let counts = result.counts
        decisions += counts.recipientCount
        pushes += counts.pushCount
      }
    }
    return (seconds, decisions, pushes)
  }

  // MARK: A day

  /// A day of open rules beside the same people's day by Easemob's: in the same conversations, with
  /// threads as well, and with texts as well. Easemob's has neither. Its day and a plain reading of
  /// the texts are above 1.5 times its day, so the last is held to ``NamesFloor`` alone.
  func day() -> [Line] {
    let cores = Fanout.coreCount
    var lines: [Line] = []
    let vendor = DayWorld(options(.easemob), threads: cores, hasAlone: false)
    let vendors = MessageArray(vendor.messages)
    for (hasThreads, hasText) in [(false, false), (true, false), (true, true)] {
      var options = options(.open, hasText: hasText)
      if !hasThreads { options.open.threadShare = 0 }
      let open = DayWorld(options, threads: cores, hasAlone: false)
      let messages = MessageArray(open.messages)
      let floor = open.namesFloor()
      var (ours, theirs, least) = (Samples(), Samples(), Samples())
      var result = FanoutResult()
      var sums = (decisions: 0, pushes: 0)
      for round in 0..<Self.rounds {
        vendor.fanout.forgetConversations()
        open.fanout.forgetConversations()
        let easemob = Self.time(vendor.fanout, vendors, &result)
        let found = Self.time(open.fanout, messages, &result)
        require(round == 0 || sums == (found.decisions, found.pushes), "days differ")
        sums = (found.decisions, found.pushes)
        theirs.add(easemob.seconds / Double(easemob.decisions))
        ours.add(found.seconds / Double(found.decisions))
        let names = seconds { keep(floor.run()) }
        least.add((easemob.seconds + names) / Double(easemob.decisions))
      }
      let timeline = FanoutTimeline(open.fanout.currentVersion)
      var replayed = 0
      for index in messages.indices {
        messages.with(index) { replayed += timeline.counts($0).pushCount }
      }
      require(replayed == sums.pushes, "a timeline pushes \(replayed), live \(sums.pushes)")
      if !hasThreads {
        lines.append(
          Line(
            name: "Easemob's day in order, live, 1 thread", value: 1e-9 / theirs.median,
            unit: "G decisions/s"))
        lines += memory("Easemob's", vendor.fanout)
      }
      let name =
        "open rules' day" + (hasText ? ", threads and texts" : hasThreads ? ", threads" : "")
      lines += [
        Line(name: name, value: 1e-9 / ours.median, unit: "G decisions/s"),
        Line(
          name: "the same, time of a decision", value: ours.median / theirs.median,
          unit: "× Easemob's", most: hasText ? nil : 1.5),
        Line(
          name: "the floor: Easemob's, and whom messages name",
          value: least.median / theirs.median, unit: "× Easemob's"),
        Line(
          name: "the same, time of a decision", value: ours.median / least.median,
          unit: "× the floor", most: 2),
      ]
      if hasText { lines += memory("open rules'", open.fanout) }
    }
    return lines
  }

  private func memory(_ name: String, _ fanout: Fanout) -> [Line] {
    let memory = Memory(fanout.memoryReport())
    return [
      Line(name: "\(name) memory", value: memory.bytesAUser, unit: "bytes a user"),
      Line(name: "\(name) memory", value: memory.bytesAMembership, unit: "bytes a membership"),
    ]
  }
}
