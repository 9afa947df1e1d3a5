import PushFanout
import PushModel
import PushReplay
import TestSupport
import Testing

/// Goal: a change with conditions is made for the rooms and users that meet them and for no others,
/// and a wrong condition is refused with the part that is wrong and what is possible.
@Suite struct WhatIfConditionTests {
  /// `big` has five members, `small` two, `chat` is a private chat of two; `t` is a thread of `big`.
  private static func world(_ rules: RuleSet) throws -> Fanout {
    var settings = FanoutSettings(app: AppSettings(rules: rules, timeZone: "UTC"))
    for number in 0..<5 { settings.setMember(Identifier("u\(number)"), of: "big") }
    settings.setMember("u0", of: "small")
    settings.setMember("u1", of: "small", MemberSettings(level: .all))
    settings.setConversation("chat", ConversationSettings(kind: .private))
    for user in ["u2", "u3"] as [Identifier] { settings.setMember(user, of: "chat") }
    if rules.kinds.contains(.thread) {
      settings.setConversation("t", ConversationSettings(kind: .thread, parent: "big"))
      settings.setMember("u2", of: "t", MemberSettings())
    }
    settings.updateUser("u3") { $0.timeZone = "Asia/Tokyo" }
    settings.updateUser("u4") { user in
      user.timeZone = "Asia/Kolkata"
      if rules.fields.contains(.userLevel) { user.level = .blocked }
      if rules.fields.contains(.kindLevels) { user.levels[.group] = .blocked }
    }
    return try Fanout(settings, threads: 1)
  }

  /// The memberships that have a level, and the users who have one of their own.
  private static func levels(_ fanout: Fanout) -> [String] {
    var found: [String] = []
    for room in ["big", "small", "chat", "t"] as [Identifier] {
      for number in 0..<5 {
        let user = Identifier("u\(number)")
        guard let level = fanout.member(user, of: room)?.level, level.isSet else { continue }
        found.append("\(room) \(user) \(level.name)")
      }
    }
    for number in 0..<5 {
      let user = Identifier("u\(number)")
      if let level = fanout.user(user)?.level, level.isSet { found.append("\(user) \(level.name)") }
    }
    return found
  }

  private static let before = ["small u1 all", "u4 none"]

  @Test(arguments: [
    // u4 has a level for all rooms, so none is a default for it.
    (
      "rooms>2.unset.level=mention",
      ["big u0 mention", "big u1 mention", "big u2 mention", "big u3 mention"],
      ChangeReach(rooms: 1, members: 4)
    ),
    (
      "rooms>=5.everyone.level=none",
      ["big u0 none", "big u1 none", "big u2 none", "big u3 none", "big u4 none"],
      ChangeReach(rooms: 1, members: 5)
    ),
    (
      "rooms>5.everyone.level=none", [],
      ChangeReach(unmet: "no room has more than 5 members (the largest: 5)")
    ),
    (
      "rooms<=2.unset.level=none", ["small u0 none", "chat u2 none", "chat u3 none"],
      ChangeReach(rooms: 2, members: 3)
    ),
    ("rooms<5.type=group.unset.level=none", ["small u0 none"], ChangeReach(rooms: 1, members: 1)),
    (
      "type!=group.everyone.level=none", ["chat u2 none", "chat u3 none"],
      ChangeReach(rooms: 1, members: 2)
    ),
    (
      "room=small,chat.zone=UTC.unset.level=mention", ["small u0 mention", "chat u2 mention"],
      ChangeReach(rooms: 2, members: 2)
    ),
    (
      #"room!="big".zone=Asia/*.everyone.level=mention"#, ["chat u3 mention"],
      ChangeReach(rooms: 1, members: 1)
    ),
    ("room=small.zone=UTC.everyone.level=all", ["small u0 all"], ChangeReach(rooms: 1, members: 1)),
    ("zone=Asia/*.everyone.level=all", ["u3 all", "u4 all"], ChangeReach(users: 2)),
    ("zone=Asia/*.everyone.level=none", ["u3 none"], ChangeReach(users: 1)),
    ("zone=Asia/Tokyo,Asia/Kolkata.unset.level=all", ["u3 all"], ChangeReach(users: 1)),
    ("zone!=UTC.unset.level=all", ["u3 all"], ChangeReach(users: 1)),
    (
      "share=100%.unset.level=all", ["u0 all", "u1 all", "u2 all", "u3 all"],
      ChangeReach(users: 4)
    ),
  ])
  func whoIsChanged(text: String, changed: [String], reach: ChangeReach) throws {
    let fanout = try Self.world(.easemob)
    #expect(Self.levels(fanout) == Self.before)
    #expect(try WhatIf(text).apply(to: fanout) == reach)
    let keys = changed.map { $0.split(separator: " ").dropLast() }
    let kept = Self.before.filter { line in !keys.contains(line.split(separator: " ").dropLast()) }
    #expect(Set(Self.levels(fanout)) == Set(changed + kept))
    #expect(WhatIf(text).mistake == nil && WhatIf(text).path == nil)
  }

  /// The first condition that nothing meets is named, with the nearest value that there is.
  @Test(arguments: [
    ("rooms>500.unset.level=none", "no room has more than 500 members (the largest: 5)"),
    ("rooms>=1000.unset.level=none", "no room has 1,000 members or more (the largest: 5)"),
    ("rooms<2.unset.level=none", "no room has fewer than 2 members (the smallest: 2)"),
    ("rooms<=1.unset.level=none", "no room has 1 member or fewer (the smallest: 2)"),
    ("rooms=4.unset.level=none", "no room has exactly 4 members (the nearest: 5)"),
    (
      "type=private.rooms!=2.unset.level=none",
      "no room that meets the other conditions has other than 2 members"
    ),
    ("type=system.unset.level=none", "no room is of type system (there are: private, group)"),
    (
      "room=small.type!=group.unset.level=none",
      "no room that meets the other conditions is of another type than group (there are: group)"
    ),
    ("room!=big,small,chat.unset.level=none", "there is no other room than big, small, chat"),
    ("zone=Europe/*.unset.quietHours=22:00-07:00", "no user is in Europe/* (most are in UTC: 3)"),
    (
      "zone!=UTC,Asia/*.unset.quietHours=22:00-07:00",
      "no user is outside of UTC, Asia/* (most are in UTC: 3)"
    ),
    // There are both, but nobody of the zone in the room.
    (
      "room=small.zone=Asia/*.everyone.level=all",
      "no room that meets the conditions has a member who meets the others"
    ),
  ])
  func whatNothingMeetsIsNamed(text: String, unmet: String?) throws {
    for rules in RuleSet.allCases where !text.contains("system") || rules == .rongcloud {
      let fanout = try Self.world(rules)
      #expect(try WhatIf(text).apply(to: fanout) == ChangeReach(unmet: unmet), "\(rules.rawValue)")
    }
    let few = try WhatIf("share=0.001%.everyone.level=none").apply(to: Self.world(.easemob))
    #expect(few?.unmet?.hasPrefix("no user is in a share of 0.001 % (the first is from ") == true)
  }

  /// R-10: a user's level for the type is one further than the member's, and none is unset.
  @Test func levelsOfTypesAreOwnLevels() throws {
    let fanout = try Self.world(.rongcloud)
    let reach = try WhatIf("rooms>2.unset.level=mentionUsers").apply(to: fanout)
    #expect(reach == ChangeReach(rooms: 1, members: 4))
    #expect(fanout.member("u4", of: "big")?.level == .unset)
    #expect(fanout.member("u3", of: "big")?.level == .mentionUsers)
    try WhatIf("share=100%.unset.levels.group=all").apply(to: fanout)
    #expect(
      (0..<5).map { fanout.user(Identifier("u\($0)"))?.levels[.group] }
        == [.all, .all, .all, .all, .blocked])
  }

  /// In random worlds the reach is the number of records that differ, whatever was asked for.
  @Test(arguments: RuleSet.allCases) func theReachIsWhatDiffers(rules: RuleSet) throws {
    let level = rules == .rongcloud ? "levels.group" : "level"
    let values =
      rules == .open ? ["mentions", "me,reply", "default"] : ["mention", "none", "default"]
    var sum = ChangeReach()
    for seed in TestSupport.seeds([1, 2, 3, 4]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 60, messageCount: 0,
        style: RandomWorld.Style(density: 80, isVaried: true))
      let settings = ModelWorld(world).settings
      let fanout = try Fanout(settings, threads: 1)
      var texts = values.flatMap { value in
        ["everyone", "unset"].flatMap { who in
          [
            "\(who).\(level)=\(value)", "rooms>3.\(who).level=\(value)",
            "type=private.share=50%.\(who).level=\(value)",
            "zone=Asia/*,Europe/*.\(who).\(level)=\(value)",
          ]
        }
      }
      texts += ["everyone", "unset"].flatMap { who in
        ["23:00-07:00", "none"].map { "\(who).quietHours=\($0)" }
      }
      var random = SeededGenerator(seed: seed)
      for text in texts.shuffled(using: &random) {
        let before = records(fanout, settings)
        let reach = try #require(try WhatIf(text).apply(to: fanout))
        let after = records(fanout, settings)
        let changed = zip(before.members, after.members).filter { $0.1 != $1.1 }.map { $0.1 }
        // Where nobody of the share has such a room, that is said, the second time too.
        let isShare = text.contains("share=")
        let wanted = ChangeReach(
          users: zip(before.users, after.users).count { $0 != $1 },
          rooms: Set(changed.map(\.0)).count, members: changed.count,
          unmet: isShare && changed.isEmpty ? reach.unmet : nil)
        #expect(reach == wanted, "seed \(seed), \(rules.rawValue), \(text)")
        // A second time there is nothing left to change.
        #expect(
          try WhatIf(text).apply(to: fanout) == ChangeReach(unmet: wanted.unmet), "\(text)")
        sum.users += reach.users
        sum.members += reach.members
      }
    }
    #expect(sum.users > 100 && sum.members > 100, "\(rules.rawValue)")
  }

  /// Every user's and every member's record, in one order.
  private func records(
    _ fanout: Fanout, _ settings: FanoutSettings
  ) -> (users: [UserSettings?], members: [(Identifier, MemberSettings?)]) {
    let rooms = settings.conversationIDs.sorted { $0.text < $1.text }
    return (
      (0..<settings.userCount).map { fanout.user(settings.id(of: UserIndex(UInt32($0)))) },
      rooms.flatMap { room in
        settings.members(of: room).map { (room, fanout.member(settings.id(of: $0), of: room)) }
      }
    )
  }

  /// A share is a part of any larger one, and about as large as it says.
  @Test func sharesAreOfTheSameUsers() throws {
    var settings = FanoutSettings()
    for number in 0..<4000 { settings.setUser(Identifier("user \(number)"), UserSettings()) }
    func members(_ share: String) throws -> Set<Int> {
      let fanout = try Fanout(settings, threads: 1)
      try WhatIf("share=\(share)%.everyone.level=none").apply(to: fanout)
      return Set(
        (0..<4000).filter { fanout.user(Identifier("user \($0)"))?.level == .blocked })
    }
    let (some, more) = (try members("2.5"), try members("10"))
    #expect(some.isSubset(of: more))
    #expect((70...130).contains(some.count) && (330...470).contains(more.count))
    #expect(try members("10") == more)
  }

  @Test func whatIsWrongIsNamed() {
    let rows: [(text: String, advice: String)] = [
      (
        "rooms>many.unset.level=mention",
        "rooms>many: rooms are compared with a number of members, like rooms>500"
      ),
      (
        "rooms>.unset.level=mention",
        "rooms is compared with nothing; write it like rooms>500"
      ),
      (
        "romos>500.unset.level=mention",
        #""romos" is not a condition; did you mean rooms? Conditions are rooms, type, room, share, "#
          + "zone"
      ),
      (
        "rooms>500.unsett.level=mention",
        #""unsett" is neither a condition (rooms, type, room, share, zone) nor everyone. or "#
          + "unset., to which conditions apply"
      ),
      (
        "rooms>500.app.level=mention",
        #""app" is neither a condition (rooms, type, room, share, zone) nor everyone. or "#
          + "unset., to which conditions apply"
      ),
      (
        "share=0%.unset.level=all",
        "share=0%: a share is more than 0 % and at most 100 %, like share=10%"
      ),
      (
        "share=10.unset.level=all",
        "share=10.unset.level=all: a share is more than 0 % and at most 100 %, like share=10%"
      ),
      (
        "type=grup.unset.level=all",
        "type=grup: a type is one of private, group, discussion, customerService, system, "
          + "ultraGroup, room"
      ),
      (
        "zone>UTC.unset.level=all",
        "zone>UTC: zone is compared with = or !=, like zone=Asia/Shanghai,Europe/*"
      ),
      (
        #"room="c1.unset.level=all"#,
        #"room: a quotation mark is missing behind "c1.unset.level=all"#
      ),
      (
        "rooms>500",
        "behind the condition comes a point and everyone. or unset., like "
          + "rooms>500.unset.level=mention"
      ),
    ]
    #expect(
      rows.map { WhatIf($0.text).mistake ?? "none" }
        == rows.map { "neither a change nor a file; \($0.advice)" })
  }

  @Test(arguments: [
    ("room=nowhere.unset.level=all", "there is no room \"nowhere\""),
    ("zone=Asia/Shanghia.unset.level=all", "\"Asia/Shanghia\" is not a time zone"),
    ("type=ultraGroup.unset.level=all", "easemob has no type ultraGroup"),
    (
      "rooms>1.unset.quietHours=none",
      "with a condition on rooms the field is level, not quietHours"
    ),
    (
      "rooms>1.unset.level=loud", "a level under easemob is one of default, all, mention, none"
    ),
    ("rooms>many.unset.level=all", "neither a change nor a file; rooms>many: rooms are compared"),
  ])
  func whatIsRefused(text: String, reason: String) throws {
    let fanout = try Self.world(.easemob)
    let version = fanout.version
    var found = ""
    do { try WhatIf(text).apply(to: fanout) } catch { found = "\(error)" }
    #expect(found.hasPrefix("\(text): \(reason)"), "\(found)")
    #expect(fanout.version == version)
  }
}
