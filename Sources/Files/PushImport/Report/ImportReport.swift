internal import PushModel
internal import PushSupport

/// What an import made, and what open rules cannot say of its input (§6).
package struct ImportReport: Sendable {
  /// How many records were written.
  package struct Records: Hashable, Sendable {
    package var (users, conversations, members, threads, messages) = (0, 0, 0, 0, 0)
  }

  /// What was counted of a kind.
  package struct Count: Sendable {
    package fileprivate(set) var count = 0
    /// Different persons, by their number.
    fileprivate var people: [UInt64] = []
    package fileprivate(set) var peopleCount = 0
    package fileprivate(set) var examples: [String] = []
  }

  package let system: String
  package internal(set) var records = Records()
  package private(set) var counts: [UnsaidKind: Count] = [:]

  private static let exampleCount = 5

  init(system: String) { self.system = system }

  /// Counts a record.
  ///
  /// - Parameters:
  ///   - person: the number of whom the record is of.
  ///   - example: `FILE:LINE`, or an id.
  mutating func count(
    _ kind: UnsaidKind, person: UInt32? = nil, _ example: @autoclosure () -> String
  ) {
    counts[kind, default: Count()].add(person)
    if counts[kind]!.examples.count < Self.exampleCount {
      counts[kind]!.examples.append(example())
    }
  }

  /// Whether something was counted that `--strict` does not let pass.
  package var failsStrictly: Bool { counts.keys.contains { !$0.isHarmless } }

  /// The kinds in the order of their bytes.
  package var kinds: [UnsaidKind] {
    counts.keys.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The text of report.json.
  var json: [UInt8] {
    var text = Array("{\"system\":\"\(system)\",\"records\":{\"users\":\(records.users)".utf8)
    text += Array(",\"conversations\":\(records.conversations),\"members\":\(records.members)".utf8)
    text += Array(",\"threads\":\(records.threads),\"messages\":\(records.messages)}".utf8)
    text += Array(",\"unsaid\":[".utf8)
    for (index, kind) in kinds.enumerated() {
      let count = counts[kind]!
      text += Array((index > 0 ? "," : "").utf8) + Array("{\"kind\":".utf8)
      text.appendJSON(kind.name)
      text += Array(",\"count\":\(count.count),\"people\":\(count.peopleCount),\"examples\":[".utf8)
      for (index, example) in count.examples.enumerated() {
        if index > 0 { text += Array(",".utf8) }
        text.appendJSON(example)
      }
      text += Array("]}".utf8)
    }
    return text + Array("]}\n".utf8)
  }

  /// The summary for people: what was made, and a line for each kind.
  package var lines: [String] {
    let made = [
      records.users.counted("user"), records.conversations.counted("conversation"),
      records.members.counted("membership"), records.threads.counted("thread"),
      records.messages.counted("message"),
    ]
    return [
      made.joined(separator: ", "),
      "settings are those of the moment of the export, also for old messages",
    ]
      + kinds.map { kind in
        let count = counts[kind]!
        let people = count.peopleCount == 1 ? "1 person" : "\(count.peopleCount.grouped) people"
        return "\(kind.name): \(count.count.grouped), \(people): \(kind.words)"
      }
  }
}

extension ImportReport.Count {
  fileprivate mutating func add(_ person: UInt32?) {
    count += 1
    guard let person else { return }
    let (word, bit) = (Int(person / 64), UInt64(1) << UInt64(person % 64))
    if word >= people.count {
      people.append(
        contentsOf: repeatElement(0, count: max(word + 1, 2 * people.count) - people.count))
    }
    if people[word] & bit == 0 {
      people[word] |= bit
      peopleCount += 1
    }
  }
}
