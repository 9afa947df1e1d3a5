public import ArgumentParser
import PushFanout
import PushModel
public import QuietTime

extension UnknownZones: ExpressibleByArgument {
  /// Those that a command is given.
  public static var allValueStrings: [String] { [Self.refuse, .ignore].map(\.rawValue) }

  /// One of those.
  public init?(argument: String) {
    guard Self.allValueStrings.contains(argument) else { return nil }
    self.init(rawValue: argument)
  }
}

/// What a command does with users whose time zone the machine does not have.
struct UnknownZoneOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Users whose time zone this machine's data lack: refuse only them (in files, a problem of the "
        + "line), or ignore the zone and decide for them without quiet hours.",
      valueName: "refuse|ignore"))
  var unknownZones = UnknownZones.refuse

  /// For files, whose lines name what is not known.
  var ofFiles: UnknownZones { unknownZones == .ignore ? .ignore : .fail }

  /// Says how many users are decided for without quiet hours.
  static func report(_ users: UnknownZoneUsers) {
    guard users.count > 0 else { return }
    Terminal.say(
      "push-fanout: decided without quiet hours, as their time zone is unknown: \(users.names)")
  }
}

/// The users of messages who were not decided for, as their time zone is unknown.
struct RefusedRecipients {
  private var users = UnknownZoneUsers()
  private var known: Set<Identifier> = []

  mutating func add(_ refused: [UnknownZoneUsers.User]) {
    for user in refused where known.insert(user.id).inserted { users.add(user) }
  }

  /// Says who was not decided for, where all others were.
  ///
  /// - Throws: ``FanoutError/unknownZones(_:)`` if there are any.
  func check() throws(FanoutError) {
    if users.count > 0 { throw .unknownZones(users) }
  }
}

/// Settings as values, by which an evaluator that knows nothing of unknown zones decides as the engine
/// does.
struct ZonedSettings {
  private(set) var settings: FanoutSettings
  let zones: SettingsZones
  /// The users who are not decided for, or without quiet hours.
  let unknown: UnknownZoneUsers
  private let refused: [UnknownZoneUsers.User]
  /// As they were read.
  private let original: FanoutSettings

  /// - Complexity: O(users), and O(conversations) for each user of an unknown zone.
  init(_ settings: FanoutSettings, _ unknownZones: UnknownZones) throws(ZoneDataError) {
    zones = try SettingsZones(settings, unknownZones: unknownZones)
    self.settings = settings
    original = settings
    var found: [UnknownZoneUsers.User] = []
    for number in 0..<UInt32(settings.userCount) {
      let user = UserIndex(number)
      guard let zone = zones.unknownZone(of: settings.user(user)) else { continue }
      found.append(.init(settings.id(of: user), timeZone: zone))
    }
    unknown = found.reduce(into: UnknownZoneUsers()) { $0.add($1) }
    refused = unknownZones == .ignore ? [] : found
    for user in found {
      self.settings.updateUser(user.id) { ($0.quietHours, $0.timeZone) = (nil, nil) }
    }
    // Who is not decided for is a recipient of nothing, like a user who becomes a member later.
    for conversation in refused.isEmpty ? [] : settings.conversationIDs
    where settings.conversation(conversation)?.kind != .thread {
      for user in refused {
        guard var member = member(user.id, of: conversation) else { continue }
        member.since = Instant(milliseconds: Instant.maximumMilliseconds)
        self.settings.setMember(user.id, of: conversation, member)
      }
    }
  }

  private func member(_ user: Identifier, of conversation: Identifier) -> MemberSettings? {
    settings.index(of: user).flatMap { settings.member($0, of: conversation) }
  }

  /// As `FanoutVersion.refusedRecipients(of:)`.
  func refusedRecipients(of message: Message) -> [UnknownZoneUsers.User] {
    if refused.isEmpty { return [] }
    let own = original.conversation(message.conversation)
    let members = own?.kind == .thread ? own?.parent : message.conversation
    guard let members else { return [] }
    return refused.filter { user in
      guard user.id != message.sender, let index = original.index(of: user.id),
        let member = original.member(index, of: members)
      else { return false }
      return member.since <= message.at
    }
  }
}
