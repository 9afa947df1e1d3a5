import ArgumentParser
import PushFanout
import PushReference
import PushModel
import PushService
import QuietTime

/// `push-fanout next-change`: when a plain message would next be answered otherwise.
struct NextChange: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "next-change",
    abstract: "Print when the decision for a plain message next changes.",
    discussion: """
      A plain message is a text from another user without mentions. Its decision changes by \
      itself where a window begins or ends, a mute or a background grace is over, a membership \
      begins, or a clock change jumps over the edge of a window.

      Examples:

        push-fanout next-change --settings world.ndjson --user u1 --conversation g1 \\
          --at 2024-06-03T12:00:00Z

        push-fanout next-change --settings world.ndjson --user u1 --conversation g1 \\
          --at 1717416000000 --json

      Prints the instant and the decisions before and from then on, or "never".
      """)

  @OptionGroup var world: WorldOptions

  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Option(help: ArgumentHelp("The conversation's id.", valueName: "id"))
  var conversation: String

  @Option(help: ArgumentHelp("The channel of an ultra group.", valueName: "id"))
  var channel = ""

  @Option(help: ArgumentHelp("Unix milliseconds, or an RFC 3339 time.", valueName: "instant"))
  var at: String

  @Flag(help: "One JSON object.")
  var json = false

  @Option(help: .engine)
  var engine = DecidingEngine.packed

  func validate() throws {
    if Instant(text: at) == nil {
      throw ValidationError(
        "--at \(at) is not an instant; give Unix milliseconds or an RFC 3339 time, "
          + "like 2024-06-03T12:00:00Z.")
    }
  }

  func run() throws {
    guard let instant = Instant(text: at) else { return }
    let answer: PlainAnswer
    switch engine {
    case .packed:
      let service = FanoutService(try world.loadFanout(threads: nil))
      do throws(FanoutError) {
        answer = try service.nextChange(
          for: Identifier(user), in: Identifier(conversation), channel: Identifier(channel),
          after: instant)
      } catch {
        throw Failure(text: Self.text(error))
      }
    case .reference: answer = try reference(after: instant)
    }
    Terminal.printResult(
      json ? String(decoding: ServiceJSON.plainAnswer(answer), as: UTF8.self) : text(answer))
  }

  /// The answer of the reference.
  private func reference(after instant: Instant) throws -> PlainAnswer {
    let settings = try world.load()
    let (user, id) = (Identifier(user), Identifier(conversation))
    func failure(_ error: FanoutError) -> Failure { Failure(text: Self.text(error)) }
    guard let conversation = settings.conversation(id) else {
      throw failure(.unknownConversation(id))
    }
    guard let index = settings.index(of: user) else { throw failure(.unknownUser(user)) }
    let parent = conversation.kind == .thread ? conversation.parent : nil
    guard settings.member(index, of: parent ?? id) != nil else {
      throw failure(.notAMember(user: user, conversation: parent ?? id))
    }
    let records = [id, parent].compactMap { $0 }.compactMap { settings.member(index, of: $0) }
    let dependence = try NextChangeSolver(
      app: settings.app, user: settings.user(index), records: records)
    var evaluator = try ReferenceEvaluator.ofSystemZones(settings)
    let answer = { (at: Instant) -> Decision? in
      var message = Message(id: "plain", conversation: id, at: at)
      message.channel = Identifier(channel)
      return evaluator.decide(message, for: user)
    }
    let next = dependence.nextChange(after: instant, answer: answer)
    return PlainAnswer(
      before: answer(instant), changesAt: next, after: next.flatMap(answer))
  }

  private static func text(_ error: FanoutError) -> String {
    switch error {
    case .unknownConversation(let id): "no conversation \"\(id)\" in the settings or members"
    case .unknownUser(let id): "no user \"\(id)\" in the settings, users or members"
    default: "\(error)"
    }
  }

  private func text(_ answer: PlainAnswer) -> String {
    let before = ExplanationText.result(answer.before)
    guard let next = answer.changesAt else {
      return TerminalText.lines(["never", "always: \(before)"])
    }
    return TerminalText.lines([
      next.rfc3339, "before: \(before)",
      "from then on: \(ExplanationText.result(answer.after))",
    ])
  }
}
