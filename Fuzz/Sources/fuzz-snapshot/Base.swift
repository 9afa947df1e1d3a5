import Glibc
import PushModel

@testable import PushFanout

/// A snapshot that inputs change.
struct Base {
  static let identity = SnapshotIdentity(high: 1, low: 2)
  static let start: Int64 = 1_711_843_200_000

  let rules: RuleSet
  let bytes: [UInt8]
  let header: SnapshotHeader

  init(_ rules: RuleSet, userCount: Int) {
    self.rules = rules
    let path = "/tmp/fuzz-\(getpid())-\(rules.rawValue)-\(userCount)"
    defer { unsafe unlink(path) }
    do {
      try Self.fanout(rules, userCount).writeSnapshot(
        to: path, identity: Self.identity, sequence: 1)
      let mapping = try Mapping(path: path)
      bytes = unsafe Array(mapping.bytes(0..<mapping.byteCount))
      header = try SnapshotHeader(of: mapping, path: path)
    } catch {
      fatalError("\(error)")
    }
  }

  private static func fanout(_ rules: RuleSet, _ userCount: Int) throws -> Fanout {
    var builder = FanoutBuilder()
    try builder.setApp(AppSettings(rules: rules, timeZone: "Asia/Shanghai"))
    try builder.setConversation("p", ConversationSettings(kind: .private))
    if rules == .easemob {
      try builder.setConversation("t", ConversationSettings(kind: .thread, parent: "g"))
    } else {
      try builder.setConversation(
        "ultra", ConversationSettings(kind: .ultraGroup, level: .mention, channels: ["c": .blocked])
      )
    }
    for number in 0..<userCount {
      let id =
        number == 2 ? Identifier(String(repeating: "L", count: 300)) : Identifier("u\(number)")
      try builder.setUser(id, user(number, rules))
      var member = MemberSettings(since: Instant(milliseconds: Int64(number % 3) * start))
      if number % 4 == 1 { member.level = .mention }
      if rules == .easemob, number % 5 == 1 {
        member.mutedUntil = Instant(milliseconds: start + 60_000)
      }
      try builder.setMember(id, of: "g", member)
      if number < 2 { try builder.setMember(id, of: "p") }
      if rules == .rongcloud {
        member.channels = number % 2 == 0 ? ["c": .all, "": .blocked] : [:]
        try builder.setMember(id, of: "ultra", member)
      } else {
        try builder.setMember(id, of: "t", MemberSettings(level: .all))
      }
    }
    return try builder.build(threads: 1)
  }

  static func user(_ number: Int, _ rules: RuleSet) -> UserSettings {
    var user = UserSettings()
    if rules == .easemob {
      user.level = number % 3 == 0 ? .mention : .unset
      if number % 2 == 1 { user.mutedUntil = Instant(milliseconds: start + 1000) }
      user.quietHours =
        (try? QuietInterval(startHour: 22, startMinute: 30, endHour: 7, endMinute: 0))
        .map(QuietHours.interval)
    } else {
      user.levels[.group] = number % 3 == 0 ? .mentionUsers : .unset
      user.quietHours =
        (try? QuietSpan(
          hour: 22, minute: 0, second: number % 60, spanMinutes: 600, level: .blocked,
          timeZone: "Asia/Tokyo")).map(QuietHours.span)
    }
    user.timeZone = number % 2 == 0 ? "Europe/Berlin" : nil
    user.devices = [
      Device(id: "phone", notifier: "apns"),
      Device(id: Identifier("desk\(number % 7)"), kind: .desktop),
    ]
    return user
  }

  static func messages(_ rules: RuleSet) -> [Message] {
    let at = Instant(milliseconds: start + 30_000)
    var messages = ["g", "p", "t", "ultra"].map { (id: Identifier) in
      Message(id: "m", conversation: id, at: at, sender: "u0")
    }
    messages[0].mentions = ["u1", "u2"]
    messages.append(
      Message(id: "later", conversation: "g", at: Instant(milliseconds: start + 42_000_000)))
    return messages
  }
}

/// A snapshot with changes, and checksums that hide them.
struct Mutant {
  private var bytes: [UInt8]
  private var header: SnapshotHeader

  init(_ base: Base) {
    bytes = base.bytes
    header = base.header
  }

  /// - Parameter change: what and where, 0...63 content and more a size; a place of 24 bits; four
  ///   bytes to put there.
  mutating func change(by change: [UInt8]) {
    let part = Int(change[0] & 31) % header.sections.count
    let section = header.sections[part]
    let place = Int(change[1]) | Int(change[2]) << 8 | Int(change[3]) << 16
    let number = UInt32(change[4]) | UInt32(change[5]) << 8 | UInt32(change[6]) << 16
    switch change[0] >> 5 {
    case 0: header.sections[part].elementCount = Int(number)
    case 1: header.sections[part].byteCount = Int(number)
    case 2:
      // A count and the size that goes with it.
      let count = section.elementCount + Int(Int8(bitPattern: change[4]))
      guard count >= 0, let paging = section.part.paging else { return }
      header.sections[part].elementCount = count
      header.sections[part].byteCount =
        (count + paging.elementCount - 1) / paging.elementCount * paging.byteCount
    default:
      let end = min(section.offset + Self.usedBytes(section), bytes.count)
      guard section.offset < end else { return }
      let size = [1, 2, 4, 3][Int(change[7] & 3)]
      let start = section.offset + place % (end - section.offset)
      for offset in 0..<size where start + offset < end {
        bytes[start + offset] = change[4 + offset]
      }
    }
  }

  /// Where there is something: the rest of a page is of no meaning.
  private static func usedBytes(_ section: SnapshotSection) -> Int {
    guard let paging = section.part.paging, section.elementCount <= paging.elementCount else {
      return section.byteCount
    }
    let header = PageStore.headerSize
    let stride = (paging.byteCount - header) / paging.elementCount
    return min(section.byteCount, header + section.elementCount * stride)
  }

  /// The file, each section with the checksum of what is in it.
  var sealed: [UInt8] {
    var header = header
    for place in header.sections.indices {
      let section = header.sections[place]
      guard section.byteCount <= bytes.count, section.range.upperBound <= bytes.count else {
        continue
      }
      let sums = (0..<section.blockCount).map { checksum(Array(bytes[section.block($0)])) }
      header.sections[place].checksum = SnapshotSection.sum(sums)
    }
    return header.bytes + bytes[SnapshotHeader.byteCount...]
  }
}
