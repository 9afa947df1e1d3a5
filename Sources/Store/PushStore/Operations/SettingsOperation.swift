internal import Foundation
public import PushContent
public import PushModel

/// An operation on settings, under its vendor's name or one of open rules.
///
/// Cases and labels are the names in JSON, `{"op":"setTimeZone","user":"u1","timeZone":"UTC"}`; a
/// field that is nil is left out. What an operation does, and what it throws, is said of the function
/// that it calls.
public enum SettingsOperation: Hashable, Sendable, Codable {
  // MARK: Easemob

  /// ``StoreWrite/setSilentMode(_:of:)``; both times empty remove the window.
  case setSilentModeForAll(
    user: Identifier, level: NotificationLevel? = nil, minutes: Int64? = nil, start: String? = nil,
    end: String? = nil)
  /// ``StoreWrite/setSilentMode(_:of:in:)``.
  case setSilentModeForConversation(
    user: Identifier, conversation: Identifier, level: NotificationLevel? = nil,
    minutes: Int64? = nil)
  /// ``StoreWrite/clearLevel(of:in:)``.
  case clearRemindTypeForConversation(user: Identifier, conversation: Identifier)
  /// ``StoreWrite/setLegacyNoPush(_:of:in:)``.
  case updatePushServiceForGroups(user: Identifier, conversations: [Identifier], noPush: Bool)
  /// The same.
  case updatePushServiceForUsers(user: Identifier, conversations: [Identifier], noPush: Bool)
  /// ``StoreWrite/setPreferredNotificationLanguage(_:of:)``.
  case setPreferredNotificationLanguage(user: Identifier, language: LanguageTag?)
  /// ``StoreWrite/updatePushDisplayName(_:of:)``.
  case updatePushDisplayName(user: Identifier, name: String?)
  /// ``StoreWrite/setPushTemplate(_:of:)``.
  case setPushTemplate(user: Identifier, name: String?)

  // MARK: RongCloud

  /// ``StoreWrite/setNotificationLevel(_:of:in:)``.
  case setConversationNotificationLevel(
    user: Identifier, conversation: Identifier, level: NotificationLevel)
  /// ``StoreWrite/setNotificationLevel(_:of:in:channel:)``.
  case setConversationChannelNotificationLevel(
    user: Identifier, conversation: Identifier, channel: Identifier, level: NotificationLevel)
  /// ``StoreWrite/setNotificationLevel(_:of:forType:)``.
  case setConversationTypeNotificationLevel(
    user: Identifier, level: NotificationLevel, type: ConversationKind)
  /// ``StoreWrite/setQuietHours(start:spanMinutes:level:timeZone:of:)``; without a level, the window
  /// lets nothing through.
  case setNotificationQuietHours(
    user: Identifier, start: String, spanMinutes: Int64, timeZone: String? = nil,
    level: NotificationLevel? = nil)
  /// ``StoreWrite/removeQuietHours(of:)``.
  case removeNotificationQuietHours(user: Identifier)
  /// ``StoreWrite/setDefaultLevel(_:ofUltraGroup:)``.
  case setUltraGroupConversationDefaultNotificationLevel(
    conversation: Identifier, level: NotificationLevel)
  /// ``StoreWrite/setDefaultLevel(_:ofUltraGroup:channel:)``.
  case setUltraGroupConversationChannelDefaultNotificationLevel(
    conversation: Identifier, level: NotificationLevel, channel: Identifier)
  /// ``StoreWrite/setPushWhenDesktopOnline(_:of:)``.
  case setPushReceiveStatus(user: Identifier, receive: Bool)

  // MARK: Open rules

  /// ``StoreWrite/setLevel(_:of:in:)``.
  case setLevel(
    user: Identifier, conversation: Identifier? = nil, level: MessageClasses? = nil)
  /// ``StoreWrite/setDefaultLevel(_:of:)``.
  case setDefaultLevel(conversation: Identifier, level: MessageClasses? = nil)
  /// ``StoreWrite/mute(until:_:in:)``, zero for no mute.
  case muteUntil(user: Identifier, conversation: Identifier? = nil, mutedUntil: Instant)
  /// ``StoreWrite/setMutedAllow(_:of:)``.
  case setMutedAllow(user: Identifier, allow: MessageClasses)
  /// ``StoreWrite/setAllowForce(_:of:)``.
  case setAllowForce(user: Identifier, allowForce: Bool)
  /// ``StoreWrite/addQuietWindow(_:of:)``; without days it starts on every day.
  case addQuietWindow(
    user: Identifier, days: [String]? = nil, start: String, end: String,
    allow: MessageClasses? = nil)
  /// ``StoreWrite/removeQuietWindow(at:of:)``.
  case removeQuietWindow(user: Identifier, position: Int64)
  /// ``StoreWrite/clearQuietWindows(of:keepsNone:)``.
  case clearQuietWindows(user: Identifier, keepsNone: Bool? = nil)
  /// ``StoreWrite/addKeyword(_:of:)``.
  case addKeyword(user: Identifier, keyword: String)
  /// ``StoreWrite/removeKeyword(_:of:)``.
  case removeKeyword(user: Identifier, keyword: String)
  /// ``StoreWrite/addSender(_:to:of:)``.
  case addSender(user: Identifier, other: Identifier, list: SenderList)
  /// ``StoreWrite/removeSender(_:from:of:)``.
  case removeSender(user: Identifier, other: Identifier, list: SenderList)
  /// ``StoreWrite/setImportant(_:of:in:)``.
  case setImportant(user: Identifier, conversation: Identifier, important: Bool)
  /// ``StoreWrite/setFollow(_:of:in:)``.
  case setFollow(user: Identifier, conversation: Identifier, follow: Bool? = nil)
  /// ``StoreWrite/setRoles(_:of:in:)``.
  case setRoles(user: Identifier, conversation: Identifier, roles: [Identifier])

  // MARK: All

  /// ``StoreWrite/setTimeZone(_:of:)``.
  case setTimeZone(user: Identifier, timeZone: String?)
  /// ``StoreWrite/addMember(_:of:)``.
  case addMember(user: Identifier, conversation: Identifier)
  /// ``StoreWrite/removeMember(_:of:)``.
  case removeMember(user: Identifier, conversation: Identifier)
  /// ``StoreWrite/removeUser(_:)``.
  case removeUser(user: Identifier)
  /// ``StoreWrite/removeConversation(_:)``.
  case removeConversation(conversation: Identifier)
  /// ``StoreWrite/bindToken(ofDevice:kind:notifier:address:of:)``.
  case bindToken(
    user: Identifier, device: Identifier, type: Device.Kind? = nil, notifier: Identifier? = nil,
    platform: PushPlatform? = nil, token: String? = nil, fid: String? = nil)
  /// ``StoreWrite/unbindToken(ofDevice:of:)``.
  case unbindToken(user: Identifier, device: Identifier)
  /// ``StoreWrite/setState(_:ofDevice:of:)``.
  case setDeviceState(user: Identifier, device: Identifier, state: Device.State)

  // MARK: Of older clients, consoles, and an app's own server

  /// ``StoreWrite/setLegacyNoDisturbing(startHour:endHour:of:)``.
  case setNoDisturbing(user: Identifier, startHour: Int64, endHour: Int64)
  /// ``StoreWrite/setLegacyState(_:of:in:)``.
  case setConversationNotificationStatus(
    user: Identifier, conversation: Identifier, doNotDisturb: Bool)
  /// ``StoreWrite/setAdvancedPush(_:)``.
  case setAdvancedPush(isOn: Bool)
  /// ``StoreWrite/setDevicePolicy(_:)``.
  case setDevicePolicy(policy: AppSettings.DevicePolicy)
  /// ``StoreWrite/setTemplate(_:)``.
  case setTemplate(name: String, title: String? = nil, content: String)
  /// ``StoreWrite/removeTemplate(_:)``.
  case removeTemplate(name: String)
  /// ``StoreWrite/setAppKeyLevel(_:)``.
  case setAppKeyLevel(level: NotificationLevel)
  /// ``StoreWrite/setAppLevel(_:)``.
  case setAppLevel(level: MessageClasses? = nil)
  /// ``StoreWrite/setMessageNotification(_:)``.
  case setMessageNotification(isOn: Bool)
  /// ``StoreWrite/updatePushDisplayStyle(_:of:)``.
  case updatePushDisplayStyle(user: Identifier, style: DisplayStyle?)
  /// ``StoreWrite/setRemark(_:for:by:)``.
  case setRemark(user: Identifier, other: Identifier, remark: String?)
  /// ``StoreWrite/setOfflineMessages(_:of:)``.
  case setOfflineMessages(user: Identifier, count: UInt32)
  /// ``StoreWrite/kick(device:of:)``.
  case kickDevice(user: Identifier, device: Identifier)
  /// ``StoreWrite/logOut(device:of:keepingToken:)``.
  case logOutDevice(user: Identifier, device: Identifier, keepsToken: Bool)
  /// ``StoreWrite/remove(device:of:)``.
  case removeDevice(user: Identifier, device: Identifier)

  enum CodingKeys: String, CodingKey, CaseIterable {
    case setSilentModeForAll, setSilentModeForConversation, clearRemindTypeForConversation
    case updatePushServiceForGroups, updatePushServiceForUsers, setPreferredNotificationLanguage
    case updatePushDisplayName, setPushTemplate
    case setConversationNotificationLevel, setConversationChannelNotificationLevel
    case setConversationTypeNotificationLevel, setNotificationQuietHours
    case removeNotificationQuietHours, setUltraGroupConversationDefaultNotificationLevel
    case setUltraGroupConversationChannelDefaultNotificationLevel, setPushReceiveStatus
    case setLevel, setDefaultLevel, muteUntil, setMutedAllow, setAllowForce, addQuietWindow
    case removeQuietWindow, clearQuietWindows, addKeyword, removeKeyword, addSender, removeSender
    case setImportant, setFollow, setRoles
    case setTimeZone, addMember, removeMember, removeUser, removeConversation, bindToken
    case unbindToken, setDeviceState
    case setNoDisturbing, setConversationNotificationStatus, setAdvancedPush, setDevicePolicy
    case setTemplate, removeTemplate, setAppKeyLevel, setAppLevel, setMessageNotification
    case updatePushDisplayStyle, setRemark, setOfflineMessages
    case kickDevice, logOutDevice, removeDevice
  }

  /// The operation's name.
  public var name: String { key.rawValue }

  private var key: CodingKeys {
    switch self {
    case .setSilentModeForAll: .setSilentModeForAll
    case .setSilentModeForConversation: .setSilentModeForConversation
    case .clearRemindTypeForConversation: .clearRemindTypeForConversation
    case .updatePushServiceForGroups: .updatePushServiceForGroups
    case .updatePushServiceForUsers: .updatePushServiceForUsers
    case .setPreferredNotificationLanguage: .setPreferredNotificationLanguage
    case .updatePushDisplayName: .updatePushDisplayName
    case .setPushTemplate: .setPushTemplate
    case .setConversationNotificationLevel: .setConversationNotificationLevel
    case .setConversationChannelNotificationLevel: .setConversationChannelNotificationLevel
    case .setConversationTypeNotificationLevel: .setConversationTypeNotificationLevel
    case .setNotificationQuietHours: .setNotificationQuietHours
    case .removeNotificationQuietHours: .removeNotificationQuietHours
    case .setUltraGroupConversationDefaultNotificationLevel:
      .setUltraGroupConversationDefaultNotificationLevel
    case .setUltraGroupConversationChannelDefaultNotificationLevel:
      .setUltraGroupConversationChannelDefaultNotificationLevel
    case .setPushReceiveStatus: .setPushReceiveStatus
    case .setLevel: .setLevel
    case .setDefaultLevel: .setDefaultLevel
    case .muteUntil: .muteUntil
    case .setMutedAllow: .setMutedAllow
    case .setAllowForce: .setAllowForce
    case .addQuietWindow: .addQuietWindow
    case .removeQuietWindow: .removeQuietWindow
    case .clearQuietWindows: .clearQuietWindows
    case .addKeyword: .addKeyword
    case .removeKeyword: .removeKeyword
    case .addSender: .addSender
    case .removeSender: .removeSender
    case .setImportant: .setImportant
    case .setFollow: .setFollow
    case .setRoles: .setRoles
    case .setTimeZone: .setTimeZone
    case .addMember: .addMember
    case .removeMember: .removeMember
    case .removeUser: .removeUser
    case .removeConversation: .removeConversation
    case .bindToken: .bindToken
    case .unbindToken: .unbindToken
    case .setDeviceState: .setDeviceState
    case .setNoDisturbing: .setNoDisturbing
    case .setConversationNotificationStatus: .setConversationNotificationStatus
    case .setAdvancedPush: .setAdvancedPush
    case .setDevicePolicy: .setDevicePolicy
    case .setTemplate: .setTemplate
    case .removeTemplate: .removeTemplate
    case .setAppKeyLevel: .setAppKeyLevel
    case .setAppLevel: .setAppLevel
    case .setMessageNotification: .setMessageNotification
    case .updatePushDisplayStyle: .updatePushDisplayStyle
    case .setRemark: .setRemark
    case .setOfflineMessages: .setOfflineMessages
    case .kickDevice: .kickDevice
    case .logOutDevice: .logOutDevice
    case .removeDevice: .removeDevice
    }
  }

  /// The operation as a line of JSON; levels have their names in files.
  public func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // {"NAME":{FIELDS}}
    let fields = String(decoding: try encoder.encode(self), as: UTF8.self)
      .dropFirst(name.count + 5).dropLast(2)
    return "{\"op\":\"\(name)\"\(fields.isEmpty ? "" : ",")\(fields)}"
  }
}

extension SettingsOperation {
  /// Applies the operation to a write.
  ///
  /// - Returns: the settings that switching advanced push has deleted; nil for any other operation.
  @discardableResult
  public func apply(to write: inout StoreWrite) throws -> AdvancedSettings? {
    switch self {
    case .setAdvancedPush(let isOn): return try write.setAdvancedPush(isOn)
    case .setDevicePolicy(let policy): try write.setDevicePolicy(policy)
    case .setMessageNotification(let isOn): try write.setMessageNotification(isOn)
    case .setAppKeyLevel(let level): try write.setAppKeyLevel(level)
    case .setTemplate(let name, let title, let content):
      try write.setTemplate(PushTemplate(name: name, title: title ?? "", content: content))
    case .removeTemplate(let name): try write.removeTemplate(name)
    case .setUltraGroupConversationDefaultNotificationLevel(let group, let level):
      try write.setDefaultLevel(level, ofUltraGroup: group)
    case .setUltraGroupConversationChannelDefaultNotificationLevel(
      let group, let level, let channel):
      try write.setDefaultLevel(level, ofUltraGroup: group, channel: channel)
    case .addMember(let user, let conversation): try write.addMember(user, of: conversation)
    case .removeMember(let user, let conversation): try write.removeMember(user, of: conversation)
    case .removeUser(let user): try write.removeUser(user)
    case .removeConversation(let conversation): try write.removeConversation(conversation)
    case .bindToken(let user, let device, let kind, let notifier, let platform, let token, let fid):
      try write.bindToken(
        ofDevice: device, kind: kind, notifier: notifier,
        address: DeviceAddress(platform: platform, token: token, fid: fid), of: user)
    case .unbindToken(let user, let device): try write.unbindToken(ofDevice: device, of: user)
    case .setDeviceState(let user, let device, let state):
      try write.setState(state, ofDevice: device, of: user)
    case .kickDevice(let user, let device): try write.kick(device: device, of: user)
    case .logOutDevice(let user, let device, let keepsToken):
      try write.logOut(device: device, of: user, keepingToken: keepsToken)
    case .removeDevice(let user, let device): try write.remove(device: device, of: user)
    default: if try !applyOpen(to: &write) { try applySetting(to: &write) }
    }
    return nil
  }

  /// Applies what changes a setting of one user.
  private func applySetting(to write: inout StoreWrite) throws {
    switch self {
    case .setSilentModeForAll(let user, let level, let minutes, let start, let end):
      var mode = try SilentModeWrite(level: level, minutes: minutes)
      if start != nil || end != nil {
        let interval = try QuietInterval.parse(start: start ?? "", end: end ?? "")
        mode.interval = interval.map { .set($0) } ?? .remove
      }
      try write.setSilentMode(mode, of: user)
    case .setSilentModeForConversation(let user, let conversation, let level, let minutes):
      let mode = try SilentModeWrite(level: level, minutes: minutes)
      try write.setSilentMode(mode, of: user, in: conversation)
    case .clearRemindTypeForConversation(let user, let conversation):
      try write.clearLevel(of: user, in: conversation)
    case .updatePushServiceForGroups(let user, let conversations, let noPush),
      .updatePushServiceForUsers(let user, let conversations, let noPush):
      try write.setLegacyNoPush(noPush, of: user, in: conversations)
    case .setNoDisturbing(let user, let start, let end):
      try write.setLegacyNoDisturbing(startHour: Int(start), endHour: Int(end), of: user)
    case .setConversationNotificationLevel(let user, let conversation, let level):
      try write.setNotificationLevel(level, of: user, in: conversation)
    case .setConversationChannelNotificationLevel(
      let user, let conversation, let channel, let level):
      try write.setNotificationLevel(level, of: user, in: conversation, channel: channel)
    case .setConversationTypeNotificationLevel(let user, let level, let kind):
      try write.setNotificationLevel(level, of: user, forType: kind)
    case .setConversationNotificationStatus(let user, let conversation, let doNotDisturb):
      let state = doNotDisturb ? LegacyNotificationState.doNotDisturb : .notify
      try write.setLegacyState(state, of: user, in: conversation)
    case .setNotificationQuietHours(let user, let start, let minutes, let zone, let level):
      try write.setQuietHours(
        start: start, spanMinutes: Int(minutes), level: level ?? .blocked, timeZone: zone,
        of: user)
    case .removeNotificationQuietHours(let user): try write.removeQuietHours(of: user)
    case .setPushReceiveStatus(let user, let isOn):
      try write.setPushWhenDesktopOnline(isOn, of: user)
    case .setTimeZone(let user, let zone): try write.setTimeZone(zone, of: user)
    case .setPreferredNotificationLanguage(let user, let language):
      try write.setPreferredNotificationLanguage(language, of: user)
    case .updatePushDisplayName(let user, let name): try write.updatePushDisplayName(name, of: user)
    case .updatePushDisplayStyle(let user, let style):
      try write.updatePushDisplayStyle(style, of: user)
    case .setPushTemplate(let user, let name): try write.setPushTemplate(name, of: user)
    case .setRemark(let user, let other, let remark):
      try write.setRemark(remark, for: other, by: user)
    case .setOfflineMessages(let user, let count): try write.setOfflineMessages(count, of: user)
    default: preconditionFailure("\(name) is applied above")
    }
  }
}

extension SilentModeWrite {
  fileprivate init(level: NotificationLevel?, minutes: Int64?) throws(SettingsWriteError) {
    self.init(level: level)
    if let minutes { duration = try MuteDuration(minutes: minutes) }
  }
}

extension AppSettings.DevicePolicy: Codable {}
extension ConversationKind: Codable {}
extension Device.Kind: Codable {}
extension Device.State: Codable {}
extension PushPlatform: Codable {}
extension DisplayStyle: Codable {}

extension LanguageTag: Codable {
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let tag = LanguageTag(text) else { throw decoder.unknownValue(text) }
    self = tag
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension NotificationLevel: Codable {
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let level = NotificationLevel.named(text) else { throw decoder.unknownValue(text) }
    self = level
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}

extension Decoder {
  fileprivate func unknownValue(_ text: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: "there is no \(text)"))
  }
}
