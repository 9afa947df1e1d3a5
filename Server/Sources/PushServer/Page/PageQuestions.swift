internal import HTTPTypes
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService

/// What the support page asks: nothing of it changes settings.
enum PageQuestions {
  /// How far the timeline goes.
  static let days: Int64 = 7
  /// How many members are listed.
  static let memberLimit = 200

  /// The decision for a user, its steps, and the week that follows.
  ///
  /// - Parameter lines: a line of messages.ndjson; then, for "what if", lines of
  ///   settings.ndjson, and nothing else decides.
  static func inspect(
    _ service: FanoutService, user: Identifier, lines: [UInt8]
  ) throws(ServerFailure) -> Answer {
    let end = lines.firstIndex(of: UInt8(ascii: "\n")) ?? lines.count
    let message = try message(Array(lines[..<end]), service.app.rules)
    let records = Array(lines[end...])
    var asked = service
    if !records.allSatisfy({ $0 == UInt8(ascii: "\n") }) {
      // The message's line, which is blank here, keeps the numbers of lines.
      asked = try refused { try FanoutService(ndjson: records, threads: 1) }
      guard asked.app.rules == service.app.rules else {
        throw .badRequest("the settings are by other rules than those of the store")
      }
    }
    let until = Instant(
      milliseconds: min(message.at.milliseconds + days * 86_400_000, Instant.maximumMilliseconds))
    return Answer(
      Answer.json, ServiceJSON.inspection(asked.inspect(message, for: user, until: until)))
  }

  /// How many members have which outcome, and the first of them.
  static func conversation(
    _ service: FanoutService, line: [UInt8]
  ) throws(ServerFailure) -> Answer {
    let result = service.decide(try message(line, service.app.rules)).result
    let counts = result.counts
    var members: [String] = []
    var rank = 0
    while rank < result.memberCount, members.count < memberLimit {
      let user = result.member(at: rank)
      rank += 1
      guard let outcome = result.outcome(of: user) else { continue }
      let id = JSONText.quoted(result.id(of: user).text)
      members.append("{\(words(outcome)),\"user\":\(id)}")
    }
    let entries = counts.nonZero.map { (key: $0.outcome.key, outcome: $0.outcome, count: $0.count) }
      .sorted { $0.key < $1.key }
      .map { "\(JSONText.quoted($0.key)):{\"count\":\($0.count),\(words($0.outcome))}" }
    let text =
      "{\"counts\":{\(entries.joined(separator: ","))},\"members\":[\(members.joined(separator: ","))],"
      + "\"recipients\":\(counts.recipientCount)}"
    return Answer(Answer.json, text.utf8)
  }

  private static func words(_ outcome: Outcome) -> String {
    "\"family\":\(JSONText.quoted(outcome.family.name)),\"phrase\":\(JSONText.quoted(outcome.phrase))"
  }

  /// Exactly one message.
  private static func message(
    _ line: [UInt8], _ rules: RuleSet
  ) throws(ServerFailure) -> Message {
    let one = ServerFailure.badRequest("send one message, as a line of messages.ndjson")
    guard !line.isEmpty else { throw one }
    let (first, second) = try refused {
      let reader = try MessageReader(line, rules: rules)
      return (try reader.next(), try reader.next())
    }
    guard let first, second == nil else { throw one }
    return first
  }

  /// What input is refused for, as an answer.
  private static func refused<Value>(
    _ body: () throws -> Value
  ) throws(ServerFailure) -> Value {
    do {
      return try body()
    } catch let problem as FileProblem {
      throw ServerFailure(
        .unprocessableContent, "not_understood", "\(problem.problem)", line: problem.line)
    } catch {
      throw ServerFailure(.unprocessableContent, "not_understood", "\(error)")
    }
  }
}
