internal import CPushFiles
public import PushContent
public import PushModel
internal import PushSupport

/// messages.ndjson
enum MessageFields {
  /// The fields that decide or are known without effect.
  static let names = [
    "id", "conversation", "sender", "at", "mentions", "mentionsAll", "silent", "body", "sentAt",
    "reply", "replyTo", "decision", "force", "onlineOnly", "filter", "ext", "channel",
    "isMentioned", "pushContent", "persisted", "backlog", "mentionsRoles", "replyToUser",
  ]

  /// Reads a message that has no fields of other rules.
  @inline(__always)
  static func read(
    _ line: JSONValue, under rules: RuleSet, isReply: inout Bool
  ) throws(FileProblem.Problem) -> Message {
    var uses = VendorFieldUse(under: rules)
    let message = try read(line, rules, &uses, isReply: &isReply)
    try check(message, uses, under: rules)
    return message
  }

  /// What the rules refuse of a message, in whatever form it is written.
  static func check(
    _ message: Message, _ uses: VendorFieldUse, under rules: RuleSet
  ) throws(FileProblem.Problem) {
    if let foreign = uses.foreign(to: rules) { throw foreign }
    // How many a message may mention under open rules (O-20).
    let users = message.mentions?.count ?? 0
    let roles = message.hasRareFields ? message.mentionsRoles?.count ?? 0 : 0
    guard users > OpenLimits.mentions || roles > OpenLimits.mentionedRoles,
      rules.fields.contains(.mentionsRoles)
    else { return }
    if roles > OpenLimits.mentionedRoles {
      throw .refused("mentionsRoles", .tooMany("roles", roles, limit: OpenLimits.mentionedRoles))
    }
    throw .refused("mentions", .tooMany("mentioned users", users, limit: OpenLimits.mentions))
  }

  private static func read(
    _ line: JSONValue, _ rules: RuleSet, _ uses: inout VendorFieldUse, isReply: inout Bool
  ) throws(FileProblem.Problem) -> Message {
    isReply = false
    var id: Identifier?
    var conversation: Identifier?
    var at: Instant?
    var message = Message(id: "", conversation: "", at: .zero)
    for (key, value) in line.fields {
      switch key {
      case "id": id = try value.identifier("id")
      case "conversation": conversation = try value.identifier("conversation")
      case "at": at = try value.instant("at")
      case "sender": message.sender = try value.identifier("sender")
      case "mentions": message.mentions = try value.identifiers("mentions")
      case "mentionsAll": message.mentionsAll = try value.flag("mentionsAll")
      case "silent": message.silent = try value.flag("silent")
      case "body": message.body = try value.choice("body")
      case "sentAt": message.sentAt = try value.instant("sentAt")
      // They have no effect on decisions, so whatever they hold is taken.
      case "reply": if value.bool == true { isReply = true }
      case "replyTo": if value.string?.isEmpty == false { isReply = true }
      // What was decided of it, in a decision log.
      case "decision": break
      case "text" where rules.fields.contains(.text): message.text = try value.text("text")
      default:
        if let field = try readVendorField(key, value, &message) {
          uses.note(field, "\"\(key.text)\"")
        } else if !ContentFields.isKnown(key, &uses) {
          throw .unknownField(key.text, among: names + ContentFields.names)
        }
      }
    }
    guard let id else { throw .missingField("id") }
    guard let conversation else { throw .missingField("conversation") }
    guard let at else { throw .missingField("at") }
    message.id = id
    message.conversation = conversation
    message.at = at
    return message
  }

  /// Reads a field that not every rule set has.
  ///
  /// - Returns: which; nil, and nothing read, for another one.
  private static func readVendorField(
    _ key: JSONKey, _ value: JSONValue, _ message: inout Message
  ) throws(FileProblem.Problem) -> VendorFields? {
    switch key {
    case "force":
      message.force = try value.flag("force")
      return .force
    case "onlineOnly":
      message.onlineOnly = try value.flag("onlineOnly")
      return .onlineOnly
    case "filter":
      message.filter = try filter(value)
      return .filter
    case "ext":
      message.ext = EasemobExtension(try value.object("ext"))
      return .ext
    case "channel":
      message.channel = Identifier(try value.text("channel"))
      return .messageChannel
    case "isMentioned":
      message.isMentioned = try value.flag("isMentioned")
      return .isMentioned
    case "pushContent":
      message.pushContent = try value.text("pushContent")
      return .pushContent
    case "persisted":
      message.persisted = try value.flag("persisted")
      return .persisted
    case "backlog":
      message.backlog = try value.flag("backlog")
      return .backlog
    case "mentionsRoles":
      message.mentionsRoles = try value.identifiers("mentionsRoles")
      return .mentionsRoles
    case "replyToUser":
      message.replyToUser = try value.identifier("replyToUser")
      return .replyToUser
    default: return nil
    }
  }

  private static func filter(_ value: JSONValue) throws(FileProblem.Problem) -> DeviceFilter {
    var filter = DeviceFilter()
    for (key, value) in try value.object("filter") {
      guard let list = DeviceFilter.list(named: key) else {
        throw .unknownField(key.text, among: DeviceFilter.listNames, of: "filter")
      }
      filter[keyPath: list] = try value.strings("filter.\(key.text)").map { Identifier($0) }
    }
    return filter
  }
}

extension Message {
  /// Checks what a message that no reader has read has of open rules, with a reader's words.
  package func check(under rules: RuleSet) throws(FileProblem.Problem) {
    var uses = VendorFieldUse(under: rules)
    if hasRareFields {
      if mentionsRoles != nil { uses.note(.mentionsRoles, "\"mentionsRoles\"") }
      if replyToUser != nil { uses.note(.replyToUser, "\"replyToUser\"") }
    }
    try MessageFields.check(self, uses, under: rules)
  }
}

extension DeviceFilter {
  fileprivate static let listNames = [
    "accept_device_id", "ignore_device_id", "accept_notifier_name", "ignore_notifier_name",
  ]

  /// The list of one of the four keys of E-50; nil for another key.
  fileprivate static func list(named key: JSONKey) -> WritableKeyPath<Self, [Identifier]>? {
    switch key {
    case "accept_device_id": \.acceptDeviceIDs
    case "ignore_device_id": \.ignoreDeviceIDs
    case "accept_notifier_name": \.acceptNotifierNames
    case "ignore_notifier_name": \.ignoreNotifierNames
    default: nil
    }
  }
}

/// `ext`: any JSON object, of which some keys are read; wrongly typed values in it are ignored.
extension EasemobExtension {
  init(_ fields: JSONFields) {
    self.init()
    for (key, value) in fields {
      switch key {
      case "em_at_list": atList = Self.atList(value)
      case "em_force_notification": force = Self.isTrue(value)
      case "em_ignore_notification": ignore = Self.isTrue(value)
      case "em_push_filter": filter = Self.filter(value)
      case "em_apns_ext":
        guard value.kind == PF_JSON_OBJECT else { break }
        for (key, value) in value.fields where "em_at_list" ~= key {
          legacyAtList = Self.atList(value)
        }
      default: break
      }
    }
  }

  private static func atList(_ value: JSONValue) -> AtList {  // E-46
    if let text = value.string { return .text(Identifier(text)) }
    guard value.kind == PF_JSON_ARRAY else { return .unreadable }
    return .ids(value.items.compactMap { $0.string.map { Identifier($0) } })
  }

  static func isTrue(_ value: JSONValue) -> Bool {  // E-45
    if let flag = value.bool { return flag }
    if let number = value.number { return number == 1 }
    return value.string.map { isTrue($0) } ?? false
  }

  private static func filter(_ value: JSONValue) -> DeviceFilter {  // E-50
    var filter = DeviceFilter()
    guard value.kind == PF_JSON_OBJECT else { return filter }
    for (key, value) in value.fields where value.kind == PF_JSON_ARRAY {
      guard let list = DeviceFilter.list(named: key) else { continue }
      filter[keyPath: list] = value.items.compactMap { $0.string.map { Identifier($0) } }
    }
    return filter
  }
}

/// messages.csv
enum MessageColumns {
  static let layout = CSVLayout(
    name: "messages", columns: CSVLayout.messageColumns, required: ["conversation", "at"])

  /// - Parameters:
  ///   - number: the message's id when the file has no column of ids.
  ///   - form: how instants and lists are written.
  ///   - pass: which is meant by a local time that occurs twice.
  static func read(
    _ row: CSVRow, number: Int?, _ form: CellForm, _ pass: RepeatedTime,
    _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> Message {
    guard let id = number.map(Self.id(_:)) ?? row.identifier(0) else {
      throw .missingField("id")
    }
    guard let conversation = row.identifier(1) else { throw .missingField("conversation") }
    guard let at = try row.instant(4, "at", form, pass) else { throw .missingField("at") }
    var message = Message(id: id, conversation: conversation, at: at, sender: row.identifier(3))
    message.sentAt = try row.instant(5, "sentAt", form, .notAfter(at))
    message.mentions = row.identifiers(6, form)
    message.mentionsAll = try row.flag(7, "mentionsAll")
    message.force = try row.flag(9, "force")
    message.silent = try row.flag(10, "silent")
    if let body = row.text(11) { message.body = try TextValue.choice(body, "body") }
    if message.force != nil { uses.note(.force, "\"force\"") }
    try readRongCloud(row, &message, &uses)
    return message
  }

  private static func id(_ number: Int) -> Identifier {
    unsafe withDigits(number) { unsafe Identifier(utf8: $0) }
  }

  /// Whether the columns that have no effect on decisions call it a reply.
  static func isReply(_ row: CSVRow) -> Bool {
    row.holds("1", 15) || row.holds("true", 15) || !row.isEmpty(16)
  }

  private static func readRongCloud(
    _ row: CSVRow, _ message: inout Message, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) {
    if let channel = row.identifier(2) {
      uses.note(.messageChannel, "\"channel\"")
      message.channel = channel
    }
    message.isMentioned = try row.flag(8, "isMentioned")
    if message.isMentioned != nil { uses.note(.isMentioned, "\"isMentioned\"") }
    if let pushContent = row.text(12) {
      uses.note(.pushContent, "\"pushContent\"")
      message.pushContent = pushContent
    }
    if let persisted = try row.flag(13, "persisted") {
      uses.note(.persisted, "\"persisted\"")
      message.persisted = persisted
    }
    if let backlog = try row.flag(14, "backlog") {
      uses.note(.backlog, "\"backlog\"")
      message.backlog = backlog
    }
  }
}

extension JSONObject {
  /// Reads a JSON object that has a message among its fields.
  ///
  /// - Returns: the fields, the message among them, and the message, with what it says of its own
  ///   push; nil if no object is there.
  /// - Throws: as ``init(_:)``, and what is wrong with the message.
  public static func read(
    _ text: [UInt8], messageIn name: String, rules: RuleSet
  ) throws(FileProblem.Problem) -> (
    object: JSONObject, message: (message: Message, content: MessageContent)?
  ) {
    try parse(text) { (value, parser) throws(FileProblem.Problem) in
      let object = JSONObject(value)
      guard let line = value.fields.first(where: { $0.key.text == name })?.value,
        line.kind == PF_JSON_OBJECT
      else { return (object, nil) }
      var isReply = false
      let message = try MessageFields.read(line, under: rules, isReply: &isReply)
      return (object, (message, try ContentFields.read(line, in: parser)))
    }
  }
}
