import ArgumentParser
import PushModel
import PushStore

/// `push-fanout settings app`: settings of the app.
struct SettingsApp: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app",
    abstract: "Print or change the app's advanced push, device policy or local notifications.",
    discussion: """
      Without anything to set it prints what is set. Switching advanced push off deletes all levels, \
      quiet hours and durations of the app's users, as the vendor does; switching it on begins \
      without them. Without --yes it only says how many records have some, with status 1.

      Examples (easemob):

        push-fanout settings app --store app.store

        push-fanout settings app --store app.store --advanced-push off --yes

        push-fanout settings app --store app.store --device-policy anyOffline

      Examples (rongcloud):

        push-fanout settings app --store app.store --message-notification off
      """)

  @OptionGroup var options: StoreOptions

  @Option(help: "Advanced push: on or off (easemob).")
  var advancedPush: Switch?

  @Flag(help: "Delete the settings that switching advanced push deletes.")
  var yes = false

  @Option(help: "allOffline or anyOffline (easemob).")
  var devicePolicy: AppSettings.DevicePolicy?

  @Option(
    help: "Local notifications, on or off: the SDK's disableMessageNotificaiton (rongcloud).")
  var messageNotification: Switch?

  @OptionGroup var writing: WriteOptions

  enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on, off
  }

  func validate() throws {
    if yes, advancedPush == nil { throw ValidationError("--yes goes with --advanced-push.") }
  }

  private var writes: Bool {
    advancedPush != nil || devicePolicy != nil || messageNotification != nil
  }

  func run() throws {
    if !writes {
      return try options.reading { try options.show([AppResult($0.reader.app())]) }
    }
    let advanced = advancedPush.map { $0 == .on }
    let operations: [SettingsOperation?] = [
      devicePolicy.map { .setDevicePolicy(policy: $0) },
      messageNotification.map { .setMessageNotification(isOn: $0 == .on) },
      advanced.map { .setAdvancedPush(isOn: $0) },
    ]
    try options.writing(writing) { store in
      if let advanced, !yes, try store.reader.app().advancedPush != advanced {
        throw Failure(
          text: "switching advanced push deletes \(Self.text(try store.advancedSettings())); "
            + "say --yes")
      }
      if let deleted = try store.apply(operations.compactMap { $0 }, writing) {
        Terminal.note("deleted \(Self.text(deleted))")
      }
      try options.show([AppResult(store.reader.app())])
    }
  }

  private static func text(_ settings: AdvancedSettings) -> String {
    "the settings of \(settings.users) users and \(settings.members) memberships"
  }
}

/// The app's settings; named like the fields of settings files.
struct AppResult: SettingResult, Encodable {
  let rules, timeZone: String
  let devicePolicy: String?
  let advancedPush: Bool?
  let level: String?
  let quiet: [OpenSetting.Window]?
  let messageNotification: Bool?

  init(_ app: AppSettings) {
    let fields = app.rules.fields
    rules = app.rules.rawValue
    timeZone = app.timeZone
    devicePolicy = fields.contains(.devicePolicy) ? app.devicePolicy.rawValue : nil
    advancedPush = fields.contains(.advancedPush) ? app.advancedPush : nil
    level = fields.contains(.appLevel) ? app.level.name(under: app.rules) : nil
    quiet = OpenSetting.windows(app.quietHours)
    messageNotification = fields.contains(.messageNotification) ? app.messageNotification : nil
  }

  var text: String {
    let parts = [
      "time zone \(timeZone)", devicePolicy.map { "device policy \($0)" },
      advancedPush.map { "advanced push \($0 ? "on" : "off")" }, level.map { "level \($0)" },
      quiet.map { "quiet hours \($0.map(\.words).joined(separator: "; "))" },
      messageNotification.map { "local notifications \($0 ? "on" : "off")" },
    ]
    return "app, \(rules): " + parts.compactMap { $0 }.joined(separator: ", ")
  }
}
