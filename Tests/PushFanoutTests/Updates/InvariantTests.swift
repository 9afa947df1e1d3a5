import PushSupport
import PushModel
import TestSupport
import Synchronization
import Testing

@testable import PushFanout

/// Goal: `checkInvariants` accepts what the engine builds and updates, and stops the process when a
/// structure contradicts itself.
///
/// Each broken structure is checked in a process of its own, which ends by the check's
/// precondition: the message says so in debug builds, the only ones that print it. The same
/// structure unbroken ends well.
@Suite struct InvariantTests {
  private static let start: Int64 = 1_711_843_200_000

  // MARK: What is right

  @Test(arguments: RuleSet.allCases) func updatesKeepAllInvariants(rules: RuleSet) throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      var builder = FanoutBuilder()
      try builder.setApp(AppSettings(rules: rules))
      for number in 0..<300 {
        try builder.setUser(Identifier("U\(number)"), try Self.user(rules, &random))
        try builder.setMember(Identifier("U\(number)"), of: "g", Self.member(rules, &random))
      }
      let fanout = try builder.build(threads: 1)
      fanout.checkInvariants(.all)
      var held: [FanoutResult] = []
      for round in 0..<30 {
        let now = Instant(milliseconds: Self.start + Int64(round) * 977_000)
        fanout.advance(to: now)
        let result = fanout.decide(Message(id: "m", conversation: "g", at: now))
        _ = (result.counts, result.pushes)
        if random.chance(30) { held.append(result) }
        for _ in 0..<3 {
          let id = Identifier("U\(random.next() % 330)")
          let user = try Self.user(rules, &random)
          let member = Self.member(rules, &random)
          try fanout.update { (update) throws(FanoutError) in
            try update.setUser(id, user)
            try update.setMember(id, of: "g", member)
          }
        }
        if random.chance(50) {
          #expect(throws: FanoutError.emptyID) {
            try fanout.update { (update) throws(FanoutError) in
              try update.setMember("stray", of: "h", MemberSettings(level: .blocked))
              try update.setUser("", UserSettings())
            }
          }
        }
        fanout.checkInvariants(.all)
        let version = fanout.current
        for result in held where result.version == version.number && result.stamp.isExact {
          guard let conversation = result.storage.conversation else { continue }
          conversation.guarded.withLock { guarded in
            if conversation.applied.load(ordering: .relaxed) > version.number { return }
            if !guarded.changes.pending.isEmpty { return }
            conversation.checkInvariants(version, guarded, .all)
          }
        }
        held.removeAll { _ in random.chance(20) }
      }
    }
  }

  private static func user(
    _ rules: RuleSet, _ random: inout SeededGenerator
  ) throws -> UserSettings {
    var user = UserSettings()
    user.level = random.pick([.unset, .all, .mention, .blocked])
    if random.chance(40) {
      user.quietHours = .interval(
        try QuietInterval(
          startHour: Int.random(in: 0..<24, using: &random), startMinute: 0, endHour: 5,
          endMinute: 30))
    }
    if rules == .easemob, random.chance(30) {
      user.mutedUntil = Instant(
        milliseconds: start + Int64.random(in: 0..<20_000_000, using: &random))
    }
    if random.chance(40) {
      user.devices = (0..<random.pick([0, 1, 3])).map { number in
        var device = Device(id: Identifier("d\(number)"), hasToken: random.chance(70))
        device.state = random.pick([.foreground, .background, .offline])
        if device.state == .background {
          device.backgroundSince = Instant(milliseconds: start + Int64(number) * 1_000_000)
        }
        return device
      }
    }
    return user
  }

  private static func member(
    _ rules: RuleSet, _ random: inout SeededGenerator
  ) -> MemberSettings {
    var member = MemberSettings(level: random.pick([.unset, .all, .mention, .blocked]))
    let at = Instant(milliseconds: start + Int64.random(in: 0..<20_000_000, using: &random))
    if rules == .easemob, random.chance(20) { member.mutedUntil = at }
    if random.chance(20) { member.since = at }
    return member
  }

  @Test func aSampleCoversEverythingInTurn() {
    for count in [0, 1, 63, 64, 65, 1000] {
      let number = UInt64((count + 63) / 64)
      let covered = (0..<number).flatMap { InvariantScope.sample($0).indices(below: count) }
      #expect(covered == Array(0..<count))
      #expect(InvariantScope.sample(7).indices(below: count).count <= 64)
    }
  }

  // MARK: What is broken

  /// Tables of ten members, and the store that made them.
  private static func writer() throws -> TableWriter {
    var builder = FanoutBuilder()
    for number in 0..<10 {
      try builder.setMember(
        Identifier("u\(number)"), of: "g", MemberSettings(since: Instant(milliseconds: 5)))
    }
    return try builder.finish()
  }

  private static func check(_ writer: TableWriter) {
    writer.tables.checkInvariants(.all, generation: writer.store.generation)
  }

  private static func expect(_ result: ExitTest.Result?, says text: String) {
    // Optimized code ends without words.
    guard checksAssertions else { return }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains(text), "\(errors)")
  }

  @Test func membersThatDoNotAscend() async {
    await #expect(processExitsWith: .success) { Self.check(try Self.writer()) }
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let writer = try Self.writer()
      writer.tables.memberUsers.set(3, 9, writer.store)
      Self.check(writer)
    }
    Self.expect(result, says: "Tables: members of conversation 0 do not ascend at 4")
  }

  @Test func aConversationBeyondItsMembers() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let writer = try Self.writer()
      var row = writer.tables.conversations[0]
      row.capacity = 11
      writer.tables.conversations.set(0, row, writer.store)
      Self.check(writer)
    }
    Self.expect(result, says: "Tables: conversation 0 reaches beyond the members")
  }

  @Test func anOverrideThatIsNotStored() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let writer = try Self.writer()
      let bits = writer.tables.packedMembers[2]
      writer.tables.packedMembers.set(2, bits | 0x10, writer.store)
      Self.check(writer)
    }
    Self.expect(result, says: "Tables: overrides of member 2 of conversation 0 are missing")
  }

  @Test func overridesThatDoNotAscend() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let writer = try Self.writer()
      // Records of members without overrides are not looked for.
      writer.tables.packedMembers.set(4, 0, writer.store)
      writer.tables.packedMembers.set(5, 0, writer.store)
      writer.tables.overrides.set(4, OverrideRecord(.since, of: 9, 5), writer.store)
      Self.check(writer)
    }
    Self.expect(result, says: "Tables: overrides of ")
  }

  @Test func aPageOfALaterUpdate() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = PageStore()
      _ = store.commit()
      var table = PagedTable<UInt32>()
      table.append(7, store)
      table.checkInvariants(.all, generation: 1)
    }
    Self.expect(result, says: "PagedTable: a page of update 2 in a version of 1")
  }

  @Test func aMapThatMiscounts() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = PageStore()
      var map = PagedMap()
      for key in 0..<20 as Range<UInt64> { map.set(key, 1, store) }
      map.checkInvariants(.all, generation: 1, findsKeys: true)
      PagedMap(map.slots, count: 19).checkInvariants(.all, generation: 1, findsKeys: true)
    }
    Self.expect(result, says: "PagedMap: 20 slots in use, 19 keys counted")
  }

  @Test func aKeyThatIsNotFound() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = PageStore()
      var slots = PagedTable<PagedMap.Slot>()
      slots.grow(to: 256, repeating: PagedMap.Slot(), store)
      slots.set(0, PagedMap.Slot(key: 8, value: 1), store)
      slots.set(128, PagedMap.Slot(key: 8, value: 1), store)
      PagedMap(slots, count: 2).checkInvariants(.all, generation: 1, findsKeys: true)
    }
    Self.expect(result, says: "PagedMap: the key in slot")
  }

  @Test func anIDOfAnotherIndex() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let writer = try Self.writer()
      let ids = writer.tables.userIDs
      var entries = ids.entries
      entries.set(1, ids.entries[2], writer.store)
      writer.tables.userIDs = IDTable(IDArena(), entries, ids.slots, folded: ids.folded)
      Self.check(writer)
    }
    Self.expect(result, says: "IDTable: id 1 is found at")
  }

  @Test func versionsThatDoNotAscend() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let reclaimer = PageReclaimer()
      reclaimer.begin(2, retired: [])
      reclaimer.checkInvariants(.all)
      reclaimer.begin(2, retired: [])
      reclaimer.checkInvariants(.all)
    }
    Self.expect(result, says: "PageReclaimer: version 2 follows one that is not older")
  }

  @Test func aPageThatIsRetiredTwice() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let store = PageStore()
      let page = unsafe UInt(bitPattern: store.allocate(64))
      let reclaimer = PageReclaimer()
      reclaimer.begin(1, retired: [])
      reclaimer.begin(2, retired: [page])
      reclaimer.checkInvariants(.all)
      reclaimer.begin(3, retired: [page])
      reclaimer.checkInvariants(.all)
    }
    Self.expect(result, says: "PageReclaimer: a page is retired twice")
  }

  /// A cached conversation with tallies, after it was changed.
  private static func check(_ change: (CachedConversation) -> Void) throws {
    let fanout = Fanout(try writer(), threads: 1, countedPerMessageLimit: 0, readFromTablesLimit: 0)
    let result = fanout.decide(
      Message(id: "m", conversation: "g", at: Instant(milliseconds: start)))
    guard let conversation = result.storage.conversation else { return }
    let version = fanout.current
    conversation.guarded.withLock { conversation.checkInvariants(version, $0, .all) }
    change(conversation)
    conversation.guarded.withLock { conversation.checkInvariants(version, $0, .all) }
  }

  @Test func aKeyThatIsNotTheMembers() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.check { unsafe $0.keys[3].store(1 << 20, ordering: .relaxed) }
    }
    Self.expect(result, says: "CachedConversation: member 3 has ")
  }

  @Test func aTallyThatIsStale() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.check { conversation in
        for state in 0..<CachedConversation.tallyCount * conversation.stateCapacity {
          unsafe conversation.tallies[state].store(7, ordering: .relaxed)
        }
      }
    }
    Self.expect(result, says: "Tallies: 7 members in state ")
  }

  @Test func eventsOutOfOrder() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Self.check { conversation in
        conversation.guarded.withLock { guarded in
          guarded.events = EventLog(
            inOrder: [Self.start + 9, Self.start + 8].map {
              EventLog.Event(
                at: $0, rank: 0, before: MemberKey(bits: 0), after: MemberKey(bits: 0))
            }, at: guarded.events.now)
        }
      }
    }
    Self.expect(result, says: "precedes the one before")
  }
}
