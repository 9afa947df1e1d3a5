internal import CPushFiles
internal import PushContent
public import PushModel

/// A line of an expectations.ndjson: a message, a user, and what has to be decided for them.
///
/// - Source: docs/test.md.
public struct Expectation: Sendable {
  /// The message that is decided.
  public enum MessageText: Sendable {
    /// Written in the line, as a messages.ndjson of one line.
    case written([UInt8])
    /// One of the messages that are read beside.
    case id(Identifier)
  }

  /// What people call it: its id, or else the rule that it shows.
  public let label: String?
  /// The records that the line has, a line for each, as a settings.ndjson; nil for none.
  public let settings: [UInt8]?
  /// The message.
  public let message: MessageText
  /// The user; nil for the only recipient.
  public let user: Identifier?
  /// What has to be decided.
  public let expected: ExpectedDecision
}

/// What has to be decided: any part of a decision. Of what is nil everything is right.
public struct ExpectedDecision: Hashable, Sendable {
  /// What happens. `suppress` is right for a user who is no recipient too.
  public var action: Action?
  /// Why it happens.
  public var reason: Reason?
  /// The scope of the setting that decided.
  public var scope: Scope?
  /// The devices that are notified, in any order.
  public var devices: [Identifier]?

  /// Creates what has to be decided; nothing has to.
  public init(
    action: Action? = nil, reason: Reason? = nil, scope: Scope? = nil, devices: [Identifier]? = nil
  ) {
    (self.action, self.reason, self.scope, self.devices) = (action, reason, scope, devices)
  }

  /// Whether a decision is what has to be decided.
  ///
  /// - Parameter decision: nil for a user who is no recipient.
  public func holds(for decision: Decision?) -> Bool {
    (action ?? decision?.outcome.action ?? .suppress) == decision?.outcome.action ?? .suppress
      && (reason == nil || reason == decision?.outcome.reason)
      && (scope == nil || scope == decision?.outcome.scope)
      && (devices.map { Set($0) == Set(decision?.devices ?? []) } ?? true)
  }

  /// The parts of a decision that this has, all where it has none.
  ///
  /// - Parameter decision: nil for a user who is no recipient.
  public func updated(to decision: Decision?) -> ExpectedDecision {
    let isOpen = self == ExpectedDecision()
    let devices = decision?.devices ?? []
    return ExpectedDecision(
      action: isOpen || action != nil ? decision?.outcome.action ?? .suppress : nil,
      reason: isOpen || reason != nil ? decision?.outcome.reason : nil,
      scope: isOpen || scope != nil ? decision?.outcome.scope : nil,
      devices: self.devices != nil || isOpen && !devices.isEmpty ? devices : nil)
  }
}

/// Reads expectations one line at a time.
///
/// - Memory: one line, whatever the file's size.
public final class ExpectationReader {
  private static let names = ["id", "rule", "settings", "message", "user", "expect"]

  private let lines: JSONLines

  /// - Throws: a problem with the file itself.
  public init(path: String) throws(FileProblem) { lines = try FileSource.path(path).lines() }

  /// The next expectation; nil at the end of the file.
  ///
  /// - Throws: what is wrong with the next line. If ``FileProblem/isOfOneLine``, the call after
  ///   goes on behind it.
  public func next() throws(FileProblem) -> Expectation? {
    try lines.located { () throws(FileProblem.Problem) in
      try lines.next().map { (line) throws(FileProblem.Problem) in
        try Self.read(line, in: lines.parser)
      }
    }
  }

  /// The 1-based line that was read last.
  public var lineNumber: Int { lines.lineNumber }

  private static func read(
    _ line: JSONValue, in parser: JSONParser
  ) throws(FileProblem.Problem) -> Expectation {
    var (id, rule): (String?, String?)
    var settings: [UInt8]?
    var message: Expectation.MessageText?
    var user: Identifier?
    var expected = ExpectedDecision()
    for (key, value) in line.fields {
      switch key {
      case "id": id = try value.text("id")
      case "rule": rule = try value.text("rule")
      case "settings": settings = try records(value, in: parser)
      case "message":
        message =
          value.kind == PF_JSON_OBJECT
          ? .written(parser.raw(value).bytes) : .id(try value.messageID("message"))
      case "user": user = try value.identifier("user")
      case "expect": expected = try expectation(value)
      default: throw .unknownField(key.text, among: names)
      }
    }
    guard let message else { throw .missingField("message") }
    return Expectation(
      label: id.map { id in rule.map { "\(id), \($0)" } ?? id } ?? rule, settings: settings,
      message: message, user: user, expected: expected)
  }

  /// The objects of an array, a line for each.
  private static func records(
    _ value: JSONValue, in parser: JSONParser
  ) throws(FileProblem.Problem) -> [UInt8] {
    guard value.kind == PF_JSON_ARRAY, value.items.allSatisfy({ $0.kind == PF_JSON_OBJECT }) else {
      throw .wrongType("settings", expected: "an array of records")
    }
    // Not `raw` of each, which would read the line as often as there are records.
    var text = parser.raw(value).bytes
    var depth = 0
    var isInString = false
    var index = 0
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "\""): isInString.toggle()
      case _ where isInString: break
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ",") where depth == 1: text[index] = UInt8(ascii: "\n")
      default: break
      }
      index += 1
    }
    return Array(text.dropFirst().dropLast())
  }

  private static func expectation(
    _ value: JSONValue
  ) throws(FileProblem.Problem) -> ExpectedDecision {
    var expected = ExpectedDecision()
    for (key, value) in try value.object("expect") {
      switch key {
      case "action": expected.action = try value.named(Action.self, \.name, "expect.action")
      case "reason": expected.reason = try value.named(Reason.self, \.name, "expect.reason")
      case "scope": expected.scope = try value.named(Scope.self, \.name, "expect.scope")
      case "devices": expected.devices = try value.identifiers("expect.devices")
      default:
        throw .unknownField(
          key.text, among: ["action", "reason", "scope", "devices"], of: "expect")
      }
    }
    return expected
  }
}

extension ExpectationReader {
  /// The bytes of an expectations.ndjson in which some lines expect what was decided; everything else
  /// stays as it is written.
  ///
  /// - Parameters:
  ///   - bytes: the file, in which these lines were read without a problem.
  ///   - changed: what is expected, by 1-based line.
  public static func updated(
    _ bytes: [UInt8], _ changed: [Int: ExpectedDecision]
  ) throws(FileProblem.Problem) -> [UInt8] {
    if bytes.first(where: { !RawText.isBlank($0) }) == UInt8(ascii: "[") {
      throw .oneJSON(isArray: true)
    }
    let parser = try JSONParser()
    let padded = bytes + repeatElement(0, count: Int(PF_JSON_PADDING))
    return try unsafe padded.withUnsafeBufferPointer { (padded) throws(FileProblem.Problem) in
      var text: [UInt8] = []
      var (start, number) = (0, 0)
      while start < bytes.count {
        number += 1
        let feed = unsafe padded[start..<bytes.count].firstIndex(of: UInt8(ascii: "\n"))
        let end = feed ?? bytes.count
        let line = unsafe UnsafeRawBufferPointer(
          UnsafeBufferPointer(rebasing: padded[start..<end]))
        if let expected = changed[number],
          let object = try unsafe parser.parse(line, isFirst: number == 1)
        {
          text += unsafe replaced(line, object, parser, expected)
        } else {
          unsafe text += line
        }
        if feed != nil { text.append(UInt8(ascii: "\n")) }
        start = end + 1
      }
      return text
    }
  }

  /// A line that expects something else.
  private static func replaced(
    _ line: UnsafeRawBufferPointer, _ object: JSONValue, _ parser: JSONParser,
    _ expected: ExpectedDecision
  ) -> [UInt8] {
    // In front of what was parsed there may be a byte order mark.
    let mark = unsafe line.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let isSpaced = line.indices.dropFirst(2).contains { index in
      unsafe line[index - 2..<index + 1].elementsEqual("\": ".utf8)
    }
    let value = expected.json(isSpaced: isSpaced)
    if let old = object.fieldsWithNull.first(where: { "expect" ~= $0.key })?.value {
      let place = parser.place(of: old)
      return unsafe Array(line[..<(mark + place.lowerBound)]) + value
        + line[(mark + place.upperBound)...]
    }
    let close = unsafe line.lastIndex(of: UInt8(ascii: "}"))!
    let blank = isSpaced ? " " : ""
    return unsafe Array(line[..<close]) + Array(",\(blank)\"expect\":\(blank)".utf8) + value
      + line[close...]
  }
}

extension ExpectedDecision {
  /// The value of `expect`.
  package func json(isSpaced: Bool = false) -> [UInt8] {
    let (colon, comma) = isSpaced ? (": ", ", ") : (":", ",")
    let words = [
      ("action", action?.name), ("reason", reason?.name), ("scope", scope?.name),
    ]
    var fields = words.compactMap { name, value in value.map { "\"\(name)\"\(colon)\"\($0)\"" } }
    if let devices {
      let ids = devices.map { id in
        var bytes: [UInt8] = []
        bytes.appendJSON(id.text)
        return String(decoding: bytes, as: UTF8.self)
      }
      fields.append("\"devices\"\(colon)[\(ids.joined(separator: comma))]")
    }
    return Array("{\(fields.joined(separator: comma))}".utf8)
  }
}

extension JSONValue {
  /// One of the values of a type by its name in files.
  fileprivate func named<Value: CaseIterable>(
    _ type: Value.Type, _ name: (Value) -> String, _ field: String
  ) throws(FileProblem.Problem) -> Value {
    let text = try text(field)
    guard let value = Value.allCases.first(where: { name($0) == text }) else {
      throw .unknownValue(field, value: text, allowed: Value.allCases.map(name))
    }
    return value
  }

  /// The id of a message.
  fileprivate func messageID(_ field: String) throws(FileProblem.Problem) -> Identifier {
    guard kind == PF_JSON_STRING else {
      throw .wrongType(field, expected: "a message, or the id of one")
    }
    return try identifier(field)
  }
}
