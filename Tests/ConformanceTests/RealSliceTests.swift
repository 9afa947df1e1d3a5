import Foundation
import PushFanout
import PushFiles
import PushReference
import PushModel
import TestSupport
import Testing

/// Goal: on real traffic every recipient of every message gets from the engine what the reference
/// says.
///
/// A plain run takes some of the messages in `data/`. `PUSH_FULL=1 swift test -c release
/// -Xswiftc -enable-testing --filter RealSliceTests` takes all of them, and those of the other
/// slices that lie in the folder `PUSH_DATA`.
@Suite struct RealSliceTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let isFull = environment["PUSH_FULL"] == "1"

  struct Slice: CustomTestStringConvertible {
    let folder: URL
    let name: String
    /// How many messages are compared, evenly spread; nil for all.
    let count: Int?

    var testDescription: String { name }
    func path(_ kind: String) -> String {
      folder.appending(path: "\(name).\(kind).csv.gz").path
    }
  }

  static let slices: [Slice] = {
    let own = Repository.root.appending(path: "data")
    var slices = [
      Slice(folder: own, name: "fcc-2016-03-03", count: isFull ? nil : 200),
      Slice(folder: own, name: "qa-2021-05-19", count: isFull ? nil : 12),
    ]
    guard isFull, let other = environment["PUSH_DATA"] else { return slices }
    let folder = URL(fileURLWithPath: other)
    let files = (try? FileManager.default.contentsOfDirectory(atPath: other)) ?? []
    for file in files.sorted() where file.hasSuffix(".messages.csv.gz") {
      let name = String(file.dropLast(".messages.csv.gz".count))
      if slices.contains(where: { $0.name == name }) { continue }
      guard ["fcc-", "qa-", "lean-", "xrp-"].contains(where: name.hasPrefix) else { continue }
      slices.append(Slice(folder: folder, name: name, count: name.hasPrefix("xrp-") ? 500 : nil))
    }
    return slices
  }()

  private static func messages(_ slice: Slice, _ rules: RuleSet) throws -> [Message] {
    let reader = try MessageReader(path: slice.path("messages"), rules: rules)
    var messages: [Message] = []
    while let message = try reader.next() { messages.append(message) }
    guard let count = slice.count, count < messages.count else { return messages }
    return (0..<count).map { messages[$0 * messages.count / count] }
  }

  @Test(arguments: slices)
  func everyRowIsTheSame(slice: Slice) throws {
    let settings = try SettingsLoader.load(
      SettingsPaths(users: [slice.path("users")], members: [slice.path("members")]))
    let messages = try Self.messages(slice, settings.app.rules)
    #expect(slice.count.map { $0 == messages.count } ?? (messages.count > 200))
    var evaluator = ReferenceEvaluator(settings)
    let fanout = try Fanout(settings, threads: 2)
    let batch = fanout.decide(messages)
    var result = FanoutResult()
    var decisionCount = 0
    for (place, message) in messages.enumerated() {
      let expected = evaluator.rows(message)
      decisionCount += expected.count
      fanout.decide(message, into: &result)
      let difference =
        firstDifference(result.rows, expected) ?? Self.difference(result, batch[place])
        ?? (place % 50 == 0 ? batch[place].disagreement(with: expected) : nil)
      #expect(difference == nil, "\(slice.name), message \(place), \(message)")
      if difference != nil { return }
    }
    #expect(decisionCount > messages.count)
    if Self.isFull {
      print("\(slice.name): \(messages.count) messages, \(decisionCount) decisions")
    }
  }

  /// Where a message decided among others comes to something else.
  private static func difference(_ one: FanoutResult, _ other: FanoutResult) -> String? {
    if one.counts != other.counts { return "counts in a batch" }
    return firstDifference(other.writtenCodes, one.writtenCodes).map { "in a batch " + $0 }
  }
}
