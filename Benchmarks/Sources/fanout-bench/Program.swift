import ArgumentParser
import Foundation
import PushFanout
import PushReference
import PushRules

/// Measures deciding side by side: every contestant gives the same answers, checked before anything
/// is timed, and they take turns, so that a machine that slows down slows down all of them.
@main
struct FanoutBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fanout-bench",
    abstract: "How fast messages are decided, against the reference and a plain loop.",
    discussion: """
      Examples:

        fanout-bench --quick
        fanout-bench --users 10000000 --json > fanout.json
        fanout-bench --filter 1000000

      The answers of all contestants are compared before they are timed. "limit" is a copy of the \
      bytes that deciding must read.
      """)

  @Option(help: ArgumentHelp("How many users there are.", valueName: "count"))
  var users = 10_000_000

  @Option(help: ArgumentHelp("How often each contestant has its turn.", valueName: "count"))
  var rounds = 9

  @Flag(help: "A smaller world and fewer rounds: about 20 seconds.")
  var quick = false

  @Flag(help: "One JSON object a row.")
  var json = false

  @Option(help: ArgumentHelp("Only this size, or turn, or update.", valueName: "text"))
  var filter: String?

  @Option(help: ArgumentHelp("Memberships to load besides, in groups of 100.", valueName: "count"))
  var memberships = 0

  func run() throws {
    let userCount = quick ? min(users, 1_000_000) : users
    var bench = Bench(
      userCount: userCount, rounds: quick ? 5 : rounds, memberships: memberships, filter: filter)
    for row in bench.run() { print(json ? row.json : row.text) }
    FileHandle.standardError.write(Data((bench.notes.joined(separator: "\n") + "\n").utf8))
  }
}

/// One line of the report.
struct Row {
  let suite: String
  let name: String
  let contestant: String
  let members: Int
  let nanoseconds: Double
  let spread: Double
  var ratioToReference: Double?
  var ratioToLimit: Double?

  var text: String {
    func column(_ text: String, _ width: Int) -> String {
      text.padding(toLength: width, withPad: " ", startingAt: 0)
    }
    let reference = ratioToReference.map { String(format: "%9.1fx", $0) } ?? ""
    let limit = ratioToLimit.map { String(format: "%7.2f of limit", $0) } ?? ""
    return column(suite, 8) + column(name, 18) + column(contestant, 24)
      + String(format: "%12.4f ns  ±%4.0f %%", nanoseconds, spread * 100) + reference + limit
  }

  var json: String {
    func number(_ value: Double?) -> String { value.map { String(format: "%.6g", $0) } ?? "null" }
    return "{\"suite\":\"\(suite)\",\"case\":\"\(name)\",\"contestant\":\"\(contestant)\","
      + "\"members\":\(members),\"nsPerDecision\":\(number(nanoseconds)),"
      + "\"spread\":\(number(spread)),\"ratioToReference\":\(number(ratioToReference)),"
      + "\"ratioToLimit\":\(number(ratioToLimit))}"
  }
}
