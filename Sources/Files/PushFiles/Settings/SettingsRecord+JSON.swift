internal import CPushFiles
internal import PushModel

extension SettingsRecord {
  static func kind(of line: JSONValue) throws(FileProblem.Problem) -> JSONValue {
    guard let kind = line.fields.first(where: { "kind" ~= $0.key })?.value else {
      throw .missingField("kind")
    }
    return kind
  }

  /// Reads a line of settings.ndjson.
  ///
  /// - Parameters:
  ///   - kind: what ``kind(of:)`` says.
  ///   - extra: a field that a line of another file may have beside, and that is not read here.
  static func read(
    _ kind: JSONValue, _ line: JSONValue, under rules: RuleSet?, _ checked: ParseCache,
    beside extra: StaticString? = nil
  ) throws(FileProblem.Problem) -> (record: SettingsRecord, uses: VendorFieldUse) {
    switch kind {
    case "app": return try app(line, rules, checked, extra)
    case "user": return try user(line, rules, checked, extra)
    case "conversation": return try conversation(line, rules, extra)
    case "member":
      let member = try MemberFields(line, rules, checked, beside: extra)
      return (member.record, member.uses)
    default: throw .unknownKind(try kind.text("kind"))
    }
  }

  /// - Parameter known: the fields that the record has, for a name that is near one of them.
  fileprivate static func refuse(
    _ key: JSONKey, but extra: StaticString?, among known: [String]
  ) throws(FileProblem.Problem) {
    if let extra, extra ~= key { return }
    throw .unknownField(key.text, among: known)
  }

  /// The fields of records, by their kind, and of objects in them.
  static let fields: [String: [String]] = [
    "app": ["kind", "rules"] + AppSettings.list.names + ["options"],
    "user": ["kind", "id"] + UserSettings.list.names + ["display", "remarks"],
    "conversation": ["kind", "id", "type", "parent", "level", "channels", "name"],
    "member": ["kind", "conversation", "user"] + MemberSettings.list.names + ["nickname"],
    "localNotification": ["informationMissing", "handledByApp"],
    "quietHours": ["start", "end", "spanMinutes", "level", "timeZone"],
    "devices": [
      "id", "type", "state", "token", "notifier", "platform", "fid", "backgroundSince", "seenAt",
    ],
  ]

  static func unknown(_ key: JSONKey, of object: String) -> FileProblem.Problem {
    .unknownField(key.text, among: fields[object] ?? [], of: object)
  }

  // MARK: app

  private static func app(
    _ line: JSONValue, _ rules: RuleSet?, _ checked: ParseCache, _ extra: StaticString?
  ) throws(FileProblem.Problem) -> (record: SettingsRecord, uses: VendorFieldUse) {
    var app = AppSettings()
    // Before the options, which are read by the rules.
    if let rules = line.fields.first(where: { "rules" ~= $0.key })?.value {
      app.rules = try rules.choice("rules")
    }
    var reader = FieldReader(app, level: "the app's \"level\"", in: line, rules, checked)
    for (key, value) in line.fields {
      switch key {
      case "kind", "rules": break
      case _ where try reader.read(key, value): break
      case "options": try reader.readOptions(value.object("options"))
      default: try refuse(key, but: extra, among: fields["app"] ?? [])
      }
    }
    let read = reader.end()
    return (.app(read.record), read.uses)
  }

  // MARK: user

  private static func user(
    _ line: JSONValue, _ rules: RuleSet?, _ checked: ParseCache, _ extra: StaticString?
  ) throws(FileProblem.Problem) -> (record: SettingsRecord, uses: VendorFieldUse) {
    var id: Identifier?
    var reader = FieldReader(UserSettings(), level: "a user's \"level\"", in: line, rules, checked)
    for (key, value) in line.fields {
      switch key {
      case "kind": break
      case "id": id = try value.identifier("id")
      case _ where try reader.read(key, value): break
      case "display", "remarks":
        reader.uses.note(.display, "\"\(key.text)\"")  // ContentCollector's
      default: try refuse(key, but: extra, among: fields["user"] ?? [])
      }
    }
    guard let id else { throw .missingField("id") }
    var (user, uses) = reader.end()
    if user.hasOpenFields {
      do throws(SettingsWriteError) {
        try user.setSenders(important: user.importantSenders, blocked: user.blockedSenders)
      } catch {
        throw .refused("blockedSenders", error)
      }
    }
    return (.user(id, user), uses)
  }

  // MARK: conversation and member

  private static func conversation(
    _ line: JSONValue, _ rules: RuleSet?, _ extra: StaticString?
  ) throws(FileProblem.Problem) -> (record: SettingsRecord, uses: VendorFieldUse) {
    var uses = VendorFieldUse(under: rules)
    var id: Identifier?
    var settings = ConversationSettings()
    var saysDefaults: String?
    for (key, value) in line.fields {
      switch key {
      case "kind": break
      case "id": id = try value.identifier("id")
      case "type":
        settings.kind = try value.choice("type")
        uses.note(settings.kind, "the conversation type \(settings.kind.rawValue)")
      case "parent": settings.parent = try value.identifier("parent")
      case "level":
        settings.level = try value.level("level", &uses)
        saysDefaults = "level"
      case "channels":
        uses.note(.channels, "\"channels\"")
        settings.channels = try value.channelLevels("channels", &uses)
        saysDefaults = "channels"
      case "name":  // ContentCollector's
        let count = value.kind == PF_JSON_STRING ? unsafe value.utf8.count : nil
        if !(1...256).contains(count ?? 0) { uses.note(nameOfBytes: count) }
      default: try refuse(key, but: extra, among: fields["conversation"] ?? [])
      }
    }
    guard let id else { throw .missingField("id") }
    if settings.kind == .thread, settings.parent == nil {
      uses.note(missing: "parent", but: .threadWithoutParent)
    }
    if settings.kind != .thread, settings.parent != nil {
      throw .unknownField("parent", nearest: nil)
    }
    if let saysDefaults {
      let kinds: [ConversationKind] =
        saysDefaults == "level" ? [.ultraGroup, .group, .private] : [.ultraGroup]
      guard kinds.contains(settings.kind) else { throw .unknownField(saysDefaults, nearest: nil) }
      if settings.kind == .ultraGroup {
        if saysDefaults == "level" { uses.note(.conversationLevel, "a conversation's \"level\"") }
      } else {
        uses.note(unknown: saysDefaults, but: .groupLevel)
      }
    }
    return (.conversation(id, settings), uses)
  }
}

// Values that are objects or lists.
extension JSONValue {
  /// Levels by kind of conversation.
  func kindLevels(
    _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> KindLevels {
    var levels = KindLevels()
    for (kind, level) in try object(field) {
      let kind: ConversationKind = try TextValue.choice(kind.text, field)
      guard kind.hasLevels else { throw .unknownField("\(field).\(kind.rawValue)", nearest: nil) }
      levels[kind] = try level.vendorLevel("\(field).\(kind.rawValue)", &uses)
    }
    return levels
  }

  func channelLevels(
    _ field: String, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> [Identifier: NotificationLevel] {
    var channels: [Identifier: NotificationLevel] = [:]
    for (key, value) in try object(field) {
      channels[Identifier(key.text)] = try value.vendorLevel("\(field).\(key.text)", &uses)
    }
    return channels
  }

  func quietHours(
    _ uses: inout VendorFieldUse, _ checked: ParseCache
  ) throws(FileProblem.Problem) -> QuietHours? {
    var start: JSONValue?
    var end: JSONValue?
    var span: Int64?
    var level = NotificationLevel.unset
    var zone: String?
    var isSpan = false
    for (key, value) in try object("quietHours") {
      switch key {
      case "start": start = value
      case "end":
        end = value
        uses.note(.quietInterval, "\"quietHours.end\"")
      case "spanMinutes":
        span = try value.whole("quietHours.spanMinutes", in: 0...1439)
        uses.note(.quietSpan, "\"quietHours.spanMinutes\"")
        isSpan = true
      case "level":
        uses.note(.quietSpan, "\"quietHours.level\"")
        level = try value.level("quietHours.level", &uses)
        isSpan = true
      case "timeZone":
        zone = try value.zone("quietHours.timeZone", checked)
        uses.note(.quietSpan, "\"quietHours.timeZone\"")
        isSpan = true
      default: throw SettingsRecord.unknown(key, of: "quietHours")
      }
    }
    guard let start else { throw .missingField("quietHours.start") }
    if !isSpan {
      guard let end else { throw .missingField("quietHours.end") }
      return try unsafe checked.interval(
        start: start.utf8("quietHours.start"), end: end.utf8("quietHours.end"))
    }
    guard let span else { throw .missingField("quietHours.spanMinutes") }
    return try TextValue.span(
      start: start.text("quietHours.start"), spanMinutes: Int(span), level: level, timeZone: zone)
  }

  func devices(
    _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> [Device] {
    guard kind == PF_JSON_ARRAY else {
      throw .wrongType("devices", expected: "an array of objects")
    }
    var devices: [Device] = []
    for item in items {
      guard item.kind == PF_JSON_OBJECT else {
        throw .wrongType("devices", expected: "an array of objects")
      }
      let device = try item.device(&uses)
      if devices.contains(where: { $0.id == device.id }) { throw .repeatedDevice(device.id.text) }
      devices.append(device)
    }
    return devices
  }

  private func device(
    _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> Device {
    var id: Identifier?
    var device = Device.default
    var platform: PushPlatform?
    var token: String?
    var fid: String?
    for (key, value) in fields {
      switch key {
      case "id": id = try value.identifier("devices.id")
      case "type":
        device.kind = "mobile" ~= value ? .mobile : try value.choice("devices.type")
      case "state":
        device.state = "offline" ~= value ? .offline : try value.choice("devices.state")
      case "token":
        token = value.string
        if token != nil { uses.note(.deviceAddress, "a string as \"devices.token\"") }
        guard let hasToken = token != nil ? true : value.bool else {
          throw .wrongType("devices.token", expected: "true, false or a string")
        }
        device.hasToken = hasToken
      case "platform":
        uses.note(.deviceAddress, "\"devices.platform\"")
        platform = try value.choice("devices.platform")
      case "fid":
        uses.note(.deviceAddress, "\"devices.fid\"")
        fid = try value.text("devices.fid")
      case "notifier": device.notifier = Identifier(try value.text("devices.notifier"))
      case "backgroundSince":
        uses.note(.backgroundSince, "\"devices.backgroundSince\"")
        device.backgroundSince = try value.instant("devices.backgroundSince")
      case "seenAt":
        uses.note(.seenAt, "\"devices.seenAt\"")
        device.seenAt = try value.instant("devices.seenAt")
      default: throw SettingsRecord.unknown(key, of: "devices")
      }
    }
    guard let id else { throw .missingField("devices.id") }
    device.id = id
    if platform != nil || token != nil || fid != nil {
      do throws(SettingsWriteError) {
        device.address = try DeviceAddress(platform: platform, token: token, fid: fid)
      } catch {
        throw .refused("devices", error)
      }
    }
    return device
  }
}

/// A member's record as a line of settings.ndjson has it: its ids are parts of the line.
///
/// SAFETY: used before the parser reads the next line, as is its ``JSONValue``.
@safe struct MemberFields {
  var conversation: UnsafeRawBufferPointer
  var user: UnsafeRawBufferPointer
  let settings: MemberSettings
  let present: PresentFields
  let uses: VendorFieldUse

  init(
    _ line: JSONValue, _ rules: RuleSet?, _ checked: ParseCache, beside extra: StaticString? = nil
  ) throws(FileProblem.Problem) {
    var conversation: UnsafeRawBufferPointer?
    var user: UnsafeRawBufferPointer?
    var reader = FieldReader(
      MemberSettings(), level: "a member's \"level\"", in: line, rules, checked)
    for (key, value) in line.fields {
      switch key {
      case "kind": break
      case "conversation": unsafe conversation = try Self.id(value, "conversation")
      case "user": unsafe user = try Self.id(value, "user")
      case _ where try reader.read(key, value): break
      case "nickname": reader.uses.note(.display, "\"nickname\"")  // DisplayRecord's
      default:
        try SettingsRecord.refuse(key, but: extra, among: SettingsRecord.fields["member"] ?? [])
      }
    }
    guard let conversation = unsafe conversation else { throw .missingField("conversation") }
    guard let user = unsafe user else { throw .missingField("user") }
    unsafe (self.conversation, self.user) = (conversation, user)
    present = PresentFields(
      since: reader.columns.contains(.since), channels: reader.owners.contains(.channels),
      follow: reader.owners.contains(.follow), roles: reader.owners.contains(.roles))
    (settings, uses) = reader.end()
  }

  private static func id(
    _ value: JSONValue, _ field: StaticString
  ) throws(FileProblem.Problem) -> UnsafeRawBufferPointer {
    let utf8 = try unsafe value.utf8(field)
    if unsafe utf8.isEmpty { throw .emptyID("\(field)") }
    return unsafe utf8
  }

  var userID: Identifier { unsafe Identifier(utf8: user) }
  var conversationID: Identifier { unsafe Identifier(utf8: conversation) }
  var record: SettingsRecord { .member(userID, of: conversationID, settings, present) }
}
