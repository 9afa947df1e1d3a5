import PushModel
import PushWorkload
import TestSupport
import Testing

/// Goal: the same options give the same bytes, on any number of threads and in any version; other
/// seeds give others.
@Suite struct ByteTests {
  static let texts: [(rules: RuleSet, format: WorkloadFormat)] = RuleSet.vendors.flatMap { rules in
    WorkloadFormat.allCases.map { (rules, $0) }
  }
  /// Worlds of open rules have one format.
  static let open: (rules: RuleSet, format: WorkloadFormat) = (.open, .ndjson)

  /// Several pieces of each file. Presence is written under one rule set only, which takes most of the
  /// time: it is the same under any (`presenceIsThatOfAnyRules`).
  @Test(.tags(.slow), .unlessFast, arguments: [texts[0], texts[3], open], WorkloadRates.allCases)
  func threadsDoNotMatter(
    text: (rules: RuleSet, format: WorkloadFormat), rates: WorkloadRates
  ) throws {
    let (rules, format) = text
    var options = WorkloadOptions()
    options.rules = rules
    options.rates = rates
    options.people.changes = 1
    options.traffic.hasText = true
    options.traffic.durationMilliseconds = 40 * 3_600_000
    options.sizes.users = 20_000
    options.sizes.memberships = 40_000
    options.presence.onlineShare = 0.5
    let files = try [1, 2, 7].map { threads in
      let text = WorkloadText(try Workload(options, threads: threads), format)
      let files = text.files.filter { $0 != .presence || rules == .easemob }
      return files.map { bytes($0, of: text, threads: threads) }
    }
    // Not compared by the expectation, which would look for the edits between megabytes.
    let areSame = files.map { $0 == files[0] }
    #expect(areSame == [true, true, true])
  }

  /// Messages and presence that are made together are those that are made one after the other.
  @Test(arguments: WorkloadRates.allCases)
  func eventsTogetherAreTheSame(rates: WorkloadRates) throws {
    for (name, messages) in [("many", 20_000), ("one", 1), ("none", 0)] {
      var options = WorkloadOptions()
      options.rates = rates
      options.sizes.users = 3000
      options.traffic.messages = messages
      options.traffic.durationMilliseconds = 40 * 3_600_000
      let text = WorkloadText(try Workload(options), .csv)
      let apart = [WorkloadText.File.messages, .presence].map { bytes($0, of: text) }
      for threads in [1, 2, 7] {
        let sinks = [Sink(), Sink()]
        text.writeEvents(threads: threads) {
          sinks[0].take($0, $1)
        } presence: {
          sinks[1].take($0, $1)
        }
        #expect(sinks.map { $0.bytes } == apart, "\(name), \(threads) threads")
        #expect(sinks[0].rows == messages, "\(name), \(threads) threads")
      }
    }
  }

  @Test func presenceIsThatOfAnyRules() throws {
    let files = try Self.texts.map { rules, format in
      bytes(.presence, of: WorkloadText(try smallWorld(rules), format))
    }
    #expect(files.map { $0 == files[0] } == [true, true, true, true])
    #expect(files[0].count > 1000)
  }

  @Test(arguments: texts + [open])
  func anotherSeedGivesOtherBytes(rules: RuleSet, format: WorkloadFormat) throws {
    let texts = try [1, 2].map { WorkloadText(try smallWorld(rules, seed: $0), format) }
    let same = texts[0].files.filter { bytes($0, of: texts[0]) == bytes($0, of: texts[1]) }
    // Only the settings of a world whose users are in a file of their own have no draw.
    #expect(same == (texts[0].files.contains(.users) ? [.settings] : []))
  }

  /// A change of these numbers is a breaking change: it goes with a line in CHANGELOG.md.
  @Test(arguments: [
    (
      WorkloadRates.first,
      [
        "easemob csv d3f694e579b40f89", "easemob ndjson 6b98008781cd13c8",
        "rongcloud csv 83f9befbd8dad525", "rongcloud ndjson ee868c9c205b4a6f",
        "open ndjson 5464c07eec3449d0",
      ]
    ),
    (
      WorkloadRates.people,
      [
        "easemob csv ce8f7dfbbd3bf496", "easemob ndjson 87e5564121e39268",
        "rongcloud csv b5b5261234fe4bea", "rongcloud ndjson b840ebd95a962729",
        "open ndjson 45e3579d3fa84516",
      ]
    ),
  ])
  func theBytesAreThoseOfOtherVersions(rates: WorkloadRates, sums: [String]) throws {
    let found = try (Self.texts + [Self.open]).map { rules, format in
      let workload = try smallWorld(rules) {
        $0.rates = rates
        $0.traffic.hasText = !RuleSet.vendors.contains(rules)
        $0.people.listsDevices = format == .ndjson
      }
      let text = WorkloadText(workload, format)
      let value = text.files.reduce(hash([])) { hash(bytes($1, of: text), $0) }
      return "\(rules.rawValue) \(format.rawValue) \(String(value, radix: 16))"
    }
    #expect(found == sums)
  }

  @Test(arguments: WorkloadFormat.allCases)
  func rowsAreCounted(format: WorkloadFormat) throws {
    let text = WorkloadText(try smallWorld(.easemob), format)
    for file in text.files {
      let sink = Sink()
      text.write(file, threads: 2) { sink.take($0, $1) }
      let lines = sink.bytes.count { $0 == UInt8(ascii: "\n") }
      let hasHeader =
        file == .presence || format == .csv && ![.settings, .changes].contains(file)
      let headers = hasHeader ? 1 : 0
      #expect(sink.rows == lines - headers, "\(file)")
      if file != .presence { #expect(sink.rows == text.rowCount(of: file), "\(file)") }
    }
  }

  @Test func aWorldHasTheFilesThatItNeeds() throws {
    let files = {
      (rules: RuleSet, format: WorkloadFormat, change: (inout WorkloadOptions) -> Void)
      in
      let text = WorkloadText(try smallWorld(rules, change: change), format)
      return text.files.map { text.name(of: $0) }
    }
    let plain = try files(.easemob, .csv) { _ in }
    #expect(
      plain == [
        "settings.ndjson", "users.csv", "members.csv", "messages.csv", "presence.csv",
        "changes.ndjson",
      ])
    let devices = try files(.easemob, .csv) { $0.people.listsDevices = true }
    #expect(
      devices == [
        "settings.ndjson", "members.csv", "messages.csv", "presence.csv", "changes.ndjson",
      ])
    let levels = try files(.rongcloud, .csv) { _ in }
    #expect(levels == devices)
    let noLevels = try files(.rongcloud, .csv) {
      ($0.people.mentionLevelShare, $0.people.noneLevelShare) = (0, 0)
    }
    #expect(noLevels == plain)
    let ndjson = try files(.easemob, .ndjson) { _ in }
    #expect(
      ndjson == ["settings.ndjson", "messages.ndjson", "presence.csv", "changes.ndjson"])
    // CSV cannot say what they have.
    let open = try files(.open, .csv) { _ in }
    #expect(open == ["settings.ndjson", "messages.ndjson", "changes.ndjson"])
    let quiet = try files(.easemob, .csv) {
      $0.traffic.messages = 0
      $0.people.changes = 0
    }
    #expect(quiet == ["settings.ndjson", "users.csv", "members.csv", "presence.csv"])
  }
}
