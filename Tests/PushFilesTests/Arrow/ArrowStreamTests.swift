import PushContent
import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: the rows of Arrow streams are read as lines of NDJSON with the same values are: the
/// engine, the order of its users and every problem are the same, whatever the types of the
/// columns, the batches, the pieces, and the number of threads.
@Suite struct ArrowStreamTests {
  typealias Fields = [(name: String, form: Form)]

  private struct Table {
    var fields: Fields
    var rows: ArrowFixture.Rows

    /// The rows as a file, with ids as texts.
    func ndjson(_ kind: String) -> [UInt8] {
      rows.reduce(into: []) { text, row in
        let cells = zip(fields, row).filter { !$1.isNull }.map { field, cell in
          if case .number(let id) = cell, ["id", "user", "conversation"].contains(field.name) {
            return ",\(quoted(field.name)):\"\(id)\""
          }
          return ",\(quoted(field.name)):\(cell.json)"
        }
        text += Array("{\"kind\":\"\(kind)\"\(cells.joined())}\n".utf8)
      }
    }

    /// The same with the numbers of a column as texts.
    func withTexts(_ name: String) -> Table {
      var table = self
      guard let column = fields.firstIndex(where: { $0.name == name }) else { return table }
      table.fields[column].form = .utf8
      for row in rows.indices {
        if case .number(let id) = rows[row][column] { table.rows[row][column] = .text("\(id)") }
      }
      return table
    }
  }

  // MARK: Loading

  private func load(
    _ paths: SettingsPaths, threads: Int = 1, size: Int = 1 << 18
  ) -> (fanout: Fanout?, outcome: String) {
    do {
      var builder = FanoutBuilder(threads: threads)
      let options = LoadOptions(readsContent: true, pieceSize: size)
      let count = try SettingsLoader.load(paths, into: &builder, options).content.count
      return (try builder.build(threads: threads), "loaded with \(count) displays")
    } catch { return (nil, "\(error)") }
  }

  /// Where loading streams differs from loading the same as files.
  private func differences(
    _ settings: String, _ users: Table, _ members: Table, batchSize: Int, offset: Int = 0,
    sizes: [Int] = [1, 100, 1 << 18], threads: [Int] = [1, 3]
  ) throws -> [String] {
    var paths = SettingsPaths(Array(settings.utf8))
    paths.settings += ["users", "members"]
    paths.contents["users"] = users.ndjson("user")
    paths.contents["members"] = members.ndjson("member")
    let (expected, outcome) = load(paths)
    var found: [String] = []
    for size in sizes {
      for threads in threads {
        let fixtures = [users, members].map { table in
          ArrowFixture(
            table.fields,
            stride(from: 0, to: table.rows.count, by: batchSize).map {
              Array(table.rows[$0..<min($0 + batchSize, table.rows.count)])
            }, offset: offset)
        }
        paths.streams["users"] = try fixtures[0].stream(of: .users)
        paths.streams["members"] = try fixtures[1].stream(of: .members)
        let place = "pieces of \(size), \(threads) threads: "
        let (fanout, streamOutcome) = load(paths, threads: threads, size: size)
        if streamOutcome != outcome { found.append(place + "\(streamOutcome), not \(outcome)") }
        if let fanout, let difference = expected?.difference(from: fanout) {
          found.append(place + difference)
        }
        let unreleased = fixtures.map(\.unreleased)
        if unreleased != [0, 0] { found.append(place + "\(unreleased) batches are not released") }
      }
    }
    return found
  }

  // MARK: Random tables

  private static let textForms: [Form] = [
    .utf8, .large, .views, .dictionary(indices: "s", .utf8), .dictionary(indices: "I", .views),
  ]
  private static let instantForms: [Form] = [
    .integer("l"), .timestamp("tsm:UTC"), .timestamp("tsu:UTC"), .timestamp("tsn:Z"),
    .timestamp("tss:Asia/Tokyo"),
  ]

  /// - Parameter wrong: how many of a hundred values are wrong.
  private func users(
    _ random: inout SeededGenerator, _ ids: [Cell], idForm: Form, wrong: Int, isEasemob: Bool
  ) -> Table {
    let text = Self.textForms
    var fields: Fields = [
      ("id", idForm), ("timeZone", random.pick(text)),
      ("devices", .list(.object([("id", random.pick(text))]), isLarge: random.chance(50))),
      ("display", .object([("name", random.pick(text))])), ("comment", .null),
    ]
    if isEasemob {
      fields += [
        ("level", random.pick(text)), ("mutedUntil", random.pick(Self.instantForms)),
        (
          "quietHours",
          .object([("end", random.pick(text)), ("start", random.pick(text)), ("level", .utf8)])
        ),
      ]
    } else {
      fields.append(("pushWhenDesktopOnline", .flag))
    }
    fields.shuffle(using: &random)
    let rows = ids.map { id in
      fields.map { field -> Cell in
        let isWrong = random.chance(wrong)
        switch field.name {
        case "id": return isWrong ? .null : id
        case "level":
          let wrong = ["", "loud", "mentionAll"]
          return maybe(isWrong ? wrong : ["all", "none", "mention", "AT"], &random)
        case "timeZone":
          return maybe(isWrong ? ["", "Nowhere"] : ["Asia/Tokyo", "America/Los_Angeles"], &random)
        case "mutedUntil": return isWrong ? .number(-5000) : number(&random)
        case "quietHours":
          if random.chance(60) { return .null }
          let times = ["22:00", "07:30", "7:00"] + (isWrong ? ["", "25:00", "24:00"] : [])
          var fields: [String: Cell] = [
            "start": .text(random.pick(times)), "end": .text(random.pick(times)),
          ]
          if isWrong, random.chance(30) { fields["level"] = .text("none") }
          if isWrong, random.chance(30) { fields["end"] = nil }
          return .object(fields)
        case "devices":
          if random.chance(80) { return .null }
          return .list([.object(["id": .text("d\(Int.random(in: 0..<9, using: &random))")])])
        case "display": return random.chance(90) ? .null : .object(["name": .text("Ann \"A\"")])
        case "pushWhenDesktopOnline": return random.chance(80) ? .null : .flag(random.chance(50))
        default: return .null
        }
      }
    }
    return Table(fields: fields, rows: rows)
  }

  private func members(
    _ random: inout SeededGenerator, _ users: [Cell], _ conversations: [Cell],
    idForms: (Form, Form),
    wrong: Int, isEasemob: Bool, count: Int
  ) -> Table {
    let levels: Form = isEasemob ? random.pick(Self.textForms) : .integer(random.pick(["c", "l"]))
    var fields: Fields = [
      ("conversation", idForms.0), ("user", idForms.1), ("level", levels),
      ("since", random.pick(Self.instantForms)),
    ]
    if isEasemob {
      fields += [("mutedUntil", random.pick(Self.instantForms)), ("nickname", .utf8)]
    }
    fields.shuffle(using: &random)
    var conversation = Cell.null
    let rows = (0..<count).map { _ in
      if conversation.isNull || random.chance(20) { conversation = random.pick(conversations) }
      return fields.map { field -> Cell in
        let isWrong = random.chance(wrong)
        switch field.name {
        case "conversation": return isWrong ? .null : conversation
        case "user": return isWrong ? .null : random.pick(users)
        case "level":
          if random.chance(50) { return .null }
          if !isEasemob { return .number(isWrong ? 3 : random.pick([-1, 0, 1, 2, 4, 5])) }
          return maybe(isWrong ? ["x", ""] : ["all", "none", "mention", "default"], &random)
        case "since", "mutedUntil": return isWrong ? .number(-1000) : number(&random)
        case "nickname": return random.chance(98) ? .null : .text("Nick")
        default: return .null
        }
      }
    }
    return Table(fields: fields, rows: rows)
  }

  private func maybe(_ texts: [String], _ random: inout SeededGenerator) -> Cell {
    random.chance(50) ? .null : .text(random.pick(texts))
  }

  private func number(_ random: inout SeededGenerator) -> Cell {
    random.chance(70) ? .null : .number(Int64.random(in: 0...2_000_000_000, using: &random) * 1000)
  }

  private static let oddIDs = [
    "a", "exactly-12-c", "thirteen-char", "ünïcödé", "a \"quoted\" id", "back\\slash",
    "a-long-id-of-more-than-sixteen-characters", "群组成员", "7", "-7", "007",
  ]

  private static let app = #"{"kind":"app","timeZone":"Asia/Shanghai"}"# + "\n"
  private static let rongcloud = #"{"kind":"app","rules":"rongcloud"}"# + "\n"
  /// Ids that integers have too, and a thread, whose members are checked in the end.
  private static let before =
    #"{"kind":"user","id":"7","level":"none"}"# + "\n"
    + #"{"kind":"conversation","id":"t","type":"thread","parent":"g1"}"# + "\n"

  @Test(arguments: seeds(Array(1...24)))
  func textsAreReadAsLines(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let isEasemob = seed % 3 != 0
    let wrong = seed % 4 == 0 ? 2 : 0
    let ids = (Self.oddIDs + (0..<40).map { "u\($0)" }).map { Cell.text($0) }
    let rooms = (Self.oddIDs + (0..<9).map { "g\($0)" }).map { Cell.text($0) }
    let users = users(
      &random, ids.shuffled(using: &random), idForm: random.pick(Self.textForms), wrong: wrong,
      isEasemob: isEasemob)
    let members = members(
      &random, ids, rooms, idForms: (random.pick(Self.textForms), random.pick(Self.textForms)),
      wrong: wrong, isEasemob: isEasemob, count: 300)
    let settings = isEasemob ? Self.app + (seed % 2 == 0 ? Self.before : "") : Self.rongcloud
    let found = try differences(
      settings, users, members, batchSize: Int.random(in: 1...400, using: &random),
      offset: Int.random(in: 0...9, using: &random))
    #expect(found == [], "seed \(seed)")
  }

  /// The same users by number, by the text of its digits, and both.
  @Test(arguments: seeds(Array(1...24)))
  func integersAreTheirDigits(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let numbers: [Int64] =
      [0, 7, -7, 9, 10, 99, 100, .max, .min, 1_000_000_007]
      + (0..<40).map { _ in Int64.random(in: 0..<100_000, using: &random) }
    let isNarrow = seed % 4 == 1
    let some = isNarrow ? numbers.filter { (0...99).contains($0) } + Array(0..<30) : numbers
    let form = isNarrow ? Form.integer(random.pick(["c", "C", "S", "i"])) : .integer("l")
    let wrong = seed % 5 == 0 ? 2 : 0
    let ids = some.map { Cell.number($0) }
    var users = users(&random, ids, idForm: form, wrong: wrong, isEasemob: true)
    var members = members(
      &random, ids, ids, idForms: (form, form), wrong: wrong, isEasemob: true, count: 400)
    // One of the tables with texts, or a column of the other.
    if seed % 3 == 0 { users = users.withTexts("id") }
    if seed % 6 == 1 { members = members.withTexts("conversation") }
    if seed % 6 == 2 { members = members.withTexts("user") }
    let found = try differences(
      Self.app + (seed % 2 == 0 ? Self.before : ""), users, members,
      batchSize: Int.random(in: 1...500, using: &random),
      offset: Int.random(in: 0...9, using: &random))
    #expect(found == [], "seed \(seed)")
  }

  /// So many integers that their ids are added on several threads: some are close to each other,
  /// others far apart, and some were texts before.
  @Test func manyIntegers() throws {
    var random = SeededGenerator(seed: 7)
    var numbers = Array(Int64(0)..<9000)
    numbers += (0..<6000).map { _ in Int64.random(in: .min ... .max, using: &random) }
    numbers.shuffle(using: &random)
    let users = Table(fields: [("id", .integer("l"))], rows: numbers.map { [.number($0)] })
    let members = Table(
      fields: [("conversation", .integer("l")), ("user", .integer("l"))],
      rows: (numbers + numbers.shuffled(using: &random)).map { number in
        [.number(random.chance(90) ? number % 10 : number), .number(random.pick(numbers) &+ 1)]
      })
    let texts =
      #"{"kind":"user","id":"17","level":"none"}"# + "\n"
      + #"{"kind":"member","conversation":"5","user":"a"}"# + "\n"
    for settings in [Self.app, Self.app + texts] {
      let found = try differences(
        settings, users, members, batchSize: 10_000, sizes: [1 << 16], threads: [1, 3])
      #expect(found == [])
    }
  }

  /// Integers above all that are signed, whose bits are those of negative ones.
  @Test func unsignedIntegers() throws {
    let fixture = ArrowFixture(
      [("id", .integer("L"))], [[[.number(-1)], [.number(.min)], [.number(5)]]])
    var paths = SettingsPaths()
    paths.settings = ["users"]
    paths.streams["users"] = try fixture.stream(of: .users)
    let fanout = try SettingsLoader.loadFanout(paths, threads: 1)
    let version = fanout.currentVersion
    var ids: [String] = []
    version.forEachUserID(in: 0..<version.userCount) { _, id in
      ids.append(unsafe id.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
    }
    #expect(ids == ["18446744073709551615", "9223372036854775808", "5"])
  }

  // MARK: Streams

  @Test func problemsOfStreams() throws {
    func outcome(_ fields: Fields, _ batches: [ArrowFixture.Rows], failing: Int? = nil) throws
      -> String
    {
      let fixture = ArrowFixture(fields, batches)
      if let failing { fixture.failure = (failing, "the disk is on fire") }
      var paths = SettingsPaths()
      paths.settings = ["users"]
      paths.streams["users"] = try fixture.stream(of: .users)
      let outcome = load(paths).outcome
      #expect(fixture.unreleased == 0)
      return outcome
    }
    let good: ArrowFixture.Rows = [[.text("u1")]]
    #expect(
      try [
        outcome([("id", .utf8)], [good, good], failing: 1),
        // What is wrong with the stream comes first, as its rows are not complete.
        outcome([("id", .utf8)], [[[.null]]], failing: 1),
        outcome([("id", .utf8)], [good, [[.text("u2")], [.null]]]),
        outcome([("id", .utf8), ("id", .utf8)], [[[.text("u1"), .text("u2")]]]),
        outcome([("id", .utf8), ("kind", .utf8)], [[[.text("u1"), .text("user")]]]),
        outcome([("id", .integer("f"))], [[[.number(4 << 24 - 4)], [.number(4 << 24)]]]),
        outcome([("id", .integer("w:4"))], [good]),
        outcome([("id", .utf8), ("level", .integer("l"))], [[[.text("u1"), .number(1)]]]),
        outcome([("id", .utf8), ("mutedUntil", .utf8)], [[[.text("u1"), .text("today")]]]),
        outcome([("id", .utf8)], []), outcome([], [[[]]]),
      ] == [
        "users: the disk is on fire", "users: the disk is on fire",
        "users:3: the field \"id\" is missing", "users:1: the key \"id\" is repeated in one object",
        "users:1: the key \"kind\" is repeated in one object", "users:2: \"id\" must be a string",
        "users.id: a column of the type \"w:4\" cannot be read; it must be text, integers, bool, "
          + "a timestamp, a struct or a list",
        "users:1: the level 1 of \"level\" belongs to rongcloud, but the rules are easemob",
        "users:1: \"mutedUntil\": \"today\" is not an instant; give Unix milliseconds, 0 to "
          + "9007199254740991, or an RFC 3339 time with an offset or Z",
        "loaded with 0 displays", "users:1: the field \"id\" is missing",
      ])
  }
}
