public import PushModel

/// What a user of a generated world has by open rules, beside what all have.
struct OpenUser {
  /// In UTF-8.
  var keywords: [[UInt8]] = []
  var importantSenders: [Int] = []
  var blockedSenders: [Int] = []
  /// Milliseconds; 0 for none.
  var mutedUntil: Int64 = 0
  var mutedAllow: MessageClasses = []
}

/// Somebody's record in a thread of a generated world.
struct WorkloadFollower {
  var user: Int
  var level = NotificationLevel.unset
  var isFollowing = true
  var isImportant = false
  /// Whether the thread is muted for ever.
  var isMuted = false
}

extension Workload {
  private static let nextKeywordShare = 0.6
  private static let mostKeywords = 10
  private static let mostImportant = 5
  private static let mostBlocked = 3
  private static let mutedAllowShare = 0.5

  /// - Parameter zone: the user's.
  func openUser(_ user: Int, zone: Int) -> OpenUser {
    let open = options.open
    var drawn = OpenUser()
    // Each fact has draws of its own, as a user's other facts have.
    var words = Draws(options.seed, .keyword, UInt64(user))
    if words.isBelow(open.keywordShare) {
      let language = MessageText.language(ofZone: zone)
      repeat {
        var word: [UInt8] = []
        OpenWords.append(language, &words, to: &word)
        if !drawn.keywords.contains(word) { drawn.keywords.append(word) }
      } while drawn.keywords.count < Self.mostKeywords && words.isBelow(Self.nextKeywordShare)
    }
    var important = Draws(options.seed, .contact, UInt64(user))
    if important.isBelow(open.importantSenderShare) {
      drawn.importantSenders = contacts(
        of: user, zone: zone, atMost: Self.mostImportant, &important)
    }
    var blocked = Draws(options.seed, .contact, UInt64(user), 1)
    if blocked.isBelow(open.blockedSenderShare) {
      drawn.blockedSenders = contacts(of: user, zone: zone, atMost: Self.mostBlocked, &blocked)
        .filter { !drawn.importantSenders.contains($0) }
    }
    var mute = Draws(options.seed, .mute, UInt64(user))
    if mute.isBelow(open.mutedUserShare) {
      drawn.mutedUntil =
        time.lowerBound + 1
        + Int64(mute.below(UInt64(options.traffic.durationMilliseconds)))
      if mute.isBelow(Self.mutedAllowShare) { drawn.mutedAllow = .direct }
    }
    return drawn
  }

  /// People of the user's zone who are in many rooms, where there are any, each as often.
  private func contacts(
    of user: Int, zone: Int, atMost limit: Int, _ draws: inout Draws
  ) -> [Int] {
    let group = zones.groups[0]
    let range = group.range(ofZone: zone)
    let people = range.isEmpty ? 0..<group.count : range
    var found: [Int] = []
    for _ in 0..<1 + Int(draws.below(UInt64(limit))) {
      let index = people.lowerBound + Int(draws.below(UInt64(people.count)))
      let contact = group.firstUser + group.order[index]
      if contact != user, !found.contains(contact) { found.append(contact) }
    }
    return found
  }

  // MARK: Members

  /// Roles, the most usual first.
  static let roles = ["member", "dev", "ops", "moderator", "admin"]
  private static let secondRoleShare = 0.2

  /// Draws what a member has by open rules.
  func addOpenFacts(to member: inout WorkloadMember, room: Int, rank: Int) {
    var draws = Draws(options.seed, .memberFacts, UInt64(room), UInt64(rank))
    member.isImportant = draws.isBelow(options.open.importantShare)
    guard draws.isBelow(options.open.roleShare) else { return }
    member.roles = [draws.rank(of: Self.roles.count)]
    let second = draws.rank(of: Self.roles.count)
    if draws.isBelow(Self.secondRoleShare), member.roles != [second] { member.roles.append(second) }
  }

  // MARK: Threads

  /// Rooms of this size have threads.
  static let threadedRoom = 20
  /// Rooms of these sizes mention roles: in larger ones few may call many.
  static let roleRooms = 20..<1000
  private static let membersOfAThread = 50
  private static let mostThreads = 20
  private static let mostFollowers = 200
  private static let unfollowShare = 0.1
  private static let threadLevelShare = 0.1
  private static let threadMuteShare = 0.03

  /// How many threads a room of some size has.
  func threadCount(size: Int) -> Int {
    guard options.hasOpenFacts, options.open.threadShare > 0, size >= Self.threadedRoom else {
      return 0
    }
    return min(Self.mostThreads, 1 + size / Self.membersOfAThread)
  }

  /// How many threads a room has: under open rules, with the room as their parent.
  public func threadCount(ofRoom room: Int) -> Int { threadCount(size: rooms.size(of: room)) }

  /// The id of a room's thread in files: `c`, the room's number, `t` and its own.
  public static func threadID(_ thread: Int, ofRoom room: Int) -> Identifier {
    Identifier("c\(room)t\(thread)")
  }

  /// Who has a record in a thread: people who post in the room.
  func followers(
    ofThread thread: Int, room: Int, size: Int, of members: RoomMembers
  ) -> [WorkloadFollower] {
    var draws = Draws(options.seed, .thread, UInt64(room), UInt64(thread))
    let posters = rooms.posterCount(size: size)
    let ranks = Permutation(count: posters, key: draws.next())
    let count = draws.pareto(scale: 3, exponent: 2, atMost: min(posters, Self.mostFollowers))
    return (0..<count).map { index in
      var follower = WorkloadFollower(user: members.user(atRank: ranks[index]))
      follower.isFollowing = !draws.isBelow(Self.unfollowShare)
      follower.isImportant = draws.isBelow(options.open.importantShare)
      follower.isMuted = draws.isBelow(Self.threadMuteShare)
      let hasLevel = draws.isBelow(Self.threadLevelShare)
      let level = Int(draws.below(3))
      if hasLevel { follower.level = [.all, NotificationLevel(.mentions), .blocked][level] }
      return follower
    }
  }

  /// Calls for each record in a room's thread, in the order of the files.
  public func forEachFollower(
    ofThread thread: Int, room: Int, _ body: (_ user: Int, _ settings: MemberSettings) -> Void
  ) {
    let size = rooms.size(of: room)
    let members = RoomMembers(room: room, size: size, self)
    for follower in followers(ofThread: thread, room: room, size: size, of: members) {
      var settings = MemberSettings(level: follower.level)
      if follower.isMuted { settings.mutedUntil = Instant(milliseconds: Self.forEver) }
      settings.isImportant = follower.isImportant
      if !follower.isFollowing { settings.isFollowing = false }
      body(follower.user, settings)
    }
  }

  /// The end of a mute that never ends (O-10).
  static let forEver: Int64 = 1 << 53 - 1
}

extension WorkloadOptions {
  /// A level that lets mentions through and may name classes, by a draw.
  func classLevel(_ level: NotificationLevel, _ key: @autoclosure () -> UInt64) -> NotificationLevel
  {
    guard hasOpenFacts, level == NotificationLevel(.mentions) else { return level }
    let key = key()
    guard Workload.share(key) < open.classLevelShare else { return level }
    let sets: [MessageClasses] = [
      .direct, [.mentionsMe, .role], [.mentionsMe, .reply, .keyword, .sender],
    ]
    return NotificationLevel(sets[Int(Draws.mix(key) % UInt64(sets.count))])
  }
}
