internal import CPushFiles
internal import PushModel

extension SettingsRecord {
  /// Reads a line of settings.ndjson.
  ///
  /// - Parameter extra: a field that a line of another file may have beside, and that is not read
  ///   here.
  static func read(
    _ line: JSONValue, _ uses: inout VendorFieldUse, _ checked: inout ParseCache,
    beside extra: StaticString? = nil
  ) throws(FileProblem.Problem) -> SettingsRecord {
    guard let kind = line.fields.first(where: { "kind" ~= $0.key })?.value else {
      throw .missingField("kind")
    }
    switch kind {
    case "app": return .app(try app(line, &uses, &checked, extra))
    case "user": return try user(line, &uses, &checked, extra)
    case "conversation": return try conversation(line, &uses, extra)
    case "member": return try MemberFields(line, &uses, beside: extra).record
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
    "app": [
      "kind", "rules", "timeZone", "devicePolicy", "advancedPush", "level", "quiet",
      "messageNotification", "options",
    ],
    "user": [
      "kind", "id", "level", "levels", "quietHours", "quiet", "timeZone", "mutedUntil",
      "mutedAllow", "keywords", "importantSenders", "blockedSenders", "allowForce",
      "pushWhenDesktopOnline", "localNotification", "devices", "display", "remarks",
    ],
    "conversation": ["kind", "id", "type", "parent", "level", "channels", "name"],
    "member": [
      "kind", "conversation", "user", "level", "mutedUntil", "since", "channels", "important",
      "follow", "roles", "nickname",
    ],
    "localNotification": ["informationMissing", "handledByApp"],
    "quietHours": ["start", "end", "spanMinutes", "level", "timeZone"],
    "devices": ["id", "type", "state", "token", "notifier", "backgroundSince", "seenAt"],
  ]

  private static func unknown(_ key: JSONKey, of object: String) -> FileProblem.Problem {
    .unknownField(key.text, among: fields[object] ?? [], of: object)
  }

  // MARK: app

  private static func app(
    _ line: JSONValue, _ uses: inout VendorFieldUse, _ checked: inout ParseCache,
    _ extra: StaticString?
  ) throws(FileProblem.Problem) -> AppSettings {
    var app = AppSettings()
    // Before the options, which are read by the rules.
    if let rules = line.fields.first(where: { "rules" ~= $0.key })?.value {
      app.rules = try rules.choice("rules")
    }
    for (key, value) in line.fields {
      switch key {
      case "kind", "rules": break
      case "timeZone": app.timeZone = try value.zone("timeZone", &checked)
      case "devicePolicy":
        uses.note(.devicePolicy, "\"devicePolicy\"")
        app.devicePolicy = try value.choice("devicePolicy")
      case "advancedPush":
        uses.note(.advancedPush, "\"advancedPush\"")
        app.advancedPush = try value.flag("advancedPush")
      case "level":
        uses.note(.appLevel, "the app's \"level\"")
        app.level = try value.level("level", &uses)
      case "quiet":
        uses.note(.quietWindows, "\"quiet\"")
        app.quietHours = try value.quietWindows("quiet", &uses)
      case "messageNotification":
        uses.note(.messageNotification, "\"messageNotification\"")
        app.messageNotification = try value.flag("messageNotification")
      case "options": try app.readOptions(value.object("options"), &uses)
      default: try refuse(key, but: extra, among: fields["app"] ?? [])
      }
    }
    return app
  }

  // MARK: user

  private static func user(
    _ line: JSONValue, _ uses: inout VendorFieldUse, _ checked: inout ParseCache,
    _ extra: StaticString?
  ) throws(FileProblem.Problem) -> SettingsRecord {
    var id: Identifier?
    var user = UserSettings()
    for (key, value) in line.fields {
      switch key {
      case "kind": break
      case "id": id = try value.identifier("id")
      case "level":
        uses.note(.userLevel, "a user's \"level\"")
        user.level = try value.level("level", &uses)
      case "levels":
        uses.note(.kindLevels, "\"levels\"")
        for (kind, level) in try value.object("levels") {
          let kind: ConversationKind = try TextValue.choice(kind.text, "levels")
          guard kind.hasLevels else {
            throw .unknownField("levels.\(kind.rawValue)", nearest: nil)
          }
          user.levels[kind] = try level.vendorLevel("levels.\(kind.rawValue)", &uses)
        }
      case "quietHours":
        uses.note(.quietHoursObject, "\"quietHours\"")
        user.quietHours = try quietHours(value, &uses, &checked)
      case "quiet":
        uses.note(.quietWindows, "\"quiet\"")
        user.quietHours = try value.quietWindows("quiet", &uses)
      case "mutedAllow":
        uses.note(.mutedAllow, "\"mutedAllow\"")
        user.mutedAllow = try value.classes("mutedAllow", &uses)
      case "allowForce":
        uses.note(.allowForce, "\"allowForce\"")
        user.allowForce = try value.flag("allowForce")
      case "keywords":
        uses.note(.keywords, "\"keywords\"")
        let keywords = try value.strings("keywords")
        try checkingWrite("keywords") { () throws(SettingsWriteError) in
          try user.setKeywords(keywords)
        }
      case "importantSenders":
        uses.note(.importantSenders, "\"importantSenders\"")
        user.importantSenders = try value.identifiers("importantSenders")
      case "blockedSenders":
        uses.note(.blockedSenders, "\"blockedSenders\"")
        user.blockedSenders = try value.identifiers("blockedSenders")
      case "timeZone": user.timeZone = try value.zone("timeZone", &checked)
      case "mutedUntil":
        uses.note(.userMute, "\"mutedUntil\"")
        user.mutedUntil = try value.instant("mutedUntil")
      case "pushWhenDesktopOnline":
        uses.note(.pushWhenDesktopOnline, "\"pushWhenDesktopOnline\"")
        user.pushWhenDesktopOnline = try value.flag("pushWhenDesktopOnline")
      case "localNotification":
        uses.note(.localNotification, "\"localNotification\"")
        for (key, value) in try value.object("localNotification") {
          switch key {
          case "informationMissing":
            user.localInformationMissing = try value.flag("informationMissing")
          case "handledByApp": user.localHandledByApp = try value.flag("handledByApp")
          default: throw unknown(key, of: "localNotification")
          }
        }
      case "devices": user.devices = try devices(value, &uses)
      case "display", "remarks": uses.note(.display, "\"\(key.text)\"")  // ContentCollector's
      default: try refuse(key, but: extra, among: fields["user"] ?? [])
      }
    }
    guard let id else { throw .missingField("id") }
    if user.hasOpenFields {
      try checkingWrite("blockedSenders") { () throws(SettingsWriteError) in
        try user.setSenders(important: user.importantSenders, blocked: user.blockedSenders)
      }
    }
    return .user(id, user)
  }

  /// Writes a value, and says of which field it is what is refused.
  fileprivate static func checkingWrite(
    _ field: String, _ write: () throws(SettingsWriteError) -> Void
  ) throws(FileProblem.Problem) {
    do throws(SettingsWriteError) { try write() } catch { throw .refused(field, error) }
  }

  private static func quietHours(
    _ value: JSONValue, _ uses: inout VendorFieldUse, _ checked: inout ParseCache
  ) throws(FileProblem.Problem) -> QuietHours? {
    var start: JSONValue?
    var end: JSONValue?
    var span: Int64?
    var level = NotificationLevel.unset
    var zone: String?
    var isSpan = false
    for (key, value) in try value.object("quietHours") {
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
        zone = try value.zone("quietHours.timeZone", &checked)
        uses.note(.quietSpan, "\"quietHours.timeZone\"")
        isSpan = true
      default: throw unknown(key, of: "quietHours")
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

  private static func devices(
    _ value: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> [Device] {
    guard value.kind == PF_JSON_ARRAY else {
      throw .wrongType("devices", expected: "an array of objects")
    }
    var devices: [Device] = []
    for item in value.items {
      guard item.kind == PF_JSON_OBJECT else {
        throw .wrongType("devices", expected: "an array of objects")
      }
      let device = try self.device(item, &uses)
      if devices.contains(where: { $0.id == device.id }) { throw .repeatedDevice(device.id.text) }
      devices.append(device)
    }
    return devices
  }

  private static func device(
    _ value: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> Device {
    var id: Identifier?
    var device = Device.default
    for (key, value) in value.fields {
      switch key {
      case "id": id = try value.identifier("devices.id")
      case "type":
        device.kind = "mobile" ~= value ? .mobile : try value.choice("devices.type")
      case "state":
        device.state = "offline" ~= value ? .offline : try value.choice("devices.state")
      case "token": device.hasToken = try value.flag("devices.token")
      case "notifier": device.notifier = Identifier(try value.text("devices.notifier"))
      case "backgroundSince":
        uses.note(.backgroundSince, "\"devices.backgroundSince\"")
        device.backgroundSince = try value.instant("devices.backgroundSince")
      case "seenAt":
        uses.note(.seenAt, "\"devices.seenAt\"")
        device.seenAt = try value.instant("devices.seenAt")
      default: throw unknown(key, of: "devices")
      }
    }
    guard let id else { throw .missingField("devices.id") }
    device.id = id
    return device
  }

  // MARK: conversation and member

  private static func conversation(
    _ line: JSONValue, _ uses: inout VendorFieldUse, _ extra: StaticString?
  ) throws(FileProblem.Problem) -> SettingsRecord {
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
        settings.channels = try channels(value, &uses)
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
    return .conversation(id, settings)
  }

  fileprivate static func channels(
    _ value: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> [Identifier: NotificationLevel] {
    uses.note(.channels, "\"channels\"")
    var channels: [Identifier: NotificationLevel] = [:]
    for (key, value) in try value.object("channels") {
      channels[Identifier(key.text)] = try value.vendorLevel("channels.\(key.text)", &uses)
    }
    return channels
  }
}

/// A member's record as a line of settings.ndjson has it: its ids are parts of the line.
///
/// SAFETY: used before the parser reads the next line, as is its ``JSONValue``.
@safe struct MemberFields {
  var conversation: UnsafeRawBufferPointer
  var user: UnsafeRawBufferPointer
  var settings = MemberSettings()
  var present = PresentFields()

  init(
    _ line: JSONValue, _ uses: inout VendorFieldUse, beside extra: StaticString? = nil
  ) throws(FileProblem.Problem) {
    var conversation: UnsafeRawBufferPointer?
    var user: UnsafeRawBufferPointer?
    for (key, value) in line.fields {
      switch key {
      case "kind": break
      case "conversation": unsafe conversation = try Self.id(value, "conversation")
      case "user": unsafe user = try Self.id(value, "user")
      case "level": settings.level = try value.level("level", &uses)
      case "mutedUntil":
        uses.note(.memberMute, "\"mutedUntil\"")
        settings.mutedUntil = try value.instant("mutedUntil")
      case "since":
        settings.since = try value.instant("since")
        present.since = true
      case "channels":
        settings.channels = try SettingsRecord.channels(value, &uses)
        present.channels = true
      case "important":
        uses.note(.important, "\"important\"")
        settings.isImportant = try value.flag("important")
      case "follow":
        uses.note(.follow, "\"follow\"")
        settings.isFollowing = try value.flag("follow")
        present.follow = true
      case "roles":
        uses.note(.roles, "\"roles\"")
        present.roles = true
        settings.roles = try Self.roles(value)
      case "nickname": uses.note(.display, "\"nickname\"")  // ContentNote's
      default:
        try SettingsRecord.refuse(key, but: extra, among: SettingsRecord.fields["member"] ?? [])
      }
    }
    guard let conversation = unsafe conversation else { throw .missingField("conversation") }
    guard let user = unsafe user else { throw .missingField("user") }
    unsafe (self.conversation, self.user) = (conversation, user)
  }

  private static func roles(_ value: JSONValue) throws(FileProblem.Problem) -> [Identifier] {
    var member = MemberSettings()
    let roles = try value.identifiers("roles")
    try SettingsRecord.checkingWrite("roles") { () throws(SettingsWriteError) in
      try member.setRoles(roles)
    }
    return member.roles
  }

  private static func id(
    _ value: JSONValue, _ field: String
  ) throws(FileProblem.Problem) -> UnsafeRawBufferPointer {
    let utf8 = try unsafe value.utf8(field)
    if unsafe utf8.isEmpty { throw .emptyID(field) }
    return unsafe utf8
  }

  var userID: Identifier { unsafe Identifier(utf8: user) }
  var conversationID: Identifier { unsafe Identifier(utf8: conversation) }
  var record: SettingsRecord { .member(userID, of: conversationID, settings, present) }
}
