import PushModel
import Testing

@testable import PushWorkload

/// Goal: worlds of open rules have the rates that docs/generate.md names.
///
/// The draws are fixed by the seed, so a test that passes once passes always.
@Suite struct OpenRateTests {
  static let world: Workload = {
    var options = WorkloadOptions()
    options.rules = .open
    options.sizes.users = 20_000
    options.traffic.messages = 20_000
    options.traffic.hasText = true
    return try! Workload(options, threads: 2)
  }()

  static let users = (0..<world.userCount).map { world.user($0) }

  @Test func users() {
    let all = Self.users.count
    for (name, share, found) in [
      ("keywords", 0.2, Self.users.count { !$0.keywords.isEmpty }),
      ("mutes", 0.03, Self.users.count { $0.mutedUntil > .zero }),
      ("mutedAllow", 0.015, Self.users.count { !$0.mutedAllow.isEmpty }),
    ] {
      #expect(isChance(found, of: all, share), "\(name): \(found)")
    }
    // Somebody may draw nobody but themselves.
    let important = Self.users.count { !$0.importantSenders.isEmpty }
    let blocked = Self.users.count { !$0.blockedSenders.isEmpty }
    #expect((1850...2120).contains(important), "\(important)")
    #expect((500...690).contains(blocked), "\(blocked)")
    #expect(Self.users.allSatisfy { Set($0.importantSenders).isDisjoint(with: $0.blockedSenders) })
    #expect(Self.users.allSatisfy { $0.keywords.count <= 10 })
    // Scripts by zone.
    let letters = Set(Self.users.flatMap { $0.keywords }.flatMap { $0.unicodeScalars })
    for letter in "eр\u{639}\u{915}发リร" {
      #expect(letters.contains(letter.unicodeScalars.first!), "\(letter)")
    }
    let named = Self.users.count { $0.level.isSet && $0.level.mask.word == nil }
    let direct = Self.users.count { $0.level == NotificationLevel(.direct) }
    #expect(isChance(named, of: all, 0.1 * 0.3 * 2 / 3), "\(named)")
    #expect(isChance(direct, of: all, 0.1 * 0.3 / 3), "\(direct)")
  }

  @Test func membersAndThreads() {
    var (members, roles, important) = (0, 0, 0)
    var (followers, unfollowed) = (0, 0)
    for room in 0..<Self.world.roomCount {
      var users: Set<Int> = []
      Self.world.forEachMember(ofRoom: room) { user, settings in
        users.insert(user)
        members += 1
        if !settings.roles.isEmpty { roles += 1 }
        if settings.isImportant { important += 1 }
      }
      let size = users.count
      #expect((Self.world.threadCount(ofRoom: room) > 0) == (size >= 20))
      #expect(Self.world.kind(ofRoom: room) == (size == 2 ? .private : .group))
      for thread in 0..<Self.world.threadCount(ofRoom: room) {
        var here: Set<Int> = []
        Self.world.forEachFollower(ofThread: thread, room: room) { user, settings in
          here.insert(user)
          followers += 1
          if settings.isFollowing == false { unfollowed += 1 }
        }
        #expect(here.isSubset(of: users) && here.count >= 3)
      }
    }
    #expect(isChance(roles, of: members, 0.1), "\(roles) of \(members)")
    #expect(isChance(important, of: members, 0.03), "\(important) of \(members)")
    #expect(isChance(unfollowed, of: followers, 0.1), "\(unfollowed) of \(followers)")
  }

  @Test func messages() {
    var (large, middle, roles, inThreads, words) = (0, 0, 0, 0, 0)
    var number = 0
    var allReplies = true
    Self.world.forEachMessage(threads: 2) { message in
      number += 1
      let value = Self.world.message(message, number: number)
      if value.text?.contains("OPS-") ?? false { words += 1 }
      if value.replyToUser != message.replyTo.map(Workload.userID) { allReplies = false }
      let size = Self.world.size(ofRoom: message.room)
      if value.mentionsRoles != nil { roles += 1 }
      if 20..<1000 ~= size { middle += 1 }
      guard size >= 20 else { return }
      large += 1
      if value.conversation != Workload.roomID(message.room) { inThreads += 1 }
    }
    #expect(allReplies)
    #expect(isChance(roles, of: middle, 0.01), "\(roles) of \(middle)")
    #expect(isChance(words, of: number, 0.1 * 0.3), "\(words) of \(number)")
    // The messages of ten minutes are together.
    let share = Double(inThreads) / Double(large)
    #expect((0.15...0.25).contains(share), "\(share)")
  }
}
