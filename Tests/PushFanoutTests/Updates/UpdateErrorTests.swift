import PushFanout
import PushModel
import TestSupport
import Testing

/// Goal: what cannot be is refused with its own error, and then nothing has changed.
@Suite struct UpdateErrorTests {
  private static let noon = Instant(milliseconds: 1_711_843_200_000)

  private func fanout() throws -> Fanout {
    var settings = FanoutSettings()
    settings.setUser("u", UserSettings())
    settings.setMember("u", of: "g")
    settings.setMember("v", of: "h")
    return try Fanout(settings, threads: 1)
  }

  private func expect(
    _ error: FanoutError, _ change: @escaping (inout FanoutUpdate) throws(FanoutError) -> Void
  ) throws {
    let fanout = try fanout()
    let before = fanout.decide(Message(id: "m", conversation: "g", at: Self.noon)).rows
    #expect(throws: error) {
      try fanout.update { (update) throws(FanoutError) in
        try update.setMember("w", of: "g")
        try change(&update)
      }
    }
    #expect(fanout.version == 1)
    #expect(fanout.userCount == 2)
    #expect(fanout.user("w") == nil)
    #expect(fanout.decide(Message(id: "m", conversation: "g", at: Self.noon)).rows == before)
    try fanout.update { (update) throws(FanoutError) in try update.setMember("w", of: "g") }
    #expect(fanout.version == 2)
    #expect(fanout.decide(Message(id: "m", conversation: "g", at: Self.noon)).rows.count == 2)
  }

  @Test func unknownUsers() throws {
    try expect(.unknownUser("x")) { (update) throws(FanoutError) in
      try update.updateUser("x") { $0.level = .all }
    }
    try expect(.unknownUser("x")) { (update) throws(FanoutError) in
      try update.updateMember("x", of: "g") { $0.level = .all }
    }
    try expect(.unknownUser("x")) { (update) throws(FanoutError) in
      try update.removeMember("x", of: "g")
    }
  }

  @Test func unknownConversations() throws {
    try expect(.unknownConversation("x")) { (update) throws(FanoutError) in
      try update.updateMember("u", of: "x") { $0.level = .all }
    }
    try expect(.unknownConversation("x")) { (update) throws(FanoutError) in
      try update.removeMember("u", of: "x")
    }
  }

  @Test func peopleWhoAreNoMembers() throws {
    try expect(.notAMember(user: "v", conversation: "g")) { (update) throws(FanoutError) in
      try update.updateMember("v", of: "g") { $0.level = .all }
    }
    try expect(.notAMember(user: "v", conversation: "g")) { (update) throws(FanoutError) in
      try update.removeMember("v", of: "g")
    }
  }

  @Test func emptyIDs() throws {
    try expect(.emptyID) { (update) throws(FanoutError) in try update.setUser("", UserSettings()) }
    try expect(.emptyID) { (update) throws(FanoutError) in try update.setMember("", of: "g") }
    try expect(.emptyID) { (update) throws(FanoutError) in try update.setMember("u", of: "") }
    try expect(.emptyID) { (update) throws(FanoutError) in
      try update.setConversation("", ConversationSettings())
    }
    try expect(.emptyID) { (update) throws(FanoutError) in
      try update.setConversation("t", ConversationSettings(kind: .thread, parent: ""))
    }
  }

  @Test func unknownTimeZones() throws {
    var user = UserSettings()
    user.timeZone = "Mars/Olympus"
    let span = try QuietSpan(
      hour: 1, minute: 0, second: 0, spanMinutes: 60, level: .blocked, timeZone: "Mars/Base")
    var other = UserSettings()
    other.quietHours = .span(span)
    try expect(.unknownTimeZone("Mars/Olympus")) { (update) throws(FanoutError) in
      try update.setUser("u", user)
    }
    try expect(.unknownTimeZone("Mars/Base")) { (update) throws(FanoutError) in
      try update.updateUser("u") { $0 = other }
    }
    try expect(.unknownTimeZone("Mars/Phobos")) { (update) throws(FanoutError) in
      try update.setApp(AppSettings(timeZone: "Mars/Phobos"))
    }
    #expect(throws: FanoutError.unknownTimeZone("Mars/Phobos")) {
      try Fanout(app: AppSettings(timeZone: "Mars/Phobos"))
    }
    #expect(throws: FanoutError.unknownTimeZone("Mars/Phobos")) {
      try Fanout(FanoutSettings(app: AppSettings(timeZone: "Mars/Phobos")))
    }
    var settings = FanoutSettings()
    settings.setUser("u", user)
    #expect(throws: FanoutError.unknownTimeZone("Mars/Olympus")) { try Fanout(settings) }
  }

  @Test func nextChangeOfNobody() throws {
    let fanout = try fanout()
    #expect(throws: FanoutError.unknownUser("x")) {
      try fanout.nextChange(for: "x", in: "g", after: Self.noon)
    }
    #expect(throws: FanoutError.unknownConversation("x")) {
      try fanout.nextChange(for: "u", in: "x", after: Self.noon)
    }
    #expect(throws: FanoutError.notAMember(user: "v", conversation: "g")) {
      try fanout.nextChange(for: "v", in: "g", after: Self.noon)
    }
  }

  /// Only a thread's members are its parent's.
  @Test func nextChangeOfAGroupWithAParent() throws {
    let fanout = try fanout()
    try fanout.update { (update) throws(FanoutError) in
      try update.setConversation("g", ConversationSettings(kind: .group, parent: "h"))
      try update.updateMember("u", of: "g") {
        $0.mutedUntil = Instant(milliseconds: Self.noon.milliseconds + 5)
      }
    }
    let turn = try fanout.nextChange(for: "u", in: "g", after: Self.noon)
    #expect(turn == Instant(milliseconds: Self.noon.milliseconds + 5))
    #expect(throws: FanoutError.notAMember(user: "v", conversation: "g")) {
      try fanout.nextChange(for: "v", in: "g", after: Self.noon)
    }
  }

  @Test func errorsSayWhatIsWrong() {
    #expect(FanoutError.unknownUser("x").description == "there is no user \"x\"")
    #expect(FanoutError.tooMany("users").description == "more than 4294967294 users")
  }

  /// However many updates fail: ids that were taken back would otherwise fill the tables, in which a
  /// search then never ends.
  @Test(.timeLimit(.minutes(10))) func manyFailedUpdates() throws {
    let fanout = try fanout()
    var user = UserSettings()
    user.devices = [Device(id: "d")]
    try fanout.update { (update) throws(FanoutError) in try update.setUser("u", user) }
    for number in 0..<200 {
      var user = UserSettings()
      user.devices = [Device(id: Identifier("d\(number)"), notifier: Identifier("n\(number)"))]
      #expect(throws: FanoutError.emptyID) {
        try fanout.update { (update) throws(FanoutError) in
          try update.setUser(Identifier("X\(number)"), user)
          try update.setMember("u", of: Identifier("c\(number)"))
          try update.setUser("", user)
        }
      }
    }
    user.devices = [Device(id: "d7")]
    try fanout.update { (update) throws(FanoutError) in try update.setUser("u", user) }
    #expect(fanout.userCount == 2)
    #expect(fanout.user("X7") == nil)
    #expect(fanout.conversation("c7") == nil)
    #expect(fanout.user("u") == user)
  }

  /// A schedule that nobody had when the interval was prepared.
  @Test func aNewScheduleAfterAnAdvance() throws {
    let fanout = try fanout()
    fanout.advance(to: Self.noon)
    var user = UserSettings()
    user.quietHours = .interval(
      try QuietInterval(startHour: 0, startMinute: 0, endHour: 23, endMinute: 59))
    try fanout.update { (update) throws(FanoutError) in try update.setUser("u", user) }
    let result = fanout.decide(Message(id: "m", conversation: "g", at: Self.noon))
    #expect(result.outcome(of: "u") == Outcome(.suppress, .quietHours, .app))
  }
}
