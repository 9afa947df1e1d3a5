import PushReference
import PushModel
import Testing

/// Goal: the next change of an answer is where a person says it is.
@Suite struct NextChangeTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let after: String
    /// nil: never.
    let expected: String?
    let world: @Sendable () -> World

    init(
      _ name: String, after: String, _ expected: String?, _ world: @escaping @Sendable () -> World
    ) {
      (self.name, self.after, self.expected, self.world) = (name, after, expected, world)
    }

    var testDescription: String { name }
  }

  @Test(arguments: windows + mutes + graces + memberships + never)
  func nextChange(_ test: Case) {
    #expect(test.world().nextChange(after: at(test.after)) { $0 } == test.expected.map(at))
  }

  static let windows = [
    Case(
      "the window begins", after: "2024-06-03T21:59:59.999Z", "2024-06-03T22:00:00Z",
      { .easemob("22:0", "7:0") }),
    Case(
      "at the beginning: the window ends", after: "2024-06-03T22:00:00Z", "2024-06-04T07:00:00Z",
      { .easemob("22:0", "7:0") }),
    Case(
      "in the last millisecond", after: "2024-06-04T06:59:59.999Z", "2024-06-04T07:00:00Z",
      { .rongcloud("22:00:00", 540) }),
    Case(
      "at the end: it begins again", after: "2024-06-04T07:00:00Z", "2024-06-04T22:00:00Z",
      { .rongcloud("22:00:00", 540) }),
    Case(
      "the clock jumps over the end", after: "2024-03-31T00:10:00Z", "2024-03-31T01:00:00Z",
      { .easemob("1:0", "2:30", zone: "Europe/Berlin") }),
    Case(
      "the clock jumps over the start", after: "2024-03-31T00:10:00Z", "2024-03-31T01:00:00Z",
      { .rongcloud("02:30:00", 90, zone: "Europe/Berlin") }),
    Case(
      "the clock jumps over all of it", after: "2024-03-30T12:00:00Z", "2024-04-01T00:15:00Z",
      { .easemob("2:15", "2:45", zone: "Europe/Berlin") }),
    Case(
      "the clock goes back out of it", after: "2024-10-27T00:30:00Z", "2024-10-27T01:00:00Z",
      { .rongcloud("02:30:00", 90, zone: "Europe/Berlin") }),
    Case(
      "the clock goes back into it", after: "2024-10-27T00:30:00Z", "2024-10-27T01:00:00Z",
      { .easemob("1:0", "2:30", zone: "Europe/Berlin") }),
    Case(
      "in the quiet hours' own zone", after: "2024-06-03T12:00:00Z", "2024-06-03T16:15:00Z",
      { .rongcloud("22:00:00", 60, zone: "Europe/Berlin", own: "Asia/Kathmandu") }),
    Case(  // inside, the next scope blocks too, but the scope is another
      "the scope changes", after: "2024-06-03T12:00:00Z", "2024-06-03T22:00:00Z",
      {
        var world = World.rongcloud("22:00:00", 60)
        world.member = MemberSettings(level: .blocked)
        return world
      }),
  ]

  static let mutes = [
    Case(  // E-35
      "the mute ends", after: "2024-06-03T12:00:00Z", "2024-06-03T12:34:56.789Z",
      {
        var world = World()
        world.user.mutedUntil = at("2024-06-03T12:34:56.789Z")
        return world
      }),
    Case(
      "the mute ends inside the window", after: "2024-06-03T22:30:00Z", "2024-06-04T07:00:00Z",
      {
        var world = World.easemob("22:0", "7:0")
        world.user.mutedUntil = at("2024-06-03T23:00:00Z")
        return world
      }),
    Case(
      "muted while the window begins", after: "2024-06-03T21:00:00Z", "2024-06-03T22:00:00Z",
      {
        var world = World.easemob("22:0", "7:0")
        world.user.mutedUntil = at("2024-06-03T23:00:00Z")
        return world
      }),
    Case(
      "muted a millisecond past the window", after: "2024-06-04T06:00:00Z", "2024-06-04T07:00:00Z",
      {
        var world = World.easemob("22:0", "7:0")
        world.user.mutedUntil = at("2024-06-04T07:00:00.001Z")
        return world
      }),
    Case(
      "the millisecond after the window", after: "2024-06-04T07:00:00Z", "2024-06-04T07:00:00.001Z",
      {
        var world = World.easemob("22:0", "7:0")
        world.user.mutedUntil = at("2024-06-04T07:00:00.001Z")
        return world
      }),
    Case(
      "the app's mute gives way to the conversation's", after: "2024-06-03T08:00:00Z",
      "2024-06-03T09:00:00Z",
      {
        var world = World()
        world.user.mutedUntil = at("2024-06-03T09:00:00Z")
        world.member = MemberSettings(mutedUntil: at("2024-06-03T10:00:00Z"))
        return world
      }),
    Case(
      "the conversation's mute ends below the app's", after: "2024-06-03T08:00:00Z",
      "2024-06-03T10:00:00Z",
      {
        var world = World()
        world.user.mutedUntil = at("2024-06-03T10:00:00Z")
        world.member = MemberSettings(mutedUntil: at("2024-06-03T09:00:00Z"))
        return world
      }),
    Case(  // E-63
      "the parent's mute ends", after: "2024-06-03T08:00:00Z", "2024-06-03T09:00:00Z",
      {
        var world = World()
        world.conversation = ConversationSettings(kind: .thread, parent: "p")
        world.parent = MemberSettings(mutedUntil: at("2024-06-03T09:00:00Z"))
        return world
      }),
  ]

  /// A user of RongCloud's whose phone went to the background at some times.
  static func background(_ since: String...) -> World {
    var world = World(app: AppSettings(rules: .rongcloud))
    world.user.devices = since.enumerated().map { index, since in
      Device(id: Identifier("d\(index)"), state: .background, backgroundSince: at(since))
    }
    return world
  }

  static let graces = [
    Case(
      "the grace ends", after: "2024-06-03T08:00:30Z", "2024-06-03T08:02:00.250Z",
      { background("2024-06-03T08:00:00.250Z") }),
    Case(
      "it has not begun", after: "2024-06-03T07:00:00Z", "2024-06-03T08:02:00.250Z",
      { background("2024-06-03T08:00:00.250Z") }),
    Case(
      "of the first device", after: "2024-06-03T08:00:30Z", "2024-06-03T08:02:00Z",
      { background("2024-06-03T08:00:10Z", "2024-06-03T08:00:00Z") }),
    Case(
      "of the second device", after: "2024-06-03T08:02:00Z", "2024-06-03T08:02:10Z",
      { background("2024-06-03T08:00:10Z", "2024-06-03T08:00:00Z") }),
    Case("it is over", after: "2024-06-03T08:02:00Z", nil, { background("2024-06-03T08:00:00Z") }),
    Case(
      "a longer grace", after: "2024-06-03T08:02:00Z", "2024-06-03T08:10:00Z",
      {
        var world = background("2024-06-03T08:00:00Z")
        world.app.rongcloud.backgroundGraceSeconds = 600
        return world
      }),
    Case(
      "Easemob has none", after: "2024-06-03T08:00:30Z", nil,
      {
        var world = background("2024-06-03T08:00:00Z")
        world.app.rules = .easemob
        return world
      }),
  ]

  static let memberships = [
    Case(
      "the membership begins", after: "2024-06-03T08:00:00Z", "2024-06-03T09:00:00.500Z",
      { World(member: MemberSettings(since: at("2024-06-03T09:00:00.500Z"))) }),
    Case(
      "it begins inside the window", after: "2024-06-03T08:00:00Z", "2024-06-03T23:00:00Z",
      {
        var world = World.easemob("22:0", "7:0")
        world.member = MemberSettings(since: at("2024-06-03T23:00:00Z"))
        return world
      }),
    Case(
      "years of windows pass before it", after: "2024-06-03T08:00:00Z", "2026-06-03T09:00:00Z",
      {
        var world = World.easemob("22:0", "7:0")
        world.member = MemberSettings(since: at("2026-06-03T09:00:00Z"))
        return world
      }),
  ]

  static let never = [
    Case("nothing is set", after: "2024-06-03T08:00:00Z", nil, { World() }),
    Case("equal ends, E-31", after: "2024-06-03T08:00:00Z", nil, { .easemob("8:0", "8:0") }),
    Case("0:0-0:0, E-32", after: "2024-06-03T08:00:00Z", nil, { .easemob("0:0", "0:0") }),
    Case("no member", after: "2024-06-03T08:00:00Z", nil, { World(member: nil) }),
    Case(  // E-64
      "online, whatever the window", after: "2024-06-03T08:00:00Z", nil,
      {
        var world = World.easemob("22:0", "7:0")
        world.user.devices = [Device(id: "d", state: .foreground)]
        return world
      }),
    Case(  // E-9
      "without the advanced features", after: "2024-06-03T08:00:00Z", nil,
      {
        var world = World.easemob("22:0", "7:0")
        world.app.advancedPush = false
        return world
      }),
  ]

  /// The last instant is 2^53 - 1 ms, at 8:59:00.991 UTC; what would change later never does.
  @Test func theEndOfTime() {
    let last = Instant(milliseconds: Instant.maximumMilliseconds)
    let now = last.plus(-50_000)
    let graces = [now, last.plus(-120_000)].map { since in
      var world = World(app: AppSettings(rules: .rongcloud))
      world.user.devices = [Device(id: "d", state: .background, backgroundSince: since)]
      return world
    }
    let worlds: [World] =
      [.easemob("8:0", "8:59"), .easemob("8:0", "9:0"), .rongcloud("08:57:59", 1)] + graces
    #expect(
      worlds.map { $0.nextChange(after: now) { $0 } }
        == [last.plus(-991), nil, last.plus(-1991), nil, last])
    #expect(worlds.map { $0.nextChange(after: last) { $0 } } == [nil, nil, nil, nil, nil])
  }

  /// What ends centuries away takes no longer to find than what ends tomorrow.
  @Test func aFarEndIsFoundInAFewSteps() {
    let far = Instant(milliseconds: Instant.maximumMilliseconds - 5)
    let now = at("2024-06-03T12:00:00Z")
    var online = World.easemob("22:0", "7:0")
    online.user.devices = [Device(id: "d", state: .foreground)]
    online.user.mutedUntil = far
    var muted = World.easemob("22:0", "7:0")
    muted.user.level = .blocked
    muted.member?.mutedUntil = far
    var later = World.easemob("22:0", "7:0")
    later.member?.since = far
    var steps = 0
    let found = [online, muted, later].map { world in
      world.nextChange(after: now) { decision in
        steps += 1
        return decision?.outcome.action
      }
    }
    #expect(found == [nil, nil, far])
    #expect(steps < 40)
  }

  /// Whether anything is sent changes later than why.
  @Test func ofTheActionOnly() {
    var world = World.easemob("8:0", "10:0")
    world.user.mutedUntil = at("2024-06-03T09:00:00Z")
    let now = at("2024-06-03T07:00:00Z")
    #expect(world.nextChange(after: now) { $0 } == at("2024-06-03T08:00:00Z"))
    #expect(world.nextChange(after: now) { $0?.outcome.action } == at("2024-06-03T10:00:00Z"))
    world.user.mutedUntil = at("2024-06-03T11:30:00Z")
    #expect(world.nextChange(after: now) { $0?.outcome.action } == at("2024-06-03T11:30:00Z"))
  }
}
