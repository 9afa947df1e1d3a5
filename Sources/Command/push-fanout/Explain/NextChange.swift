import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushService

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

        push-fanout next-change --settings world.ndjson --user u1 \\
          --conversation g1 --at 2024-06-03T12:00:00Z

        push-fanout next-change --store app.store --user u1 --conversation g1 \\
          --mention

        push-fanout next-change --settings world.ndjson --user u1 \\
          --conversation g1 --at 2024-06-03 --json

      Prints the decision now, or at --at, and from when on there is another one. Times are in UTC \
      and in the zone of the user's quiet hours.
      """)

  @OptionGroup var world: WorldOptions

  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  @Option(help: ArgumentHelp("The conversation's id.", valueName: "id"))
  var conversation: String

  @Option(help: ArgumentHelp("The channel of an ultra group.", valueName: "id"))
  var channel = ""

  @Option(
    help: ArgumentHelp(
      "A day, a time, or Unix milliseconds; in UTC. (default: now)", valueName: "instant"))
  var at: String?

  @Flag(help: "Of a message that mentions the user by name.")
  var mention = false

  @Option(
    help: ArgumentHelp(
      """
      Of a message of these classes, by open rules: me, keyword and others, separated by commas. \
      (default: that of a plain message)
      """, valueName: "classes"))
  var classes: String?

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    _ = try instant()
    if mention, classes != nil {
      throw ValidationError(
        "--mention adds me to the class of a plain message; give --classes alone.")
    }
    _ = try messageClasses()
  }

  private func instant() throws -> Instant? {
    do { return try at.map { try MessageOptionTexts(prefix: "--").instant("at", $0) } } catch {
      throw ValidationError("\(error).")
    }
  }

  private func messageClasses() throws -> MessageClasses? {
    guard let classes else { return nil }
    do {
      return try MessageClasses(names: classes.split(separator: ",").map { String($0) })
    } catch {
      throw ValidationError(
        "--classes \(classes): \(error); there are "
          + MessageClasses.all.names.joined(separator: ", ") + ".")
    }
  }

  func run() throws {
    let instant = try instant() ?? Clock.now
    let (user, id) = (Identifier(user), Identifier(conversation))
    let channel = Identifier(channel)
    let fanout = try world.loadFanout(threads: nil)
    let (rules, version) = (fanout.app.rules, fanout.currentVersion)
    if classes != nil, rules.levelClasses.isEmpty {
      throw ValidationError("--classes belongs to open rules, but the rules are \(rules.rawValue).")
    }
    let answer = try version.plainAnswer(
      for: user, in: id, channel: channel, mention: mention, classes: messageClasses(),
      after: instant)
    Terminal.printResult(
      json
        ? String(decoding: ServiceJSON.plainAnswer(answer), as: UTF8.self)
        : Terminal.styled(
          ServiceText.plainAnswer(
            answer, at: instant, isNow: at == nil, zone: version.timeZone(of: user))))
  }
}
