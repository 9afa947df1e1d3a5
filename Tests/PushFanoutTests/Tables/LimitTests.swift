import PushModel
import Testing

@testable import PushFanout

/// Goal: more of anything than an index of 32 bits can tell apart is refused, and nothing changes.
@Suite struct LimitTests {
  /// What a builder of so many of everything says.
  private func problem(
    limit: Int, _ body: (inout FanoutBuilder) throws(FanoutError) -> Void
  ) -> FanoutError? {
    var builder = FanoutBuilder()
    builder.writer.limit = limit
    do throws(FanoutError) {
      try body(&builder)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [2, 3]) func users(count: Int) {
    let problem = problem(limit: 2) { (builder) throws(FanoutError) in
      for user in 0..<count { try builder.setUser(Identifier("u\(user)"), UserSettings()) }
    }
    #expect(problem == (count > 2 ? .tooMany("users") : nil))
  }

  @Test(arguments: [2, 3]) func conversations(count: Int) {
    let problem = problem(limit: 2) { (builder) throws(FanoutError) in
      for index in 0..<count {
        try builder.setConversation(Identifier("c\(index)"), ConversationSettings())
      }
    }
    #expect(problem == (count > 2 ? .tooMany("conversations") : nil))
  }

  @Test(arguments: [2, 3]) func memberships(count: Int) {
    let problem = problem(limit: 2) { (builder) throws(FanoutError) in
      for _ in 0..<count { try builder.setMember("u", of: "c") }
    }
    #expect(problem == (count > 2 ? .tooMany("memberships") : nil))
  }

  @Test func devices() {
    let problem = problem(limit: 4) { (builder) throws(FanoutError) in
      var user = UserSettings()
      user.devices = (0..<5).map { _ in Device(id: "d") }
      try builder.setUser("u", user)
    }
    #expect(problem == .tooMany("devices"))
  }

  @Test func deviceIDs() {
    let problem = problem(limit: 4) { (builder) throws(FanoutError) in
      var user = UserSettings()
      user.devices = (0..<5).map { Device(id: Identifier("d\($0)")) }
      try builder.setUser("u", user)
    }
    #expect(problem == .tooMany("device ids"))
  }

  @Test func anUpdateBeyondTheLimitChangesNothing() throws {
    let writer = try TableWriter(app: AppSettings())
    let fanout = Fanout(writer, threads: 1)
    try fanout.update { (update) throws(FanoutError) in try update.setMember("u1", of: "g") }
    writer.limit = 6
    #expect(throws: FanoutError.tooMany("memberships")) {
      try fanout.update { (update) throws(FanoutError) in
        for user in 2..<7 { try update.setMember(Identifier("u\(user)"), of: "g") }
      }
    }
    #expect(fanout.memberCount(of: "g") == 1)
    #expect(fanout.version == 2)
    #expect(fanout.user("u2") == nil)
  }
}
