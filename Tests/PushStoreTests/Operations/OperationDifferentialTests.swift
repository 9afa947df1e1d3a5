import Foundation
import PushContent
import PushFanout
import PushReference
import PushModel
import PushStore
import TestSupport
import Testing

/// Goal: whatever is done in whatever order, the store holds what plain dictionaries hold, and its
/// engine decides as the reference does on them; before and after it is opened again.
///
/// Method: random writes of one to three operations, some of them refused. `PUSH_SEED=n swift test
/// --filter OperationDifferential` replays one more seed.
@Suite struct OperationDifferentialTests {
  static let users: [Identifier] = ["u0", "u1", "u2", "u3", "u4", "x"]

  /// `PUSH_SEQUENCES=300` tries so many more.
  private static let sequences: [UInt64] = {
    let count = ProcessInfo.processInfo.environment["PUSH_SEQUENCES"].flatMap { UInt64($0) } ?? 0
    return (0..<count / 2).map { 1000 + $0 }
  }()

  @Test(
    .tags(.slow), .unlessFast, arguments: RuleSet.allCases, seeds([1, 2, 3, 42]) + sequences)
  func theStoreHoldsWhatDictionariesHold(rules: RuleSet, seed: UInt64) throws {
    try withStore { path in
      var random = SeededGenerator(seed: seed)
      var model = Self.model(rules)
      var store = try SettingsStore(path, .create, threads: 1)
      let start = model
      try store.write(at: .zero) { write in
        try write.setApp(start.app)
        // In an order that is the same in every run.
        for id in start.ids {
          try write.setConversation(id, start.conversations[id] ?? ConversationSettings())
          for user in Self.users where start.members[.init(user: user, conversation: id)] != nil {
            try write.setMember(user, of: id)
          }
        }
      }
      var last = try store.reader.endOfFeed()
      var snapshot: Int64? = 0
      var replica = try StoreReplica(store)
      var now = Instant(milliseconds: 1_764_000_000_000)
      for number in 0..<120 {
        now = now.after(minutes: Int64.random(in: 0...40, using: &random))
        let operations = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          RandomWrite.random(rules, model, &random)
        }
        let at: Comment = "seed \(seed), write \(number): \(operations)"
        let refusal = Self.apply(operations, to: &model, at: now)
        var found: String?
        do {
          try store.write(at: now) { write in
            for operation in operations { try operation.apply(to: &write) }
          }
        } catch { found = "\(error)" }
        #expect(found == refusal, at)
        let events = try store.changes(after: last)
        last = events.last?.cursor ?? last
        let entries = events.map {
          OperationModel.Entry(
            change: $0.change, user: $0.user, conversation: $0.conversation, channel: $0.channel)
        }
        #expect(entries == model.feed, at)
        // What the snapshot has is not enough for what was deleted as a whole.
        if model.feed.contains(where: { $0.change == .advancedPush }) { snapshot = nil }
        model.feed = []
        if random.chance(70) { try replica.follow(store, &random) }
        if random.oneIn(20), try eraseOne(&model, store, at: now, &random, at) { snapshot = nil }
        if random.oneIn(15) {
          try store.compact(FeedRetention(entries: random.pick([1, 3, 30])), at: now)
          snapshot = snapshot.map { _ in -1 }
        }
        last = try store.reader.endOfFeed()
        if number % 10 == 9 {
          try expectSame(store, model, at: now, at)
          // Cut off here, and going on at once.
          var follower = replica
          try follower.catchUp(store)
          #expect(try follower.difference(from: store) == nil, at)
        }
        // In the middle, so that some changes are behind it when the store is opened again.
        if number % 80 == 20 {
          try store.writeSnapshot()
          snapshot = last.sequence
        }
        if number % 40 == 39 {
          try store.close()
          store = try SettingsStore(path, threads: 1)
          if let snapshot, snapshot >= 0 {
            let changes = last.sequence - snapshot
            #expect(store.opening == .snapshot(sequence: snapshot, changes: changes), at)
          }
          try expectSame(store, model, at: now, at)
          #expect(try store.reader.check() == [], at)
        }
      }
      // Cut off wherever it was, it ends with what the store has.
      for _ in 0..<50 { try replica.follow(store, &random) }
      try replica.catchUp(store)
      #expect(try replica.difference(from: store) == nil, "seed \(seed)")
      try store.close()
    }
  }

  /// Erases a user or a conversation of the model, if there is one.
  private func eraseOne(
    _ model: inout OperationModel, _ store: SettingsStore, at now: Instant,
    _ random: inout SeededGenerator, _ comment: Comment
  ) throws -> Bool {
    let end = try store.reader.endOfFeed()
    let erased: ErasedID
    // A thread goes with its group.
    let conversations = model.ids.filter { $0 != "thread" }
    let users = model.known.sorted { $0.text < $1.text }
    if !conversations.isEmpty, random.oneIn(4) {
      erased = .conversation(random.pick(conversations))
      model.removeConversation(erased.id)
    } else if !users.isEmpty {
      erased = .user(random.pick(users))
      model.erase(erased.id)
    } else {
      return false
    }
    try store.erase(erased, at: now)
    #expect(try store.changes(after: end).map(\.change) == [.erased], comment)
    #expect(store.fanout.user(erased.id) == nil, comment)
    #expect(store.fanout.conversation(erased.id) == nil, comment)
    return true
  }

  /// Applies a write, all of it or nothing.
  ///
  /// - Returns: why it is refused.
  static func apply(
    _ operations: [RandomWrite], to model: inout OperationModel, at now: Instant
  ) -> String? {
    var next = model
    do {
      for operation in operations { try next.apply(operation, at: now) }
      model = next
      return nil
    } catch { return "\(error)" }
  }

  static func model(_ rules: RuleSet) -> OperationModel {
    var model = OperationModel(app: AppSettings(rules: rules, timeZone: "Europe/Berlin"))
    model.known = Set(users.dropLast())
    for kind in ConversationKind.allCases where kind.exists(under: rules) {
      let id = Identifier(kind.rawValue)
      model.conversations[id] = ConversationSettings(
        kind: kind, parent: kind == .thread ? "group" : nil)
      for user in users.dropLast() where kind != .thread {
        model.members[.init(user: user, conversation: id)] = MemberSettings()
      }
    }
    model.kinds = model.conversations
    return model
  }

  /// Reads of all kinds, and decisions.
  private func expectSame(
    _ store: SettingsStore, _ model: OperationModel, at now: Instant, _ comment: Comment
  ) throws {
    #expect(store.fanout.app == model.app, comment)
    for (id, conversation) in model.conversations {
      #expect(store.fanout.conversation(id) == conversation, comment)
    }
    let (stored, live) = (try store.reader.templates(), try store.liveRenderer().directory)
    let read = try store.reader.contentDirectory()
    #expect(stored.count == model.templates.count, comment)
    for (name, template) in model.templates { #expect(stored[name] == template, comment) }
    for user in Self.users {
      let display = model.displays[user] ?? RecipientDisplay()
      #expect(try store.pushDisplay(of: user) == display, comment)
      #expect(live.user(user) == display, comment)
      let own = model.users[user] ?? UserSettings()
      // No decision looks at addresses.
      var decided = own
      decided.devices = own.devices?.map { device in
        var device = device
        device.address = DeviceAddress()
        return device
      }
      #expect(store.fanout.user(user) ?? UserSettings() == decided, comment)
      #expect(try store.devices(of: user) == own.effectiveDevices, comment)
      let isAddressed = decided != own || own.devices?.contains { $0.notifier != nil } ?? false
      let addressed = isAddressed ? own.devices ?? [] : []
      #expect(live.devices(of: user) == addressed, comment)
      #expect(read.devices(of: user) == addressed, comment)
      let places = model.members.filter { $0.key.user == user }
      // Roles are not the user's.
      let set = places.mapValues { member in
        var own = member
        own.roles = []
        return own
      }.filter { $0.value != MemberSettings() }
      let levels = try store.conversationLevels(of: user)
      #expect(Set(levels.map(\.conversation)) == Set(set.keys.map(\.conversation)), comment)
      for level in levels {
        var listed = MemberSettings(
          level: level.level, mutedUntil: level.mutedUntil, channels: level.channels)
        (listed.isImportant, listed.isFollowing) = (level.isImportant, level.isFollowing)
        #expect(listed == set[.init(user: user, conversation: level.conversation)], comment)
      }
      let blocked = set.filter { $0.value.level == .blocked }.map(\.key.conversation)
      #expect(Set(try store.blockedConversations(of: user)) == Set(blocked), comment)
      for (place, member) in places {
        #expect(store.fanout.member(user, of: place.conversation) == member, comment)
        if model.conversations[place.conversation]?.kind == .room { continue }
        let level =
          switch model.app.rules {
          case .easemob: try store.silentMode(of: user, in: place.conversation).level
          case .rongcloud: try store.notificationLevel(of: user, in: place.conversation)
          case .open: try store.openSettings(of: user, in: place.conversation).level
          }
        #expect(level == member.level, comment)
      }
    }
    expectSameDecisions(store, model, at: now, comment)
  }

  private func expectSameDecisions(
    _ store: SettingsStore, _ model: OperationModel, at now: Instant, _ comment: Comment
  ) {
    var reference = ReferenceEvaluator(model.settings)
    var wanted: [Decision?] = []
    var found: [Decision?] = []
    for id in model.conversations.keys {
      for minutes: Int64 in [0, 1, 2, 700] {
        var message = Message(id: "m", conversation: id, at: now.after(minutes: minutes))
        message.channel = minutes == 1 ? "" : "c"
        for mentions: [Identifier] in [[], ["u0", "u1"]] {
          message.mentions = mentions
          if model.app.rules == .open, minutes < 2 {
            (message.text, message.mentionsRoles) = ("deploy", mentions.isEmpty ? ["oncall"] : nil)
            (message.sender, message.force) = ("u3", !mentions.isEmpty)
          }
          for user in Self.users {
            wanted.append(reference.decide(message, for: user))
            found.append(store.fanout.decision(message, for: user))
          }
        }
      }
    }
    #expect(found == wanted, comment)
  }
}

extension RandomWrite {
  static func random(
    _ rules: RuleSet, _ model: OperationModel, _ random: inout SeededGenerator
  ) -> RandomWrite {
    let user = random.pick(OperationDifferentialTests.users)
    let all = model.kinds.keys.sorted { $0.text < $1.text }
    let ids = all + ["nowhere"]
    let id = random.oneIn(30) ? "nowhere" : random.pick(all)
    if random.chance(12) {
      // A conversation that is gone is usually made again.
      let gone = model.kinds.keys.filter { model.conversations[$0] == nil && $0 != "thread" }
        .sorted { $0.text < $1.text }
      if !gone.isEmpty, random.chance(70) {
        let users = OperationDifferentialTests.users.filter { _ in random.chance(60) }
        return .restore(random.pick(gone), users)
      }
      return .operation(.removal(user, id, rules, &random))
    }
    if random.chance(12) {
      if !random.oneIn(4) {
        return .operation(.randomDisplay(of: user, OperationDifferentialTests.users, &random))
      }
      let name = random.pick(["t1", "t2"])
      return .operation(
        random.pick([
          .removeTemplate(name: name), .setTemplate(name: name, content: "{$msg}"),
          .setTemplate(name: name, content: "a {0}"),
        ]))
    }
    if random.chance(30) { return .operation(.device(user, &random)) }
    // Now and then one of other rules.
    if rules != .open, random.oneIn(30) { return .operation(.open(user, id, &random)) }
    switch rules {
    case .easemob: return .operation(.easemob(user, id, ids, &random))
    case .rongcloud: return .operation(.rongCloud(user, id, &random))
    case .open: return .operation(.open(user, id, &random))
    }
  }
}

extension SettingsOperation {
  fileprivate static func removal(
    _ user: Identifier, _ id: Identifier, _ rules: RuleSet, _ random: inout SeededGenerator
  ) -> SettingsOperation {
    let isOn = random.chance(50)
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return .removeUser(user: user)
    case 1...3: return .removeMember(user: user, conversation: id)
    case 4: return .removeConversation(conversation: id)
    case 5 where random.oneIn(3): return .setAdvancedPush(isOn: isOn)
    case 6: return .setDevicePolicy(policy: isOn ? .anyOffline : .allOffline)
    case 7: return .setMessageNotification(isOn: isOn)
    case 8: return .addMember(user: user, conversation: id)
    default:
      return rules == .rongcloud
        ? .setPushReceiveStatus(user: user, receive: isOn)
        : .removeMember(user: user, conversation: id)
    }
  }

  fileprivate static func device(
    _ user: Identifier, _ random: inout SeededGenerator
  ) -> SettingsOperation {
    let device: Identifier = random.pick(["default", "p1", "p2"])
    switch Int.random(in: 0..<8, using: &random) {
    case 0...1:
      return .bindToken(
        user: user, device: device, type: random.pick([nil, .desktop, .web]),
        notifier: random.pick([nil, "n"]), platform: random.pick([nil, nil, .apns, .fcm]),
        token: random.pick([nil, nil, "0a1b", "t"]), fid: random.pick([nil, nil, nil, "f"]))
    case 2: return .unbindToken(user: user, device: device)
    case 3: return .logOutDevice(user: user, device: device, keepsToken: random.chance(50))
    case 4 where random.chance(40): return .removeDevice(user: user, device: device)
    default:
      return .setDeviceState(
        user: user, device: device, state: random.pick(Device.State.allCases))
    }
  }

  fileprivate static func easemob(
    _ user: Identifier, _ id: Identifier, _ ids: [Identifier], _ random: inout SeededGenerator
  ) -> SettingsOperation {
    let level = random.pick([nil, .unset, .all, .mention, .blocked] as [NotificationLevel?])
    let minutes = random.pick([nil, nil, 0, 1, 60, 10_080, 10_081, -1] as [Int64?])
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2:
      let (start, end) = (random.pick([0, 9, 22]), random.pick([0, 9, 17]))
      // Without a length there is no window.
      let hasInterval = random.chance(50) && start != end
      return .setSilentModeForAll(
        user: user, level: level, minutes: minutes, start: hasInterval ? "\(start):00" : nil,
        end: hasInterval ? "\(end):00" : nil)
    case 3...6:
      return .setSilentModeForConversation(
        user: user, conversation: id, level: level, minutes: minutes)
    case 7: return .clearRemindTypeForConversation(user: user, conversation: id)
    case 8:
      return .updatePushServiceForGroups(
        user: user, conversations: [id, random.pick(ids)], noPush: random.chance(60))
    default: return .setTimeZone(user: user, timeZone: zone(&random))
    }
  }

  fileprivate static func rongCloud(
    _ user: Identifier, _ id: Identifier, _ random: inout SeededGenerator
  ) -> SettingsOperation {
    let level = random.pick(NotificationLevel.ofVendors)
    let group: Identifier = random.oneIn(8) ? id : "ultraGroup"
    let channel: Identifier = random.pick(["", "c", "d"])
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2:
      return .setConversationNotificationLevel(user: user, conversation: id, level: level)
    case 3...4:
      return .setConversationChannelNotificationLevel(
        user: user, conversation: group, channel: channel, level: level)
    case 5:
      return .setConversationTypeNotificationLevel(
        user: user, level: level, type: random.pick(ConversationKind.allCases))
    case 6:
      return .setNotificationQuietHours(
        user: user, start: random.pick(["00:00:00", "09:00:00", "22:00:00"]),
        spanMinutes: random.pick([-1, 0, 1, 600, 1439, 1440]),
        level: random.pick([nil, .unset, .mention, .blocked]))
    case 7:
      return random.chance(50)
        ? .setUltraGroupConversationDefaultNotificationLevel(conversation: group, level: level)
        : .setUltraGroupConversationChannelDefaultNotificationLevel(
          conversation: group, level: level, channel: channel)
    case 8: return .setAppKeyLevel(level: level)
    default: return .setTimeZone(user: user, timeZone: zone(&random))
    }
  }

  static func zone(_ random: inout SeededGenerator) -> String? {
    random.pick([nil, "Asia/Kathmandu", "America/New_York"])
  }
}
