internal import HTTPTypes
internal import PushContent
internal import PushFiles
internal import PushModel
internal import PushStore

/// One line of a batch: an operation under its vendor's name.
struct SettingsOperation: Sendable {
  private let body: @Sendable (inout StoreWrite) throws -> Void

  func apply(to write: inout StoreWrite) throws { try body(&write) }

  /// - Throws: ``ServerFailure`` 400 or 422 for a line that is not understood.
  init(_ fields: JSONObject, _ rules: RuleSet) throws {
    let line = OperationFields(fields, rules)
    let name = try line.required("op")
    guard let make = Self.operations[name] else {
      throw ServerFailure(
        .unprocessableContent, "unknown_operation",
        "there is no operation \(name); there are \(Self.operations.keys.sorted())")
    }
    body = try make(line)
    try line.checkAllUsed()
  }

  typealias Body = @Sendable (inout StoreWrite) throws -> Void

  private static let operations: [String: @Sendable (OperationFields) throws -> Body] =
    easemob.merging(rongcloud) { first, _ in first }.merging(shared) { first, _ in first }

  // MARK: Easemob

  private static let easemob: [String: @Sendable (OperationFields) throws -> Body] = [
    "setSilentModeForAll": { line in
      let (user, mode) = (try line.id("user"), try line.silentMode(hasInterval: true))
      return { write in try write.setSilentMode(mode, of: user) }
    },
    "setSilentModeForConversation": { line in
      let (user, conversation) = (try line.id("user"), try line.id("conversation"))
      let mode = try line.silentMode(hasInterval: false)
      return { write in try write.setSilentMode(mode, of: user, in: conversation) }
    },
    "clearRemindTypeForConversation": { line in
      let (user, conversation) = (try line.id("user"), try line.id("conversation"))
      return { write in try write.clearLevel(of: user, in: conversation) }
    },
    "updatePushServiceForGroups": noPush,
    "updatePushServiceForUsers": noPush,
    "setPreferredNotificationLanguage": { line in
      let user = try line.id("user")
      let text = try line.text("language")
      let tag = try text.map { text in
        guard let tag = LanguageTag(text) else {
          throw ServerFailure.badRequest("\"language\" \(text) is not a language tag, like zh-Hans")
        }
        return tag
      }
      return { write in try write.setPreferredNotificationLanguage(tag, of: user) }
    },
    "updatePushDisplayName": { line in
      let (user, name) = (try line.id("user"), try line.text("name"))
      return { write in try write.updatePushDisplayName(name, of: user) }
    },
    "setPushTemplate": { line in
      let (user, name) = (try line.id("user"), try line.text("name"))
      return { write in try write.setPushTemplate(name, of: user) }
    },
  ]

  private static let noPush: @Sendable (OperationFields) throws -> Body = { line in
    let (user, conversations) = (try line.id("user"), try line.ids("conversations"))
    let isListed = try line.flag("noPush")
    return { write in try write.setLegacyNoPush(isListed, of: user, in: conversations) }
  }

  // MARK: RongCloud

  private static let rongcloud: [String: @Sendable (OperationFields) throws -> Body] = [
    "setConversationNotificationLevel": { line in
      let (user, conversation) = (try line.id("user"), try line.id("conversation"))
      let level = try line.level("level")
      return { write in try write.setNotificationLevel(level, of: user, in: conversation) }
    },
    "setConversationChannelNotificationLevel": { line in
      let (user, conversation) = (try line.id("user"), try line.id("conversation"))
      let (channel, level) = (try line.channel(), try line.level("level"))
      return { write in
        try write.setNotificationLevel(level, of: user, in: conversation, channel: channel)
      }
    },
    "setConversationTypeNotificationLevel": { line in
      let (user, level) = (try line.id("user"), try line.level("level"))
      let name = try line.required("type")
      guard let kind = ConversationKind(rawValue: name) else {
        throw ServerFailure.badRequest("there is no type of conversation \(name)")
      }
      return { write in try write.setNotificationLevel(level, of: user, forType: kind) }
    },
    "setNotificationQuietHours": { line in
      let (user, start) = (try line.id("user"), try line.required("start"))
      let (minutes, zone) = (Int(try line.number("spanMinutes")), try line.text("timeZone"))
      let level = try line.has("level") ? line.level("level") : .blocked
      return { write in
        try write.setQuietHours(
          start: start, spanMinutes: minutes, level: level, timeZone: zone, of: user)
      }
    },
    "removeNotificationQuietHours": { line in
      let user = try line.id("user")
      return { write in try write.removeQuietHours(of: user) }
    },
    "setUltraGroupConversationDefaultNotificationLevel": { line in
      let (group, level) = (try line.id("conversation"), try line.level("level"))
      return { write in try write.setDefaultLevel(level, ofUltraGroup: group) }
    },
    "setUltraGroupConversationChannelDefaultNotificationLevel": { line in
      let (group, level) = (try line.id("conversation"), try line.level("level"))
      let channel = try line.channel()
      return { write in
        try write.setDefaultLevel(level, ofUltraGroup: group, channel: channel)
      }
    },
    "setPushReceiveStatus": { line in
      let (user, isOn) = (try line.id("user"), try line.flag("receive"))
      return { write in try write.setPushWhenDesktopOnline(isOn, of: user) }
    },
  ]

  // MARK: Both

  private static let shared: [String: @Sendable (OperationFields) throws -> Body] = [
    "setTimeZone": { line in
      let (user, zone) = (try line.id("user"), try line.text("timeZone"))
      return { write in try write.setTimeZone(zone, of: user) }
    },
    "addMember": { line in
      let (user, conversation) = (try line.id("user"), try line.id("conversation"))
      return { write in
        guard let settings = try write.conversation(conversation) else {
          throw StoreError.unknownConversation(conversation)
        }
        guard settings.kind != .thread else { throw StoreError.wrongKind(conversation, .thread) }
        if try write.member(user, of: conversation) == nil {
          try write.setMember(user, of: conversation, MemberSettings())
        }
      }
    },
    "removeMember": { line in
      let (user, conversation) = (try line.id("user"), try line.id("conversation"))
      return { write in try write.removeMember(user, of: conversation) }
    },
    "removeUser": { line in
      let user = try line.id("user")
      return { write in try write.removeUser(user) }
    },
    "removeConversation": { line in
      let conversation = try line.id("conversation")
      return { write in try write.removeConversation(conversation) }
    },
    "bindToken": { line in
      let (user, device) = (try line.id("user"), try line.id("device"))
      let notifier = try line.text("notifier").map { Identifier($0) }
      return { write in try write.bindToken(ofDevice: device, notifier: notifier, of: user) }
    },
    "unbindToken": { line in
      let (user, device) = (try line.id("user"), try line.id("device"))
      return { write in try write.unbindToken(ofDevice: device, of: user) }
    },
    "setDeviceState": { line in
      let (user, device) = (try line.id("user"), try line.id("device"))
      let name = try line.required("state")
      guard let state = Device.State(rawValue: name) else {
        throw ServerFailure.badRequest(
          "there is no state \(name); there are \(Device.State.allCases.map(\.rawValue))")
      }
      return { write in try write.setState(state, ofDevice: device, of: user) }
    },
  ]
}

/// The fields of an operation.
final class OperationFields {
  private let fields: JSONObject
  private let rules: RuleSet
  private var used: Set<String> = []

  init(_ fields: JSONObject, _ rules: RuleSet) {
    self.fields = fields
    self.rules = rules
  }

  func has(_ name: String) -> Bool { fields.has(name) }

  /// The fields, of which one is asked for.
  private func using(_ name: String) -> JSONObject {
    used.insert(name)
    return fields
  }

  func text(_ name: String) throws(FileProblem.Problem) -> String? { try using(name).text(name) }

  func required(_ name: String) throws(FileProblem.Problem) -> String {
    guard let text = try text(name) else { throw .missingField(name) }
    return text
  }

  func id(_ name: String) throws(FileProblem.Problem) -> Identifier {
    try using(name).identifier(name)
  }

  func ids(_ name: String) throws(FileProblem.Problem) -> [Identifier] {
    try using(name).identifiers(name)
  }

  /// A channel, which may be `""`.
  func channel() throws(FileProblem.Problem) -> Identifier { Identifier(try required("channel")) }

  func number(_ name: String) throws(FileProblem.Problem) -> Int64 {
    guard let number = try using(name).whole(name) else { throw .missingField(name) }
    return number
  }

  func flag(_ name: String) throws(FileProblem.Problem) -> Bool {
    guard let flag = try using(name).flag(name) else { throw .missingField(name) }
    return flag
  }

  /// A level by its name, or under RongCloud's rules by its number.
  func level(_ name: String) throws -> NotificationLevel {
    if rules == .rongcloud, let number = try? using(name).whole(name) {
      return try NotificationLevel(rongCloudNumber: number)
    }
    let text = try required(name)
    guard let level = NotificationLevel.allCases.first(where: { $0.name == text }),
      level.exists(under: rules)
    else {
      let names = NotificationLevel.allCases.filter { $0.exists(under: rules) }.map(\.name)
      throw ServerFailure.badRequest("there is no level \(text); there are \(names)")
    }
    return level
  }

  /// Level, minutes and interval of Easemob's silent mode.
  func silentMode(hasInterval: Bool) throws -> SilentModeWrite {
    var mode = SilentModeWrite()
    if has("level") { mode.level = try level("level") }
    if has("minutes") {
      mode.duration = try MuteDuration(minutes: try number("minutes"))
    }
    if hasInterval, has("start") || has("end") {
      let (start, end) = (try required("start"), try required("end"))
      mode.interval = try QuietInterval.parse(start: start, end: end).map { .set($0) } ?? .remove
    }
    guard mode != SilentModeWrite() else {
      throw ServerFailure.badRequest(
        "nothing to set: send level, minutes" + (hasInterval ? ", or start and end" : ""))
    }
    return mode
  }

  /// - Throws: ``ServerFailure`` 400 for a field that the operation does not have.
  func checkAllUsed() throws(ServerFailure) {
    if let name = fields.names.first(where: { !used.contains($0) }) {
      throw .badRequest("the operation has no field \"\(name)\"; it has \(used.sorted())")
    }
  }
}
