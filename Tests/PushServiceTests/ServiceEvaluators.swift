import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import PushService
import PushStore
import PushStoreService
import TestSupport

/// A service as an `Evaluator`, by what it answers in values.
struct ServiceInValues: Evaluator {
  let service: FanoutService

  func decide(_ message: Message, each body: (UserIndex, Decision) throws -> Void) rethrows {
    let decision = service.decide(message)
    let devices = Dictionary(
      uniqueKeysWithValues: decision.pushes.map { ($0.index, $0.devices.map(\.id)) })
    try decision.result.forEachRecipient { user, outcome in
      let shown = outcome.action == .local ? decision.result.devices(of: user) : []
      try body(user, Decision(outcome, devices: devices[user] ?? shown))
    }
  }

  func decision(_ message: Message, for user: Identifier) -> Decision? {
    service.engine.decision(message, for: user)
  }
}

/// A service as an `Evaluator`, opened by the bytes of a settings.ndjson and asked by those of a
/// messages.ndjson.
struct ServiceInBytes: Evaluator {
  private let service: FanoutService
  private let settings: FanoutSettings

  init(_ settings: FanoutSettings) throws {
    self.settings = settings
    service = try FanoutService(ndjson: Self.lines(settings), threads: 1)
  }

  private struct Row: Decodable {
    let user: Identifier
    let decision: Decision

    private enum Key: String, CodingKey { case user }

    init(from decoder: any Decoder) throws {
      user = try decoder.container(keyedBy: Key.self).decode(Identifier.self, forKey: .user)
      decision = try Decision(from: decoder)
    }
  }

  func decide(_ message: Message, each body: (UserIndex, Decision) throws -> Void) rethrows {
    let line = Self.line(message, settings.app.rules)
    let rows = try! service.decide(ndjson: line, showsDevices: true)
      .split(separator: UInt8(ascii: "\n"))
      .map { try JSONDecoder().decode(Row.self, from: Data($0)) }
    for row in rows { try body(settings.index(of: row.user)!, row.decision) }
  }

  func decision(_ message: Message, for user: Identifier) -> Decision? {
    let line = Self.line(message, settings.app.rules)
    guard let answer = try? service.explain(ndjson: line, for: user) else { return nil }
    struct Answer: Decodable { let decision: Decision? }
    return try! JSONDecoder().decode(Answer.self, from: Data(answer)).decision
  }

  // MARK: Bytes

  /// Settings as a settings.ndjson, with users in their order.
  private static func lines(_ settings: FanoutSettings) -> [UInt8] {
    let rules = settings.app.rules
    var lines = [SettingsEncoder.app(settings.app)]
    for index in 0..<UInt32(settings.userCount) {
      let user = UserIndex(index)
      lines.append(SettingsEncoder.user(settings.id(of: user), settings.user(user), rules))
    }
    for id in settings.conversationIDs {
      guard let conversation = settings.conversation(id) else { continue }
      lines.append(SettingsEncoder.conversation(id, conversation, rules))
      for user in settings.members(of: id) {
        guard let member = settings.member(user, of: id) else { continue }
        lines.append(
          SettingsEncoder.member(
            settings.id(of: user), of: id, conversation.kind, member, rules))
      }
    }
    return lines.flatMap { $0.last == UInt8(ascii: "\n") ? $0 : $0 + [UInt8(ascii: "\n")] }
  }

  /// A message as a line of a messages.ndjson: what its rules do not have is left out.
  private static func line(_ message: Message, _ rules: RuleSet) -> [UInt8] {
    var object: [String: Any] = [
      "id": message.id.text, "conversation": message.conversation.text,
      "at": message.at.milliseconds, "body": message.body.rawValue,
    ]
    object["sender"] = message.sender?.text
    object["mentions"] = message.mentions?.map(\.text).filter { !$0.isEmpty }
    object["mentionsAll"] = message.mentionsAll
    object["silent"] = message.silent
    object["sentAt"] = message.sentAt?.milliseconds
    func set(_ key: String, _ field: VendorFields, _ value: Any?) {
      if rules.fields.contains(field) { object[key] = value }
    }
    set("force", .force, message.force)
    set("onlineOnly", .onlineOnly, message.onlineOnly)
    set("filter", .filter, message.filter.map(filter))
    set("ext", .ext, ext(message.ext))
    set("channel", .messageChannel, message.channel == "" ? nil : message.channel.text)
    set("isMentioned", .isMentioned, message.isMentioned)
    set("pushContent", .pushContent, message.pushContent)
    set("persisted", .persisted, message.persisted)
    set("backlog", .backlog, message.backlog)
    set("mentionsRoles", .mentionsRoles, message.mentionsRoles?.map(\.text))
    set("replyToUser", .replyToUser, message.replyToUser?.text)
    set("text", .text, message.text)
    return Array(try! JSONSerialization.data(withJSONObject: object)) + [UInt8(ascii: "\n")]
  }

  private static func filter(_ filter: DeviceFilter) -> [String: [String]] {
    [
      "accept_device_id": filter.acceptDeviceIDs.map(\.text),
      "ignore_device_id": filter.ignoreDeviceIDs.map(\.text),
      "accept_notifier_name": filter.acceptNotifierNames.map(\.text),
      "ignore_notifier_name": filter.ignoreNotifierNames.map(\.text),
    ]
  }

  private static func ext(_ ext: EasemobExtension) -> [String: Any] {
    var object: [String: Any] = [
      "em_force_notification": ext.force, "em_ignore_notification": ext.ignore,
      "em_push_filter": filter(ext.filter),
    ]
    object["em_at_list"] = atList(ext.atList)
    if let legacy = atList(ext.legacyAtList) { object["em_apns_ext"] = ["em_at_list": legacy] }
    return object
  }

  private static func atList(_ list: EasemobExtension.AtList) -> Any? {
    switch list {
    case .absent: nil
    case .text(let text): text.text
    case .ids(let ids): ids.map(\.text)
    case .unreadable: 5
    }
  }
}

/// A service on a store, with the folder that it is in.
final class StoredService: Sendable {
  let store: SettingsStore
  let service: FanoutService
  private let folder = ScratchFolder()

  /// A new store, into which settings come as one change.
  init(_ settings: FanoutSettings) throws {
    store = try SettingsStore(folder.path("app.store"), .create, threads: 1)
    service = try FanoutService(StoreBackend(store))
    try service.change(SettingsBatch(settings, replacesApp: true), at: .zero)
  }

  deinit { try? store.close() }
}

/// A service on a store as an `Evaluator`.
struct ServiceOnStore: Evaluator {
  private let stored: StoredService

  init(_ settings: FanoutSettings) throws { stored = try StoredService(settings) }

  func decide(_ message: Message, each body: (UserIndex, Decision) throws -> Void) rethrows {
    try ServiceInValues(service: stored.service).decide(message, each: body)
  }

  func decision(_ message: Message, for user: Identifier) -> Decision? {
    stored.service.engine.decision(message, for: user)
  }
}
