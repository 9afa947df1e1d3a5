import ArgumentParser
import PushModel
import PushStore

/// `push-fanout settings device`: tokens and presence.
struct SettingsDevice: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "Bind tokens, set states, kick and log out devices.",
    discussion: """
      A user without a list of devices has one, "default"; the first operation makes a list.

      Examples:

        push-fanout settings device bind --store app.store --user u1 --device p1 \\
          --notifier apns-prod

        push-fanout settings device state background --store app.store --user u1 \\
          --device p1

        push-fanout settings device logout --store app.store --user u1 \\
          --device p1 --keep-token
      """,
    subcommands: [
      ListDevices.self, BindToken.self, UnbindToken.self, TellState.self, Kick.self, LogOut.self,
      RemoveDevice.self,
    ])
}

/// Which device, and when.
struct DeviceOptions: ParsableArguments {
  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String
  @Option(help: ArgumentHelp("The device's id.", valueName: "id"))
  var device: String
  @OptionGroup var writing: WriteOptions

  /// Does one operation and prints the user's devices.
  func apply(_ operation: (_ user: Identifier, _ device: Identifier) -> SettingsOperation) throws {
    let user = Identifier(user)
    try options.writing(writing, user: user) { store in
      try store.apply([operation(user, Identifier(device))], writing)
      try options.show(store.devices(of: user).map { DeviceResult(user, $0) })
    }
  }
}

private func deviceConfiguration(
  _ name: String, _ abstract: String, _ example: String
) -> CommandConfiguration {
  let words = example.split(separator: " ", maxSplits: 1)
  let rest = words.count > 1 ? " \\\n    \(words[1])" : ""
  return CommandConfiguration(
    commandName: name, abstract: abstract,
    discussion: """
      Examples:

        push-fanout settings device \(words[0]) --store app.store --user u1\(rest)
      """)
}

struct ListDevices: ParsableCommand {
  static let configuration = deviceConfiguration(
    "list", "Print a user's devices.", "list")
  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The user's id.", valueName: "id"))
  var user: String

  func run() throws {
    let user = Identifier(user)
    try options.reading(of: user) { store in
      try options.show(store.devices(of: user).map { DeviceResult(user, $0) })
    }
  }
}

struct BindToken: ParsableCommand {
  static let configuration = deviceConfiguration(
    "bind", "Bind a push token; an unknown device is added.",
    "bind --device p1 --notifier apns-prod --platform apns --token 0af1")
  @OptionGroup var target: DeviceOptions
  @Option(help: ArgumentHelp("mobile, desktop or web. (default: as it was)", valueName: "kind"))
  var kind: Device.Kind?
  @Option(help: ArgumentHelp("The token's push certificate.", valueName: "name"))
  var notifier: String?
  @Option(help: ArgumentHelp("Who takes its pushes: apns or fcm.", valueName: "name"))
  var platform: PushPlatform?
  @Option(
    help: ArgumentHelp(
      "The token itself, for requests; - for a line of standard input, which lists of processes "
        + "do not show.", valueName: "token"))
  var token: String?
  @Option(
    help: ArgumentHelp(
      "The Firebase installation id, for requests; - as for --token, whose line comes first.",
      valueName: "id"))
  var fid: String?

  func run() throws {
    let notifier = notifier.map { Identifier($0) }
    let (token, fid) = (try Self.read(token, "--token"), try Self.read(fid, "--fid"))
    try target.apply {
      .bindToken(
        user: $0, device: $1, type: kind, notifier: notifier, platform: platform, token: token,
        fid: fid)
    }
  }

  private static func read(_ text: String?, _ option: String) throws -> String? {
    guard text == "-" else { return text }
    guard let line = readLine() else {
      throw ValidationError("\(option) -: standard input has no line for it.")
    }
    return line
  }
}

struct UnbindToken: ParsableCommand {
  static let configuration = deviceConfiguration(
    "unbind", "Take a device's token away.", "unbind --device p1")
  @OptionGroup var target: DeviceOptions
  func run() throws { try target.apply { .unbindToken(user: $0, device: $1) } }
}

struct TellState: ParsableCommand {
  static let configuration = deviceConfiguration(
    "state", "Tell a device's state; in the background its grace begins.",
    "state background --device p1")
  @Argument(
    help: ArgumentHelp(
      "foreground, background, offline, loggedOut or kicked.", valueName: "state"))
  var state: Device.State
  @OptionGroup var target: DeviceOptions

  func run() throws { try target.apply { .setDeviceState(user: $0, device: $1, state: state) } }
}

struct Kick: ParsableCommand {
  static let configuration = deviceConfiguration(
    "kick", "Kick a device: it gets nothing until its state is set again.", "kick --device p1")
  @OptionGroup var target: DeviceOptions
  func run() throws { try target.apply { .kickDevice(user: $0, device: $1) } }
}

struct LogOut: ParsableCommand {
  static let configuration = deviceConfiguration(
    "logout", "Log a device out, without its token.", "logout --device p1 --keep-token")
  @OptionGroup var target: DeviceOptions
  @Flag(help: "The token stays bound, so that it still gets pushes (easemob).")
  var keepToken = false

  func run() throws {
    try target.apply { .logOutDevice(user: $0, device: $1, keepsToken: keepToken) }
  }
}

struct RemoveDevice: ParsableCommand {
  static let configuration = deviceConfiguration(
    "remove", "Forget a device.", "remove --device p1")
  @OptionGroup var target: DeviceOptions
  func run() throws { try target.apply { .removeDevice(user: $0, device: $1) } }
}
