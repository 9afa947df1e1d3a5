import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: the engine, the order of its users and every problem are the same whatever the number of
/// threads that parse, and wherever the files are cut.
@Suite struct PieceTests {
  /// Where loading in pieces differs from loading each file as one piece on one thread.
  private func differences(
    _ paths: SettingsPaths, sizes: some Sequence<Int>, threads: [Int] = [1, 3]
  ) -> [String] {
    let whole = 1 << 24
    let expected = SettingsLoader.check(paths, LoadOptions(threads: 1, pieceSize: whole))
    let (expectedEngine, expectedProblem) = load(paths, threads: 1, size: whole)
    var found: [String] = []
    for size in sizes {
      for threads in threads {
        let checked = SettingsLoader.check(paths, LoadOptions(threads: threads, pieceSize: size))
        let (engine, problem) = load(paths, threads: threads, size: size)
        let place = "pieces of \(size), \(threads) threads: "
        if checked.problems != expected.problems {
          found.append(place + "\(checked.problems), not \(expected.problems)")
        }
        if checked.records != expected.records {
          found.append(place + "\(checked.records) records, not \(expected.records)")
        }
        if problem != expectedProblem { found.append(place + "\(problem), not \(expectedProblem)") }
        if let engine, let difference = expectedEngine?.difference(from: engine) {
          found.append(place + difference)
        }
      }
    }
    return found
  }

  private func load(
    _ paths: SettingsPaths, threads: Int, size: Int
  ) -> (fanout: Fanout?, problem: String) {
    do {
      return (
        try SettingsLoader.loadFanout(paths, threads: threads, LoadOptions(pieceSize: size)),
        "loaded"
      )
    } catch {
      return (nil, "\(error)")
    }
  }

  /// Files in memory.
  private func paths(
    settings: String? = nil, users: String? = nil, members: String? = nil
  ) -> SettingsPaths {
    var paths = SettingsPaths()
    if let settings {
      paths.settings = ["s.ndjson"]
      paths.contents["s.ndjson"] = Array(settings.utf8)
    }
    if let users {
      paths.users = ["u.csv"]
      paths.contents["u.csv"] = Array(users.utf8)
    }
    if let members {
      paths.members = ["m.csv"]
      paths.contents["m.csv"] = Array(members.utf8)
    }
    return paths
  }

  private static let settings = """
    {"kind":"member","conversation":"g1","user":"u9","level":"none"}
    {"kind":"app","timeZone":"Asia/Tokyo"}

    {"kind":"user","id":"u2","level":"mention","mutedUntil":5}
    {"kind":"conversation","id":"t1","type":"thread","parent":"g1"}
    {"kind":"member","conversation":"t1","user":"u9","mutedUntil":7}
    {"kind":"member","conversation":"g1","user":"u9","level":"all","nickname":"nine"}
    {"kind":"member","conversation":"g1","user":"u9","since":3}
    {"kind":"user","id":"u2","quietHours":{"start":"22:00","end":"7:00"}}

    """
  private static let users = """
    id,level,quietStart,quietEnd,timeZone
    u3,none,22:00,7:00,Europe/Berlin
    ü4,,,,
    u2,all,,,
    u3,,,,Asia/Seoul

    """
  private static let members = """
    conversation,user,level,mutedUntil,since
    g1,u3,none,5,
    g1,u1,,,
    g2,ü4,mention,,7
    g2,u1,,,0
    g1,u3,,,
    t1,u1,none,,
    a-conversation-with-a-long-name,a-user-with-a-long-name,AT,2024-06-03T08:00:00Z,

    """

  @Test func cutsAtEveryLineGiveTheSameWorld() {
    let world = paths(settings: Self.settings, users: Self.users, members: Self.members)
    #expect(load(world, threads: 1, size: 1 << 20).problem == "loaded")
    #expect(differences(world, sizes: 1...Self.settings.utf8.count) == [])
  }

  @Test func quotesAndLineEndsGiveTheSameWorld() {
    let quoted = """
      conversation,user,level
      g1,u1,
      "g1","u2
      ","none"
      g1,u3,

      g1,"u""4",all

      g1,u5,
      g1,u6,

      """
    let texts = [
      quoted, quoted.replacing("\n", with: "\r\n"), "\u{FEFF}" + quoted,
      "\u{FEFF}" + Self.members.replacing("\n", with: "\r\n"), String(Self.members.dropLast()),
      Self.members.replacing("\n", with: "\n\n\r\n"), "\"conversation\",\"user\"\ng1,u1\ng1,u2",
      "conversation,user\r\ng1,u1\r\ng1,u2\r", "conversation,user\n", "conversation,user",
      "\n\nconversation,user\ng1,u1\n\n", "", "\n", "\r", "\u{FEFF}",
    ]
    let world = texts.map { paths(settings: Self.settings, members: $0) }
    #expect(zip(texts, world).flatMap { differences($1, sizes: 1...($0.utf8.count + 1)) } == [])
    let first = world.prefix(6).map { load($0, threads: 3, size: 20).problem }
    #expect(first == Array(repeating: "loaded", count: 6))
  }

  @Test func aDefectIsReportedAtItsLine() {
    let files: [(name: String, text: String, defects: [String])] = [
      (
        "s.ndjson", Self.settings,
        [
          "nonsense", #"{"kind":"user"}"#, #"{"kind":"app"}{"#, "[]", #"{"kind":"user","id":5}"#,
          #"{"kind":"member","conversation":"g1","user":"u1","level":"some"}"#,
          #"{"kind":"conversation","id":"g7","type":"ultraGroup"}"#,
        ]
      ),
      ("u.csv", Self.users, ["u5", "u5,some,,,", "u5,,,,Nowhere", "u\"5,,,,", ",,,,", "a\rb,,,,"]),
      (
        "m.csv", Self.members,
        ["g1,u1", ",u1,,,", "g1,,,,", "g1,u1,3x,,", "g1,u1,,soon,", "g1,u1,,,,", "\"g1\"x,,,,"]
      ),
    ]
    var wrong: [String] = []
    for file in files {
      let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
      let firstLine = file.name == "s.ndjson" ? 0 : 1
      for (index, defect) in file.defects.enumerated() {
        for line in firstLine..<lines.count {
          var text = lines
          text.insert(Substring(defect), at: line)
          var world = paths(settings: Self.settings, users: Self.users, members: Self.members)
          world.contents[file.name] = Array(text.joined(separator: "\n").utf8)
          let problem = load(world, threads: 3, size: 50).problem
          let place = "\(file.name):\(line + 1): "
          if !problem.hasPrefix(place) { wrong.append("\(place)\(defect) gives \(problem)") }
          wrong += differences(world, sizes: [1, 30 + index * 7, 150])
        }
      }
    }
    #expect(wrong == [])
  }

  @Test func bytesThatAreNotUTF8AreReportedAtTheirLine() {
    var world = paths(members: Self.members)
    world.contents["m.csv"]?.append(contentsOf: [0x67, 0x2C, 0xFF, 0x2C, 0x2C, 0x2C, 0x0A])
    #expect(load(world, threads: 3, size: 50).problem == "m.csv:9: the line is not UTF-8")
    #expect(differences(world, sizes: 1...60) == [])
  }

  @Test func anAppBehindTheRecordsJudgesThem() {
    let records = (0..<40).map {
      #"{"kind":"member","conversation":"g\#($0 % 3)","user":"u\#($0)","mutedUntil":\#($0 % 7 + 1)}"#
    }
    for app in [#"{"kind":"app"}"#, #"{"kind":"app","rules":"rongcloud"}"#] {
      for line in [0, 1, 20, 39, 40] {
        var lines = records
        lines.insert(app, at: line)
        let world = paths(settings: lines.joined(separator: "\n"))
        let found = differences(world, sizes: [1, 100, 500, 1500])
        #expect(found == [], "\(app) at \(line)")
      }
    }
  }

  @Test(arguments: ["fcc-2016-03-03", "qa-2021-05-19"])
  func recordedWorldsAreTheSame(name: String) {
    let data = Repository.root.appending(path: "data")
    let file = { (kind: String) in [data.appending(path: "\(name).\(kind).csv.gz").path] }
    let world = SettingsPaths(users: file("users"), members: file("members"))
    #expect(load(world, threads: 1, size: 1 << 20).problem == "loaded")
    #expect(differences(world, sizes: [3000, 40_000], threads: [1, 4]) == [])
  }

  @Test func damagedGzipIsReportedAtTheSameLine() throws {
    let file = Repository.root.appending(path: "data/fcc-2016-03-03.members.csv.gz")
    var world = SettingsPaths(members: ["m.csv.gz"])
    let bytes = Array(try Data(contentsOf: file))
    var wrong: [String] = []
    for share in [0.0, 0.3, 0.7, 0.999] {
      world.contents["m.csv.gz"] = Array(bytes[..<Int(Double(bytes.count) * share)])
      wrong += differences(world, sizes: [3000, 40_000], threads: [1, 4])
    }
    #expect(wrong == [])
  }

  /// Rows of users.csv that repeat what others say are understood as those that are read one by one,
  /// because their ids do not come first; also if another file has its columns in another order.
  @Test(arguments: [UInt64(1), 2, 3])
  func repeatedRowsEqualOthers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let headers = [
      "id,level,timeZone,quietStart,quietEnd,mutedUntil",
      "id,level,timeZone,quietEnd,quietStart,mutedUntil",
      "level,id,timeZone,quietStart,quietEnd,mutedUntil",
    ]
    let apps = [nil, #"{"kind":"app"}"#, #"{"kind":"app","rules":"rongcloud"}"#]
    // Times that change columns mean other quiet hours.
    let rows = [
      ",,,,", "none,,,,", ",Asia/Tokyo,22:00,7:00,", ",,22:00,7:00,", ",,7:00,22:00,",
      "none,Asia/Tokyo,22:00,07:00,", ",,,,5", "all,,7:0,22:0,", "none,Nowhere,,,", ",,22:00,,",
      ",America/Argentina/ComodRivadavia,022:00,07:00,5",
    ]
    var loaded = 0
    for _ in 0..<120 {
      // Mostly without rows that cannot be read.
      let usable = Bool.random(using: &random) ? rows[...] : rows[..<7]
      let files = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        let header = headers.randomElement(using: &random) ?? ""
        let lines = (0..<Int.random(in: 1...30, using: &random)).map { _ in
          let row = usable.randomElement(using: &random) ?? ""
          let id = Int.random(in: 0...499, using: &random) > 0 ? "u\(random.next() % 50)" : ""
          return header.hasPrefix("id")
            ? "\(id),\(row)" : row.replacing(",", with: ",\(id),", maxReplacements: 1)
        }
        return [header] + lines
      }
      let app = apps.randomElement(using: &random) ?? nil
      let world = { (cells: ([Substring]) -> [String]) in
        var paths = paths(settings: app)
        for (index, file) in files.enumerated() {
          let text = file.map { line in
            cells(line.split(separator: ",", omittingEmptySubsequences: false))
              .joined(separator: ",")
          }.joined(separator: "\n")
          paths.users.append("u\(index).csv")
          paths.contents["u\(index).csv"] = Array(text.utf8)
        }
        return paths
      }
      let plain = world { $0.map { String($0) } }
      let quoted = world { $0.map { "\"\($0)\"" } }
      let turned = world { ($0.dropFirst(2) + $0.prefix(2)).map { String($0) } }
      let expected = SettingsLoader.check(turned, LoadOptions(threads: 1, pieceSize: 1 << 20))
      let other = load(turned, threads: 1, size: 1 << 20)
      if other.fanout != nil { loaded += 1 }
      for (world, size) in [(plain, 100), (plain, 1 << 20), (quoted, 100), (quoted, 1 << 20)] {
        let found = SettingsLoader.check(world, LoadOptions(threads: 2, pieceSize: size))
        #expect(found.problems == expected.problems, "seed \(seed): \(files)")
        #expect(found.records == expected.records, "seed \(seed): \(files)")
        let (engine, problem) = load(world, threads: 2, size: size)
        #expect(problem == other.problem, "seed \(seed): \(files)")
        if let engine {
          #expect(other.fanout?.difference(from: engine) == nil, "seed \(seed): \(files)")
        }
      }
    }
    #expect(loaded > 20)
  }

  /// The same of members.csv, with ids in either order.
  @Test(arguments: [nil, #"{"kind":"app"}"#, #"{"kind":"app","rules":"rongcloud"}"#])
  func repeatedMembersEqualOthers(app: String?) {
    let headers = [
      "conversation,user,level,mutedUntil,since", "user,conversation,level,since,mutedUntil",
      "conversation,level,user,mutedUntil,since",
    ]
    let rests = [
      ",,", "none,,", "mention,5,7", "mention,7,5", "none,1767571200793,", "", "4,,", "a,b,c",
    ]
    for count in 1...headers.count {
      let world = { (quote: String, first: Int) in
        var paths = paths(settings: app)
        for (index, header) in headers.prefix(count).enumerated() {
          let kinds = index == 2 ? 8 : 5
          let rows = (0..<60).map { "a\($0 % 5),b\($0 % 7),\(rests[$0 * 11 % kinds])" }
          let lines = ([header] + rows).map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            return (cells.dropFirst(first) + cells.prefix(first)).map { quote + $0 + quote }
              .joined(separator: ",")
          }
          paths.members.append("m\(index).csv")
          paths.contents["m\(index).csv"] = Array(lines.joined(separator: "\n").utf8)
        }
        return paths
      }
      // Read one by one, because the ids do not come first.
      let expected = SettingsLoader.check(world("", 2), LoadOptions(threads: 1, pieceSize: 1 << 20))
      let other = load(world("", 2), threads: 1, size: 1 << 20)
      for quote in ["", "\""] {
        let found = SettingsLoader.check(world(quote, 0), LoadOptions(threads: 1, pieceSize: 200))
        #expect(found.problems == expected.problems && found.records == expected.records)
        let (engine, problem) = load(world(quote, 0), threads: 1, size: 200)
        #expect(problem == other.problem)
        #expect((engine != nil) == (count < 3 && app?.contains("rongcloud") != true))
        if let engine { #expect(other.fanout?.difference(from: engine) == nil) }
      }
    }
  }

  @Test func whatPushesSayIsThatOfTheLastRecord() throws {
    let member = #"{"kind":"member","conversation":"g1","user":"u1""#
    let lines = [
      #"{"kind":"conversation","id":"g1","name":"one"}"#, member + #","nickname":"a"}"#,
      member + "}",
      #"{"kind":"user","id":"u1","display":{"name":"U"}}"#, #"{"kind":"user","id":"u1"}"#,
      member + #","nickname":"b"}"#,
    ]
    for (pieceSize, threads) in [(1, 1), (1, 3), (1 << 20, 3)] {
      let found = try (1...lines.count).map { count -> [String?] in
        let text = lines[..<count].joined(separator: "\n")
        var builder = FanoutBuilder(threads: threads)
        let content = try SettingsLoader.load(
          paths(settings: text), into: &builder,
          LoadOptions(readsContent: true, pieceSize: pieceSize)
        ).content
        return [
          content.name(of: "g1"), content.nickname(of: "u1", in: "g1"), content.user("u1").name,
        ]
      }
      #expect(
        found == [
          ["one", nil, nil], ["one", "a", nil], ["one", nil, nil], ["one", nil, "U"],
          ["one", nil, nil], ["one", "b", nil],
        ])
    }
  }

  /// What one rule set lacks is told at its first line, or at each, when the rules come last; it
  /// counts when they have it.
  @Test(arguments: RuleSet.vendors) func rulesThatComeLast(rules: RuleSet) {
    let lines =
      (1...9).map { #"{"kind":"user","id":"u\#($0)","level":"none"}"# }
      + (1...9).map { #"{"kind":"member","conversation":"g","user":"u\#($0)","mutedUntil":5}"# }
    let app = #"{"kind":"app","rules":"\#(rules.rawValue)"}"#
    let paths = paths(settings: (lines + [app]).joined(separator: "\n"))
    for size in [10, 200, 1 << 20] {
      let (fanout, problem) = load(paths, threads: 2, size: size)
      let checked = SettingsLoader.check(paths, LoadOptions(threads: 2, pieceSize: size)).problems
      switch rules {
      case .easemob:
        #expect(checked == [])
        #expect(fanout?.user("u9")?.level == .blocked)
        #expect(fanout?.member("u9", of: "g")?.mutedUntil == Instant(milliseconds: 5))
      case .rongcloud, .open:
        #expect(checked.map(\.line) == Array(1...18))
        #expect(
          problem.hasPrefix("s.ndjson:1: a user's \"level\" belongs to easemob"), "\(problem)")
      }
    }
  }
}
