import PushReference
import PushSupport
import PushModel
import TestSupport
import Synchronization
import Testing

@testable import PushFanout

/// Goal: conversations of every size are decided right, around the sizes of words, pages and pieces
/// of work, with tallies and without them, on one thread and on several.
@Suite struct ConversationSizeTests {
  private static let noon: Int64 = 1_711_843_200_000

  /// Users of whom some belong to the group "g", with cheap settings of many kinds.
  struct Crowd {
    var settings = FanoutSettings()
    let memberCount: Int

    /// - Parameter spread: every so many users one is a member.
    init(_ memberCount: Int, spread: Int, seed: UInt64) throws {
      self.memberCount = memberCount
      var random = SeededGenerator(seed: seed)
      let night = UserSettings.night
      for number in 0..<memberCount * spread + 3 {
        let id = Identifier("u\(number)")
        let isMember = number % spread == 0 && number / spread < memberCount
        if number % 7 == 0 || !isMember {
          var user = number % 14 == 0 ? night : UserSettings()
          user.level = random.pick([.unset, .all, .mention, .blocked])
          if number % 21 == 0 {
            let turn = ConversationSizeTests.noon + Int64(number % 5) * 1000
            user.mutedUntil = Instant(milliseconds: turn)
          }
          if number % 35 == 0 { user.devices = [Device(id: "d", hasToken: number % 2 == 0)] }
          settings.setUser(id, user)
        }
        if isMember {
          var member = MemberSettings(
            level: random.pick([.unset, .unset, .all, .blocked, .mention]))
          if random.oneIn(50) {
            member.mutedUntil = Instant(milliseconds: ConversationSizeTests.noon + 2000)
          }
          if random.oneIn(60) {
            member.since = Instant(milliseconds: ConversationSizeTests.noon + 1000)
          }
          settings.setMember(id, of: "g", member)
        }
      }
      if memberCount == 0 { settings.setConversation("g", ConversationSettings()) }
    }

    func message(_ number: Int) -> Message {
      var message = Message(
        id: "m", conversation: "g",
        at: Instant(milliseconds: ConversationSizeTests.noon + Int64(number) * 500),
        sender: Identifier("u\((memberCount - 1) / 2)"))
      if number % 3 == 1 { message.mentions = ["U0", Identifier("u\(memberCount - 1)"), "u3"] }
      if number % 4 == 2 {
        var filter = DeviceFilter()
        filter.ignoreDeviceIDs = ["d"]
        message.filter = filter
      }
      return message
    }
  }

  /// The codes of all members by the reference.
  private func expected(_ evaluator: inout ReferenceEvaluator, _ message: Message) -> [UInt8] {
    let members = evaluator.settings.members(of: "g")
    var codes: [UserIndex: UInt8] = [:]
    evaluator.decide(message) { codes[$0] = $1.outcome.code }
    return members.map { codes[$0] ?? 0 }
  }

  private func codes(_ result: FanoutResult) -> [UInt8] {
    var codes = [UInt8](repeating: 0xFF, count: result.memberCount)
    var span = codes.mutableSpan
    result.writeCodes(into: &span)
    return codes
  }

  private func pushBits(_ result: FanoutResult) -> [UInt8] {
    var bits = [UInt8](repeating: 0xFF, count: (result.memberCount + 7) / 8)
    var span = bits.mutableSpan
    result.writePushBits(into: &span)
    return bits
  }

  /// A bit for each code: whether it is that of a push.
  private func bits(_ codes: [UInt8]) -> [UInt8] {
    var bits = [UInt8](repeating: 0, count: (codes.count + 7) / 8)
    for (rank, code) in codes.enumerated() { bits[rank / 8] |= (code & 1) << UInt8(rank % 8) }
    return bits
  }

  /// Where a result is not what its members must get, or disagrees with itself.
  private func difference(_ result: FanoutResult, _ expected: [UInt8]) -> String? {
    if let difference = firstDifference(codes(result), expected) { return "codes " + difference }
    if let difference = firstDifference(pushBits(result), bits(expected)) {
      return "bits " + difference
    }
    let pushes = expected.indices.filter { expected[$0] % 2 == 1 }.map { result.member(at: $0) }
    if let difference = firstDifference(Array(result.pushes), pushes) {
      return "pushes " + difference
    }
    var tally = [Int](repeating: 0, count: Outcome.codeCount)
    for code in expected where code != 0 { tally[Int(code)] += 1 }
    let counts = result.counts
    if let difference = firstDifference(
      (0..<Outcome.codeCount).map { counts[code: UInt8($0)] }, tally)
    {
      return "counts " + difference
    }
    return firstDifference(
      [result.pushCount, result.recipientCount],
      [pushes.count, expected.count { $0 != 0 }])
  }

  @Test(
    arguments: [0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 1024, 1025], [1, 9, 40])
  func smallAndMiddling(memberCount: Int, spread: Int) throws {
    if memberCount * spread > 9500 { return }
    let crowd = try Crowd(memberCount, spread: spread, seed: UInt64(memberCount * spread))
    try compare(crowd, messages: 6, threads: [1])
  }

  /// Members whose settings lie on two pages, with any number of them before the boundary.
  @Test func runsOfMembersEndAtPages() throws {
    let pageSize = PagedTable<UInt8>.pageSize
    for skipped in 0..<9 {
      var settings = FanoutSettings()
      for number in 0..<2 * pageSize + 20 {
        let id = Identifier("u\(number)")
        var user = UserSettings()
        // The same offset in the next page has another level.
        user.level = [.blocked, .all, .mention][(number / pageSize + number % 2) % 3]
        settings.setUser(id, number < 2 * pageSize ? user : UserSettings())
        if number >= skipped { settings.setMember(id, of: "g") }
      }
      var evaluator = ReferenceEvaluator(settings)
      let fanout = try Fanout(settings, threads: 1)
      let message = Message(id: "m", conversation: "g", at: Instant(milliseconds: Self.noon))
      let expected = expected(&evaluator, message)
      #expect(difference(fanout.decide(message), expected) == nil, "\(skipped) users skipped")
    }
  }

  @Test func seventyThousand() throws {
    try compare(try Crowd(70_000, spread: 1, seed: 1), messages: 2, threads: [2])
  }

  private func compare(_ crowd: Crowd, messages: Int, threads: [Int]) throws {
    var evaluator = ReferenceEvaluator(crowd.settings)
    let answers = (0..<messages).map { expected(&evaluator, crowd.message($0)) }
    for sizes in CacheSizes.all {
      var builder = FanoutBuilder()
      try builder.add(crowd.settings)
      let fanout = Fanout(try builder.finish(), threads: threads[0], sizes)
      var kept = FanoutResult()
      for number in 0..<messages {
        #expect(answers[number].count == crowd.memberCount)
        fanout.decide(crowd.message(number), into: &kept)
        #expect(difference(kept, answers[number]) == nil, "message \(number), \(sizes)")
        kept.storage.conversation?.guarded.withLock { guarded in
          kept.storage.conversation?.checkInvariants(fanout.current, guarded, .all)
        }
      }
    }
  }

  @Test func messagesToMoreMembersThanALimitAreLeft() throws {
    let crowd = try Crowd(129, spread: 1, seed: 129)
    let fanout = try Fanout(crowd.settings, threads: 1)
    let message = crowd.message(0)
    var result = FanoutResult()
    var found: [String] = []
    for limit in [0, 128, 129, .max] {
      let version = fanout.currentVersion
      let isDecided = fanout.decide(message, on: version, memberLimit: limit, into: &result)
      found.append("\(isDecided) \(result.memberCount) \(result.recipientCount)")
    }
    let count = fanout.decide(message).recipientCount
    #expect(found == ["false 0 0", "false 0 0", "true 129 \(count)", "true 129 \(count)"])
    // A conversation whose id never appeared has no members.
    let nowhere = Message(id: "m", conversation: "nowhere", at: message.at)
    #expect(fanout.decide(nowhere, on: fanout.currentVersion, memberLimit: 0, into: &result))
  }

  /// Enough members for several threads to work on one conversation.
  @Test func threeHundredThousand() throws {
    let count = 300_000
    var builder = FanoutBuilder()
    var sample = FanoutSettings()
    for number in 0..<count {
      let id = Identifier("u\(number)")
      let level = [NotificationLevel.unset, .all, .blocked, .mention, .unset][number % 5]
      var member = MemberSettings(level: level)
      if number % 999 == 0 { member.mutedUntil = Instant(milliseconds: Self.noon + 1) }
      try builder.setMember(id, of: "g", member)
      if number % 997 == 0 { try builder.setUser(id, .night) }
      if number % 1000 < 4 {
        if number % 997 == 0 { sample.setUser(id, .night) }
        sample.setMember(id, of: "g", member)
      }
    }
    let writer = try builder.finish()
    let fanout = Fanout(writer, threads: 2)
    #expect(count > CachedConversation.parallelSize)
    var message = Message(
      id: "m", conversation: "g", at: Instant(milliseconds: Self.noon), sender: "u1000")
    message.mentions = ["U2001", "u299999"]
    let version = fanout.current
    var first: [UInt8] = []
    var evaluator = ReferenceEvaluator(sample)
    for threads in [1, 2, 7] {
      var result = FanoutResult()
      let cache = ConversationCache(byteLimit: 1 << 30, version: 1)
      result.reset(message.at.milliseconds, threads: threads)
      result.storage.version = version
      Decider(version: version, threads: threads).decide(message, cache, into: &result)
      let codes = codes(result)
      if first.isEmpty { first = codes }
      #expect(firstDifference(codes, first) == nil, "\(threads) threads")
      #expect(firstDifference(pushBits(result), bits(codes)) == nil, "\(threads) threads")
      #expect(result.pushCount == first.count { $0 % 2 == 1 })
      var sampled = 0
      var wrong: [String] = []
      evaluator.decide(message) { user, decision in
        sampled += 1
        let id = sample.id(of: user)
        if result.outcome(of: id) != decision.outcome { wrong.append("\(id)") }
      }
      #expect(sampled == 1199)
      #expect(wrong == [], "\(threads) threads")
    }
  }
}

extension UserSettings {
  /// Quiet hours that hold at noon in UTC.
  static let night: UserSettings = {
    var user = UserSettings()
    let interval = try? QuietInterval(startHour: 20, startMinute: 0, endHour: 19, endMinute: 0)
    user.quietHours = interval.map { .interval($0) }
    user.timeZone = "Asia/Kathmandu"
    return user
  }()
}
