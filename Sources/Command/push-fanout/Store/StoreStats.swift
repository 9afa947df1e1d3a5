import ArgumentParser
import PushModel
import PushStore
import PushSupport

struct StoreStats: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Print what a store contains, its sizes, and who writes it.",
    discussion: """
      Times are milliseconds since 1970 in JSON; what is not known or not there is left out. The \
      writer is the process that holds the right to write, since the process was started.

      Examples:

        push-fanout store stats --store settings.store

        push-fanout store stats --store settings.store --json
      """)

  @OptionGroup var target: StoreOption

  @Flag(help: "One JSON object.")
  var json = false

  /// A line of the result, and a field of the object.
  private struct Fact {
    let label, name, text: String
    /// As JSON; nil for a field that is left out.
    let json: String?

    init(_ label: String, _ name: String, _ number: Int?, missing: String = "-") {
      (self.label, self.name) = (label, name)
      text = number.map(String.init) ?? missing
      json = number.map(String.init)
    }

    init(_ label: String, _ name: String, text: String) {
      (self.label, self.name, self.text) = (label, name, text)
      json = "\"\(text)\""
    }

    init(_ label: String, _ name: String, at: Instant?) {
      (self.label, self.name) = (label, name)
      text = at?.rfc3339 ?? "-"
      json = at.map { "\($0.milliseconds)" }
    }
  }

  func run() throws {
    let reader = try StoreReader(target.path)
    let found = try ProgressBar.watch("counting", target.path, passes: 0.5) {
      try reader.statistics()
    }
    try reader.close()
    let facts = try contents(found) + state(found)
    if json {
      let fields = facts.compactMap { fact in fact.json.map { "\"\(fact.name)\":\($0)" } }
      return Terminal.printResult("{\(fields.joined(separator: ","))}")
    }
    Terminal.printResult(
      facts.map { $0.label.padded(to: 22, gap: 1) + $0.text }.joined(separator: "\n"))
  }

  private func contents(_ found: StoreStatistics) -> [Fact] {
    [
      Fact("rules", "rules", text: found.rules.rawValue),
      Fact("cursor", "cursor", text: "\(found.end)"),
      Fact("users", "users", found.users),
      Fact("  with settings", "declaredUsers", found.declaredUsers),
      Fact("  devices", "devices", found.devices),
      Fact("conversations", "conversations", found.conversations),
      Fact("memberships", "members", found.members),
      Fact("  with settings", "memberSettings", found.memberSettings),
      Fact("templates", "templates", found.templates),
      Fact("change feed entries", "feedEntries", found.feedEntries),
      Fact("  last number", "lastSequence", Int(found.end.sequence)),
      Fact("  behind", "feedStart", text: "\(found.start)"),
      Fact("  bytes", "feedBytes", found.feedBytes),
      Fact("  first entry", "firstChangeAt", at: found.firstAt),
      Fact("  last entry", "lastChangeAt", at: found.lastAt),
      Fact(
        "  kept, seconds", "keepSeconds",
        found.retention?.milliseconds.map { Int($0 / 1000) }, missing: "all"),
      Fact(
        "  kept, entries", "keepEntries", found.retention?.entries.map { Int($0) }, missing: "all"),
    ]
  }

  private func state(_ found: StoreStatistics) throws -> [Fact] {
    let age = try found.snapshotAt.map { at in
      max(0, (try Clock.now.milliseconds - at.milliseconds) / 1000)
    }
    return [
      Fact("file, bytes", "fileBytes", found.fileBytes),
      Fact("  free", "freeBytes", found.freeBytes),
      Fact("log, bytes", "logBytes", found.logBytes),
      Fact("snapshot, bytes", "snapshotBytes", found.snapshotBytes ?? 0),
      Fact("  of change number", "snapshotSequence", Int(found.snapshotSequence ?? 0)),
      Fact("  age, seconds", "snapshotAgeSeconds", age.map { Int($0) }),
      Fact("identity", "identity", text: found.identity),
      Fact("erasure unfinished", "erasureUnfinished", found.isErasing ? 1 : 0),
      Fact("writer, process", "writerProcess", found.writer?.process),
      Fact("  started", "writerStartedAt", at: found.writer?.started),
    ]
  }
}
