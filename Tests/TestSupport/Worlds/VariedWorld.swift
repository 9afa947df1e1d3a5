package import PushModel

/// What a ``RandomWorld`` of varied style draws beside the rest.
extension RandomWorld {
  package mutating func varyApp() {
    app.easemob.atListAllInArray = random.chance(50)
    app.easemob.atListStringAsID = random.chance(50)
    app.easemob.atListLegacyAPNsExt = random.chance(50)
  }

  /// Ids of which each second has the lower case of the one before (E-47).
  package static func variedID(_ number: Int) -> Identifier {
    let (round, kind) = number.quotientAndRemainder(dividingBy: 6)
    let names = ["U", "u", "\u{39F}\u{394}\u{39F}\u{3A3}-", "\u{3BF}\u{3B4}\u{3BF}\u{3C2}-"]
    let dotted = ["\u{130}", "i\u{307}"]
    return Identifier((names + dotted)[kind] + "\(round)")
  }

  package mutating func vary(_ message: inout Message) {
    message.at = variedInstant()
    if message.mentions != nil { message.mentions = ids() }
    guard rules == .easemob else { return }
    if random.chance(50) {
      message.mentions = nil
      message.mentionsAll = nil
      message.ext.atList = atList()
      message.ext.legacyAtList = atList()
    }
    if random.chance(30) {
      message.force = nil
      message.ext.force = random.chance(70)
    }
    if random.chance(20) {
      message.silent = nil
      message.ext.ignore = random.chance(50)
    }
    if message.sentAt != nil {
      let age = random.pick([0, 1, 60_000, 60_001, 86_400_000, 86_400_001] as [Int64])
      message.sentAt = Instant(milliseconds: message.at.milliseconds - age)
    }
    message.filter = random.chance(15) ? filter() : nil
    if random.chance(15) { message.ext.filter = filter() }
  }

  /// Some users, by their own ids or spelled in capitals, and somebody more than once.
  private mutating func ids() -> [Identifier] {
    var ids = (0..<Int.random(in: 0...4, using: &random)).map { _ in
      let id = random.pick(users)
      return random.chance(50) ? id : Identifier(id.text.uppercased())
    }
    if let first = ids.first, random.chance(30) { ids.append(first) }
    if random.chance(10) { ids.append(random.pick(["all", "ALL", "", "nobody"])) }
    return ids
  }

  private mutating func atList() -> EasemobExtension.AtList {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .absent
    case 1: .text(random.pick(["all", "All", random.pick(users)]))
    case 2: .unreadable
    default: .ids(ids())
    }
  }

  private mutating func filter() -> DeviceFilter {
    var filter = DeviceFilter()
    if random.chance(30) { filter.acceptDeviceIDs = ["d0", "d1", "default"] }
    if random.chance(30) { filter.ignoreDeviceIDs = [random.pick(["d0", "d1", "default"])] }
    if random.chance(30) { filter.acceptNotifierNames = ["apns", "fcm"] }
    if random.chance(30) { filter.ignoreNotifierNames = [random.pick(["apns", "fcm"])] }
    return filter
  }

  /// Mostly within two hours, often at a quarter of an hour or where a setting turns.
  package mutating func variedInstant() -> Instant {
    var base = Self.noon + Int64.random(in: -3_600_000...3_600_000, using: &random)
    if random.chance(20) { base = instant().milliseconds }
    if random.chance(30) { base = base / 900_000 * 900_000 }
    if random.chance(20) { base = random.pick(turns + [base]) }
    return Instant(milliseconds: base + random.pick([0, 0, 0, -1, 1, 1000]))
  }

  /// The instants at which mutes, graces and waits for membership are over.
  private var turns: [Int64] {
    let grace = app.rongcloud.backgroundGraceSeconds * 1000
    return steps.flatMap { step -> [Int64] in
      switch step {
      case .user(_, let user):
        let since = (user.devices ?? []).compactMap { $0.backgroundSince?.milliseconds }
        return [user.mutedUntil.milliseconds] + since + since.map { $0 + grace }
      case .app, .conversation: return []
      case .member(_, _, let member, _):
        return [member.mutedUntil.milliseconds, member.since.milliseconds]
      }
    }.filter { $0 > 1000 }
  }
}
