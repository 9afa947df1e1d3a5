import PushModel
import PushStore
import TestSupport

extension OperationModel {
  /// - Returns: whether it is an operation of open rules.
  mutating func applyOpen(_ operation: SettingsOperation) throws -> Bool {
    switch operation {
    case .setLevel(let id, let place, let classes):
      try require(.open)
      let level = classes.map { NotificationLevel($0) } ?? .unset
      guard let place else {
        user(id, .userLevel) { $0.level = level }
        break
      }
      try checkMember(id, place)
      member(id, place, .memberLevel) { $0.level = level }
    case .setDefaultLevel(let id, let classes):
      try require(.open)
      guard var conversation = conversations[id] else { throw StoreError.unknownConversation(id) }
      if conversation.kind == .thread || conversation.kind == .room {
        throw StoreError.wrongKind(id, conversation.kind)
      }
      let before = conversation
      conversation.level = classes.map { NotificationLevel($0) } ?? .unset
      if conversation == before { break }
      conversations[id] = conversation
      feed.append(Entry(change: .groupDefault, conversation: id))
    case .setAppLevel(let classes):
      try require(.open)
      let before = app
      app.level = classes.map { NotificationLevel($0) } ?? .unset
      if app != before { feed.append(Entry(change: .app)) }
    case .muteUntil(let id, let place, let end):
      try require(.open)
      guard let place else {
        user(id, .userMute) { $0.mutedUntil = end }
        break
      }
      try checkMember(id, place)
      member(id, place, .memberMute) { $0.mutedUntil = end }
    case .setMutedAllow(let id, let classes):
      try require(.open)
      user(id, .mutedAllow) { $0.mutedAllow = classes }
    case .setAllowForce(let id, let isOn):
      try require(.open)
      user(id, .allowForce) { $0.allowForce = isOn }
    case .addQuietWindow, .removeQuietWindow, .clearQuietWindows: try applyWindow(operation)
    case .addKeyword, .removeKeyword, .addSender, .removeSender: try applyList(operation)
    case .setImportant(let id, let place, let isOn):
      try require(.open)
      try checkMember(id, place)
      member(id, place, .important) { $0.isImportant = isOn }
    case .setFollow(let id, let place, let follow):
      try require(.open)
      if let kind = conversations[place]?.kind, kind != .thread {
        throw StoreError.wrongKind(place, kind)
      }
      try checkMember(id, place)
      member(id, place, .follow) { $0.isFollowing = follow }
    case .setRoles(let id, let place, let roles):
      try require(.open)
      if conversations[place]?.kind == .thread { throw StoreError.wrongKind(place, .thread) }
      try checkMember(id, place)
      if roles.count > 16 { throw SettingsWriteError.tooMany("roles", roles.count, limit: 16) }
      member(id, place, .roles) { $0.roles = roles }
    default: return false
    }
    return true
  }

  private mutating func applyWindow(_ operation: SettingsOperation) throws {
    // What is no window is refused before it is looked whose it is.
    if case .addQuietWindow(_, _, _, "24:0", _) = operation {
      throw SettingsWriteError.hourOutOfRange(24)
    }
    try require(.open)
    func windows(_ id: Identifier) -> [QuietWindows.Window] {
      guard case .windows(let own) = users[id]?.quietHours else { return [] }
      return own.windows
    }
    switch operation {
    case .addQuietWindow(let id, let days, let start, let end, let allow):
      let window = try QuietWindows.Window(
        days: days.map { try QuietWindows.Window.days($0) } ?? 127, start: start, end: end,
        allow: allow ?? [])
      let all = windows(id) + [window]
      if all.count > 16 {
        throw SettingsWriteError.tooMany("quiet windows", all.count, limit: 16)
      }
      let made = try QuietWindows(all)
      user(id, .quietHours) { $0.quietHours = .windows(made) }
    case .removeQuietWindow(let id, let position):
      let all = windows(id)
      guard 1...Int64(max(1, all.count)) ~= position, !all.isEmpty else {
        throw StoreError.unknownWindow(user: id, position: Int(position))
      }
      let left = all.enumerated().filter { $0.offset != position - 1 }.map(\.element)
      let made = try QuietWindows(left)
      user(id, .quietHours) { $0.quietHours = .windows(made) }
    case .clearQuietWindows(let id, let keepsNone):
      user(id, .quietHours) { $0.quietHours = keepsNone == true ? .windows(.none) : nil }
    default: preconditionFailure("\(operation) is of no window")
    }
  }

  private mutating func applyList(_ operation: SettingsOperation) throws {
    try require(.open)
    switch operation {
    case .addKeyword(let id, let keyword):
      if keyword == "++" { throw SettingsWriteError.keywordWithoutToken("++") }
      user(id, .keywords) { own in
        if !own.keywords.contains(keyword) { own.keywords.append(keyword) }
      }
    case .removeKeyword(let id, let keyword):
      user(id, .keywords) { $0.keywords.removeAll { $0 == keyword } }
    case .addSender(let id, let other, let list):
      let own = users[id] ?? UserSettings()
      let isIn = (
        important: own.importantSenders.contains(other), blocked: own.blockedSenders.contains(other)
      )
      if list == .important ? isIn.blocked : isIn.important {
        throw SettingsWriteError.importantAndBlocked(other.text)
      }
      if isIn.important || isIn.blocked { return }
      if list == .important {
        user(id, .importantSenders) { $0.importantSenders.append(other) }
      } else {
        user(id, .blockedSenders) { $0.blockedSenders.append(other) }
      }
    case .removeSender(let id, let other, let list):
      if list == .important {
        user(id, .importantSenders) { $0.importantSenders.removeAll { $0 == other } }
      } else {
        user(id, .blockedSenders) { $0.blockedSenders.removeAll { $0 == other } }
      }
    default: preconditionFailure("\(operation) is of no list")
    }
  }
}

extension SettingsOperation {
  static func open(
    _ user: Identifier, _ id: Identifier, _ random: inout SeededGenerator
  ) -> SettingsOperation {
    let classes = random.pick([
      nil, [], .all, .mentions, .direct, .plain,
      MessageClasses(rawValue: UInt16.random(in: 0..<512, using: &random)),
    ])
    let isOn = random.chance(50)
    let other = random.pick(OperationDifferentialTests.users)
    switch Int.random(in: -1..<20, using: &random) {
    case -1:
      return random.chance(50)
        ? .setDefaultLevel(conversation: id, level: classes) : .setAppLevel(level: classes)
    case 0...2:
      return .setLevel(user: user, conversation: random.oneIn(4) ? nil : id, level: classes)
    case 3...4:
      let minutes = Int64.random(in: 0...2400, using: &random)
      let end = Instant(milliseconds: 1_764_000_000_000 + minutes * 60_000)
      return .muteUntil(
        user: user, conversation: random.oneIn(3) ? nil : id,
        mutedUntil: random.pick([.zero, end, end]))
    case 5: return .setMutedAllow(user: user, allow: classes ?? [])
    case 6: return .setAllowForce(user: user, allowForce: isOn)
    case 7...8:
      return .addQuietWindow(
        user: user, days: random.pick([nil, ["mon", "sun"], ["tue"]]),
        start: random.pick(["22:0", "09:00"]), end: random.pick(["7:0", "09:00", "24:0"]),
        allow: classes)
    case 9:
      return .removeQuietWindow(user: user, position: Int64.random(in: 0...3, using: &random))
    case 10: return .clearQuietWindows(user: user, keepsNone: isOn ? true : nil)
    case 11: return .addKeyword(user: user, keyword: random.pick(["deploy", "on call", "++"]))
    case 12: return .removeKeyword(user: user, keyword: random.pick(["deploy", "on call"]))
    case 13...14:
      return .addSender(user: user, other: other, list: random.pick(SenderList.allCases))
    case 15: return .removeSender(user: user, other: other, list: random.pick(SenderList.allCases))
    case 16: return .setImportant(user: user, conversation: id, important: isOn)
    case 17:
      return .setFollow(
        user: user, conversation: random.oneIn(4) ? id : "thread",
        follow: random.pick([nil, true, false]))
    case 18:
      let roles = (0..<random.pick([0, 1, 2, 17])).map { Identifier($0 == 0 ? "oncall" : "r\($0)") }
      return .setRoles(user: user, conversation: id, roles: roles)
    default: return .setTimeZone(user: user, timeZone: zone(&random))
    }
  }
}
