import Foundation
import Glibc
import PushFanout
import PushFiles
import PushModel
import Synchronization

/// A folder that is gone when the program is.
enum TemporaryFolder {
  static let path: String = {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "fanout-bench-\(getpid())")
    must { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    atexit { try? FileManager.default.removeItem(atPath: TemporaryFolder.path) }
    return url.path
  }()
}

/// A world in files: one record a user, with and without a device, one a member of its only group, and
/// messages to that.
struct WorldFiles: Sendable {
  let world: BenchWorld
  /// The same users in 500 groups, whose members' records alternate and have a start of membership.
  private let scattered: BenchWorld
  let messages: [Message]

  let app = path("app.ndjson")
  let usersNDJSON = path("users.ndjson")
  let devicesNDJSON = path("users-device.ndjson")
  let membersNDJSON = path("members.ndjson")
  let scatteredNDJSON = path("members-scattered.ndjson")
  let messagesNDJSON = path("messages.ndjson")
  let usersCSV = path("users.csv")
  let membersCSV = path("members.csv")
  let scatteredCSV = path("members-scattered.csv")
  let messagesCSV = path("messages.csv")
  /// Users of whom no two have the same quiet hours, and those of open rules, who have keywords, levels
  /// of classes, roles and windows of their own.
  let windowsCSV = path("users-windows.csv")
  let openNDJSON = path("users-open.ndjson")

  private static func path(_ name: String) -> String { "\(TemporaryFolder.path)/\(name)" }

  init(records: Int, hasMessages: Bool = true) {
    var world = BenchWorld(userCount: records)
    world.addGroup("g", size: records, seed: 1)
    self.world = world
    var scattered = BenchWorld(userCount: records)
    let groups = min(500, records)
    for number in 0..<groups {
      // Two records of each user in a row.
      let members = stride(from: number, to: records, by: groups).map { UInt32($0 / 2) }
      scattered.addGroup(Identifier("c\(number)"), members: members)
    }
    self.scattered = scattered
    let group = world.groups[0]
    messages = (0..<(hasMessages ? records : 0)).map { number in
      let kind = MessageKind.allCases[number % 4]
      let message = kind.message(to: group, at: BenchWorld.start + Int64(number) * 1000)
      var numbered = Message(
        id: Identifier("m\(number)"), conversation: message.conversation, at: message.at,
        sender: message.sender)
      // What was not said stays unsaid: CSV has a cell for it, NDJSON no field.
      numbered.mentions = message.mentions
      numbered.mentionsAll = message.mentionsAll
      numbered.force = message.force
      return numbered
    }
    writeSettings()
    writeUsersOfTheirOwn()
    writeMessages()
  }

  private func writeSettings() {
    write(["{\"kind\":\"app\",\"rules\":\"easemob\",\"timeZone\":\"UTC\"}"], to: app)
    let users = (0..<world.userCount).map { (BenchWorld.userID($0).text, BenchWorld.settings($0)) }
    write(users.map { Self.userLine($0, $1) + "}" }, to: usersNDJSON)
    write(users.map { Self.userLine($0, $1) + Self.device + "}" }, to: devicesNDJSON)
    write(
      ["id,level,quietStart,quietEnd,timeZone,mutedUntil"]
        + users.map { id, user in
          let window = Self.window(user)
          return "\(id),\(Self.name(user.level) ?? ""),\(window?.start ?? ""),"
            + "\(window?.end ?? ""),\(user.timeZone ?? ""),\(Self.mute(user).map(String.init) ?? "")"
        }, to: usersCSV)
    let members = (0..<world.userCount).map {
      (BenchWorld.userID($0).text, Self.name(BenchWorld.level($0)))
    }
    write(members.map { Self.memberLine("g", $0, $1) + "}" }, to: membersNDJSON)
    write(
      ["conversation,user,level"] + members.map { "g,\($0),\($1 ?? "")" }, to: membersCSV)
    let since = BenchWorld.start - 86_400_000
    let rows = (0..<world.userCount).map { number in
      (scattered.groups[number % scattered.groups.count].id.text, members[number / 2])
    }
    write(
      rows.map { Self.memberLine($0, $1.0, $1.1) + ",\"since\":\(since)}" }, to: scatteredNDJSON)
    write(
      ["conversation,user,level,since"] + rows.map { "\($0),\($1.0),\($1.1 ?? ""),\(since)" },
      to: scatteredCSV)
  }

  private func writeUsersOfTheirOwn() {
    let windows = (0..<world.userCount).map { (BenchWorld.userID($0), Self.userOfWindows($0)) }
    write(
      ["id,quietStart,quietEnd"]
        + windows.map { id, user in
          let window = Self.window(user)
          return "\(id),\(window?.start ?? ""),\(window?.end ?? "")"
        }, to: windowsCSV)
    let lines =
      [SettingsEncoder.app(AppSettings(rules: .open))]
      + (0..<world.userCount).map {
        SettingsEncoder.user(BenchWorld.userID($0), Self.userOfOpenRules($0), .open)
      }
    write(lines.map { String(decoding: $0.dropLast(), as: UTF8.self) }, to: openNDJSON)
  }

  private static func userOfWindows(_ number: Int) -> UserSettings {
    let (start, span) = (number % 1440, 1 + number / 1440 % 1439)
    let end = (start + span) % 1440
    var user = UserSettings()
    user.quietHours =
      (try? QuietInterval(
        startHour: start / 60, startMinute: start % 60, endHour: end / 60, endMinute: end % 60))
      .map { .interval($0) }
    return user
  }

  private static func userOfOpenRules(_ number: Int) -> UserSettings {
    var user = UserSettings()
    if number % 3 == 0 { user.level = NotificationLevel([.mentionsMe, .reply, .keyword]) }
    if number % 2 == 0 { user.keywords = ["release \(number % 700)", "incident"] }
    if number % 5 == 0 { user.blockedSenders = [BenchWorld.userID(number / 2)] }
    if number % 4 == 0 {
      let window = try? QuietWindows.Window(
        days: 0x1F, start: "\(18 + number % 6):\(number / 6 % 60)", end: "7:30", allow: .direct)
      user.quietHours = window.flatMap { try? QuietWindows([$0]) }.map { .windows($0) }
    }
    return user
  }

  private func writeMessages() {
    write(
      messages.map { message in
        "{\"id\":\"\(message.id.text)\",\"conversation\":\"g\",\"at\":\(message.at.milliseconds)"
          + ",\"sender\":\"u\(BenchWorld.sender)\""
          + (message.mentions.map { ",\"mentions\":[\(Self.quoted($0))]" } ?? "")
          + (message.mentionsAll.map { ",\"mentionsAll\":\($0)" } ?? "")
          + (message.force.map { ",\"force\":\($0)" } ?? "") + "}"
      }, to: messagesNDJSON)
    write(
      ["id,conversation,at,sender,mentions,mentionsAll,force"]
        + messages.map { message in
          let mentions = (message.mentions ?? []).map(\.text).joined(separator: ";")
          return
            "\(message.id.text),g,\(message.at.milliseconds),u\(BenchWorld.sender),\(mentions),"
            + "\(message.mentionsAll.map(String.init) ?? ""),"
            + "\(message.force.map(String.init) ?? "")"
        }, to: messagesCSV)
  }

  private func write(_ lines: [String], to path: String) {
    must {
      try (lines.joined(separator: "\n") + "\n").write(
        toFile: path, atomically: false, encoding: .utf8)
    }
  }

  private static let device =
    ",\"devices\":[{\"id\":\"p1\",\"type\":\"mobile\",\"state\":\"offline\",\"token\":true}]"

  /// Without its end.
  private static func userLine(_ id: String, _ user: UserSettings) -> String {
    "{\"kind\":\"user\",\"id\":\"\(id)\""
      + (name(user.level).map { ",\"level\":\"\($0)\"" } ?? "")
      + (window(user).map { ",\"quietHours\":{\"start\":\"\($0.start)\",\"end\":\"\($0.end)\"}" }
        ?? "")
      + (user.timeZone.map { ",\"timeZone\":\"\($0)\"" } ?? "")
      + (mute(user).map { ",\"mutedUntil\":\($0)" } ?? "")
  }

  /// Without its end.
  private static func memberLine(_ group: String, _ id: String, _ level: String?) -> String {
    "{\"kind\":\"member\",\"conversation\":\"\(group)\",\"user\":\"\(id)\""
      + (level.map { ",\"level\":\"\($0)\"" } ?? "")
  }

  private static func quoted(_ ids: [Identifier]) -> String {
    ids.map { "\"\($0.text)\"" }.joined(separator: ",")
  }

  private static func name(_ level: NotificationLevel) -> String? {
    switch level {
    case .all: "all"
    case .mention: "mention"
    case .blocked: "none"
    default: nil
    }
  }

  private static func window(_ user: UserSettings) -> (start: String, end: String)? {
    guard case .interval(let interval) = user.quietHours else { return nil }
    func text(_ minute: Int32) -> String { String(format: "%02d:%02d", minute / 60, minute % 60) }
    return (text(interval.startMinute), text(interval.endMinute))
  }

  private static func mute(_ user: UserSettings) -> Int64? {
    user.mutedUntil.milliseconds > 0 ? user.mutedUntil.milliseconds : nil
  }

  // MARK: Reading

  static func load(_ paths: SettingsPaths) -> Fanout {
    must { try SettingsLoader.loadFanout(paths, threads: 1) }
  }

  static func messages(_ path: String) -> [Message] {
    must {
      let reader = try MessageReader(path: path, rules: .easemob)
      var messages: [Message] = []
      while let message = try reader.next() { messages.append(message) }
      return messages
    }
  }

  static func countMessages(_ path: String) -> Int {
    must {
      let reader = try MessageReader(path: path, rules: .easemob)
      while try reader.next() != nil {}
      return reader.recordCount
    }
  }

  /// Whether the files say what the world says.
  func check() {
    for (world, paths) in [
      (world, SettingsPaths(settings: [app, usersNDJSON, membersNDJSON])),
      (world, SettingsPaths(settings: [app], users: [usersCSV], members: [membersCSV])),
      (scattered, SettingsPaths(settings: [app, devicesNDJSON, scatteredNDJSON])),
      (scattered, SettingsPaths(settings: [app], users: [usersCSV], members: [scatteredCSV])),
    ] {
      let message = MessageKind.plain.message(to: world.groups[0], at: BenchWorld.start)
      Referee.check(Self.load(paths), world, group: 0, message)
    }
    for (paths, user) in [
      (SettingsPaths(settings: [app], users: [windowsCSV]), Self.userOfWindows),
      (SettingsPaths(settings: [openNDJSON]), Self.userOfOpenRules),
    ] {
      let read = must { try SettingsLoader.load(paths) }
      let found = (0..<world.userCount).map { read.user(BenchWorld.userID($0)) }
      require(
        found == (0..<world.userCount).map(user),
        "\(paths.users + paths.settings): other users are read")
    }
  }
}
