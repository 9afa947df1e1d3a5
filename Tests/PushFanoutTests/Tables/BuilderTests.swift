import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Goal: a builder takes records in any order, and one that builds nothing leaves nothing behind,
/// which is what a sanitizer that looks for leaks says of this.
@Suite struct BuilderTests {
  private static let message = Message(
    id: "m", conversation: "g", at: Instant(milliseconds: 1_711_843_200_000))

  @Test func aBuilderThatBuildsNothing() throws {
    var builder = FanoutBuilder()
    for number in 0..<3000 {
      try builder.setMember(
        Identifier("U\(number)"), of: "g", MemberSettings(since: Instant(milliseconds: 5)))
    }
    #expect(throws: FanoutError.unknownTimeZone("Mars/Phobos")) {
      try builder.setApp(AppSettings(timeZone: "Mars/Phobos"))
    }
    #expect(throws: FanoutError.emptyID) { try builder.setUser("", UserSettings()) }
  }

  /// Lines between memberships may be blank, or hold something else.
  @Test(arguments: [[1, 2, 3], [2, 3, 4], [1, 2, 5, 6, 9, 12, 13]]) func linesOfRows(
    lines: [Int]
  ) {
    var columns = MembershipColumns()
    for line in lines {
      unsafe Array("u\(line)".utf8).withUnsafeBytes { id in
        unsafe columns.append(
          id, of: id, level: .unset, since: nil, mutedUntil: .zero, line: line)
      }
    }
    #expect(lines.indices.map { columns.line(at: $0) } == lines)
  }

  @Test func theLastRecordOfAKeyCounts() throws {
    var builder = FanoutBuilder()
    let late = Instant(milliseconds: Self.message.at.milliseconds + 1)
    for user in ["c", "a", "b", "a", "c", "a"] as [Identifier] {
      try builder.setMember(user, of: "g", MemberSettings(level: .blocked, since: late))
    }
    try builder.setMember("d", of: "h")
    try builder.setMember("a", of: "g", MemberSettings(level: .blocked))
    try builder.setMember("b", of: "g")
    let fanout = try builder.build(threads: 1)
    let result = fanout.decide(Self.message)
    #expect(result.memberCount == 3)
    #expect((0..<3).map { result.id(of: result.member(at: $0)) } == ["c", "a", "b"])
    #expect(
      ["a", "b", "c"].map { result.outcome(of: Identifier($0)) } == [
        Outcome(.suppress, .levelNone, .conversation), Outcome(.push, .allowed, .default), nil,
      ])
    let report = fanout.memoryReport()
    #expect([report.userCount, report.conversationCount, report.membershipCount] == [4, 2, 4])
    #expect(report.ids > 0 && report.idCharacters == 0 && report.total > report.ids)
  }

  /// How the memberships of ``membersAreStoredTheSame`` come.
  private enum Order: CaseIterable {
    case random
    /// Those of a conversation beside each other, the last conversation first.
    case grouped
  }

  /// Enough memberships for several threads to store them, and for several nodes of pages. Where
  /// those of a conversation are beside each other, they stay where they are.
  @Test func membersAreStoredTheSame() throws {
    let seed = TestSupport.seed(1)
    let build = { (order: Order, threads: Int) throws -> Fanout in
      var random = SeededGenerator(seed: seed)
      var builder = FanoutBuilder(threads: threads)
      let users = try (0..<500).map { try builder.intern(user: Identifier("u\($0)")) }
      let conversations = try (0..<700).map {
        try builder.intern(conversation: Identifier("g\($0)"))
      }
      var rows = (0..<300_000).map {
        (number: $0, user: users[Int(random.next() % 500)], conversation: Int(random.next() % 600))
      }
      if order == .grouped {
        rows.sort { ($1.conversation, $0.number) < ($0.conversation, $1.number) }
      }
      for row in rows {
        let level = NotificationLevel.ofVendors[row.number % 3]
        let since = Instant(milliseconds: row.number % 1000 == 0 ? Int64(row.number) : 0)
        try builder.add(
          row.user, toConversationAt: conversations[row.conversation],
          MemberSettings(level: level, since: since))
      }
      let fanout = try builder.build(threads: threads)
      fanout.checkInvariants(.all)
      return fanout
    }
    let one = try build(.random, 1)
    for order in Order.allCases {
      for threads in [1, 3, 4] {
        let difference = one.difference(from: try build(order, threads))
        #expect(difference == nil, "\(order), \(threads) threads, seed \(seed)")
      }
    }
  }
}
