internal import PushContent
public import PushFiles
public import PushModel
public import PushStore

/// Why a JSON object is no operation.
public enum OperationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no operation of that name.
  case unknownName(String)
  /// What is wrong with its fields.
  case fields(String)

  /// What is wrong, and what there is instead.
  public var description: String {
    switch self {
    case .unknownName(let name):
      "there is no operation \(name); there are \(SettingsOperation.served.sorted())"
    case .fields(let text): text
    }
  }
}

extension SettingsOperation {
  /// Reads an operation that requests may have, from its JSON.
  ///
  /// - Parameter rules: those of the store: levels have their names in files, and under RongCloud the
  ///   vendor's numbers too.
  /// - Throws: ``OperationProblem``, `FileProblem.Problem` for a field, or `SettingsWriteError`.
  public init(_ object: JSONObject, _ rules: RuleSet) throws {
    guard let name = try object.text("op") else { throw FileProblem.Problem.missingField("op") }
    guard Self.served.contains(name) else {
      throw OperationProblem.unknownName(name)
    }
    let fields = OperationFields(name, object, rules)
    self = try SettingsOperation(from: fields)
    try check()
    if let name = object.names.first(where: { !fields.used.contains($0) }) {
      throw OperationProblem.fields(
        "the operation has no field \"\(name)\"; it has \(fields.used.sorted())")
    }
  }

  /// Checks what no field says by itself.
  private func check() throws {
    switch self {
    case .setSilentModeForAll(_, let level, let minutes, let start, let end):
      if let minutes { _ = try MuteDuration(minutes: minutes) }
      if start != nil || end != nil {
        guard let start else { throw FileProblem.Problem.missingField("start") }
        guard let end else { throw FileProblem.Problem.missingField("end") }
        _ = try QuietInterval.parse(start: start, end: end)
      } else if level == nil, minutes == nil {
        throw OperationProblem.fields("nothing to set: send level, minutes, or start and end")
      }
    case .setSilentModeForConversation(_, _, let level, let minutes):
      if let minutes { _ = try MuteDuration(minutes: minutes) }
      if level == nil, minutes == nil {
        throw OperationProblem.fields("nothing to set: send level, minutes")
      }
    case .addQuietWindow(_, let days, let start, let end, _):
      _ = try QuietWindows.Window(
        days: days.map { try QuietWindows.Window.days($0) } ?? QuietWindows.Window.everyDay,
        start: start, end: end)
    default: break
    }
  }
}

/// Decodes an operation: `op` is the case, and the other fields are its labels.
private final class OperationFields: Decoder {
  fileprivate let name: String
  fileprivate let object: JSONObject
  private let rules: RuleSet
  /// The fields that the operation has.
  fileprivate var used: Set<String> = ["op"]

  init(_ name: String, _ object: JSONObject, _ rules: RuleSet) {
    self.name = name
    self.object = object
    self.rules = rules
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(OperationContainer(fields: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw notSupported }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw notSupported }

  fileprivate var notSupported: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "a field of \(name) has no reader"))
  }

  fileprivate func value(_ type: any Any.Type, _ name: String) throws -> Any {
    switch type {
    // A channel and a certificate may be "".
    case is Identifier.Type where name == "channel" || name == "notifier":
      Identifier(try required(object.text(name), name))
    case is Identifier.Type: try object.identifier(name)
    case is [Identifier].Type: try object.identifiers(name)
    case is [String].Type: try required(object.texts(name), name)
    case is String.Type: try required(object.text(name), name)
    case is Bool.Type: try required(object.flag(name), name)
    case is Int64.Type: try required(object.whole(name), name)
    case is NotificationLevel.Type: try level(name)
    case is LanguageTag.Type: try language(name)
    case is ConversationKind.Type: try word(ConversationKind.self, name)
    case is Device.Kind.Type: try word(Device.Kind.self, name)
    case is Device.State.Type: try word(Device.State.self, name)
    case is PushPlatform.Type: try word(PushPlatform.self, name)
    case is SenderList.Type: try word(SenderList.self, name)
    case is MessageClasses.Type: try classes(name)
    case is Instant.Type: try instant(name)
    default: throw notSupported
    }
  }

  private func required<Value>(
    _ value: Value?, _ name: String
  ) throws(FileProblem.Problem) -> Value {
    guard let value else { throw .missingField(name) }
    return value
  }

  private func word<Word: RawRepresentable<String> & CaseIterable>(
    _ type: Word.Type, _ name: String
  ) throws -> Word {
    let text = try required(object.text(name), name)
    guard let word = Word(rawValue: text) else {
      throw OperationProblem.fields(
        "there is no \(name) \(text); there are \(Word.allCases.map(\.rawValue))")
    }
    return word
  }

  private func language(_ name: String) throws -> LanguageTag {
    let text = try required(object.text(name), name)
    guard let tag = LanguageTag(text) else {
      throw OperationProblem.fields("\"\(name)\" \(text) is not a language tag, like zh-Hans")
    }
    return tag
  }

  private func instant(_ name: String) throws -> Instant {
    let milliseconds = try required(object.whole(name), name)
    guard let instant = Instant(exactMilliseconds: milliseconds) else {
      throw OperationProblem.fields("\(name) \(milliseconds) is not in 0...9007199254740991")
    }
    return instant
  }

  /// A word, or a list of names (O-2).
  private func classes(_ name: String) throws -> MessageClasses {
    if let names = try? object.texts(name) { return try MessageClasses(names: names) }
    let text = try required(object.text(name), name)
    guard let classes = MessageClasses(word: text) else {
      throw OperationProblem.fields(
        "there is no \(name) \(text); there are \(RuleSet.open.levelNames), and lists of classes")
    }
    return classes
  }

  /// A level by its name, or under RongCloud's rules by its number.
  private func level(_ name: String) throws -> NotificationLevel {
    if rules.fields.contains(.levelNumbers), let number = try? object.whole(name) {
      return try NotificationLevel(rongCloudNumber: number)
    }
    let text = try required(object.text(name), name)
    guard let level = NotificationLevel.named(text), level.exists(under: rules) else {
      let names = rules.levelNames
      throw OperationProblem.fields("there is no level \(text); there are \(names)")
    }
    return level
  }
}

/// Both the object and the fields within it.
private struct OperationContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let fields: OperationFields

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { Key(stringValue: fields.name).map { [$0] } ?? [] }

  func contains(_ key: Key) -> Bool {
    fields.used.insert(key.stringValue)
    return fields.object.has(key.stringValue)
  }

  func decodeNil(forKey key: Key) -> Bool { !contains(key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    fields.used.insert(key.stringValue)
    guard let value = try fields.value(type, key.stringValue) as? Value else {
      throw fields.notSupported
    }
    return value
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> {
    fields.container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw fields.notSupported
  }

  func superDecoder() throws -> any Decoder { throw fields.notSupported }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw fields.notSupported }
}
