internal import CPushFiles
internal import PushContent
public import PushModel

/// Reads how requests are made from NDJSON (S-2).
///
/// - Source: formats.md, "senders.ndjson".
public enum SenderReader {
  /// Loads the senders of several files, in their order.
  ///
  /// - Parameters:
  ///   - paths: the files.
  ///   - rules: those that say which fields there may be; nil for those of any.
  /// - Throws: the problem of the first line that is not understood.
  /// - Complexity: O(bytes).
  public static func load(
    _ paths: [String], rules: RuleSet?
  ) throws(FileProblem) -> [PushSender] {
    try load(paths.map { .path($0) }, rules)
  }

  /// Loads senders from bytes, as a file of that name would be read.
  ///
  /// - Throws: as ``load(_:rules:)``.
  public static func load(
    _ bytes: [UInt8], name: String = "senders.ndjson", rules: RuleSet?
  ) throws(FileProblem) -> [PushSender] {
    try load([.bytes(bytes, name: name)], rules)
  }

  private static func load(
    _ sources: [FileSource], _ rules: RuleSet?
  ) throws(FileProblem) -> [PushSender] {
    let (senders, problems, _) = read(sources, rules, keepsAll: false)
    if let first = problems.first { throw first }
    return senders
  }

  /// Reads files to find everything that is wrong with them.
  ///
  /// - Returns: the problems in the order of files and lines, and the number of records.
  static func check(
    _ paths: [String], rules: RuleSet?
  ) -> (problems: [FileProblem], records: Int) {
    let (_, problems, count) = read(paths.map { .path($0) }, rules, keepsAll: true)
    return (problems, count)
  }

  private static func read(
    _ sources: [FileSource], _ rules: RuleSet?, keepsAll: Bool
  ) -> (senders: [PushSender], problems: [FileProblem], records: Int) {
    var senders: [PushSender] = []
    let (problems, count) = RecordFiles.read(sources, of: "sender", keepsAll: keepsAll) {
      (line) throws(FileProblem.Problem) in
      let sender = try sender(line, rules)
      if senders.contains(where: {
        $0.platform == sender.platform && $0.notifier == sender.notifier
      }) {
        throw .repeatedSender(sender.platform.rawValue, notifier: sender.notifier?.text)
      }
      senders.append(sender)
    }
    return (senders, problems, count)
  }

  private static func sender(
    _ line: JSONValue, _ rules: RuleSet?
  ) throws(FileProblem.Problem) -> PushSender {
    // Before the fields, of which each platform has its own.
    guard let platform = line.fields.first(where: { "platform" ~= $0.key })?.value else {
      throw .missingField("platform")
    }
    var sender = PushSender(platform: try platform.choice("platform"))
    let fields = PushSender.fields.filter { $0.exists(on: sender.platform) }
    for (key, value) in line.fields {
      switch key {
      case "kind", "platform": break
      case "notifier": sender.notifier = try value.identifier("notifier")
      default:
        guard let field = fields.first(where: { $0.name == key.text }) else {
          throw .unknownField(
            key.text, among: ["kind", "platform", "notifier"] + fields.map(\.name))
        }
        if let rules, let owner = RuleSet.owner(of: field.owner),
          !rules.fields.isSuperset(of: field.owner)
        {
          throw .fieldOfOtherRules("\"\(field.name)\"", owner, rules: rules)
        }
        try read(value, of: field, into: &sender)
      }
    }
    switch sender.platform {
    case .apns: if sender.topic == nil { throw .missingField("topic") }
    case .fcm: if sender.project == nil { throw .missingField("project") }
    }
    return sender
  }

  private static func read(
    _ value: JSONValue, of field: SenderField, into sender: inout PushSender
  ) throws(FileProblem.Problem) {
    switch field.value {
    case .text(let path, let expected, let isValid):
      guard let text = value.string, isValid(text) else {
        throw .wrongType(field.name, expected: expected)
      }
      sender[keyPath: path] = text
    case .flag(let path): sender[keyPath: path] = try value.flag(field.name)
    case .seconds(let path, let range):
      sender[keyPath: path] = try value.whole(field.name, in: range)
    case .choice(let set):
      let text = try value.text(field.name)
      guard set(&sender, text) else {
        throw .unknownValue(field.name, value: text, allowed: field.allowed)
      }
    }
  }
}
