public import PushFanout
public import PushFiles
public import PushModel

/// Messages in the order of time, each with the settings and devices that one user has at that
/// moment: what a replay decides by.
///
/// - Source: readings.md, "Replays".
public struct ReplayedUser {
  private let user: Identifier
  private let fanout: Fanout
  private let events: ReplayEvents
  private var presence = PresenceSessions()
  private var heartbeats = HeartbeatsAhead()
  /// Whether presence has the user online; nil before it names the user.
  private var isOnline: Bool?
  /// The user's devices by the settings.
  private var devices: [Device]?

  /// - Parameters:
  ///   - user: of whom presence counts; that of others is passed over.
  ///   - files: what happens.
  ///   - fanout: the settings at the beginning; they are changed as messages are read.
  ///   - skipped: called with each bad line of messages or presence, which is then left out; nil for
  ///     a bad line to be an error.
  /// - Throws: what is wrong with a file or with its first line.
  public init(
    _ user: Identifier, _ files: ReplayFiles, on fanout: Fanout,
    skipped: ((FileProblem) -> Void)? = nil
  ) throws(FileProblem) {
    self.user = user
    self.fanout = fanout
    events = try ReplayEvents(files, rules: fanout.app.rules, skipped: skipped)
    devices = fanout.user(user)?.devices
  }

  /// Bad lines that were left out.
  public var skippedCount: Int { events.skippedCount }

  /// The next message, by which time the settings are those that decide for the user.
  ///
  /// - Throws: what is wrong with a line, or contradicts the settings.
  public mutating func next() throws(FileProblem) -> Message? {
    while let event = try events.next() {
      do throws(FileProblem.Problem) {
        switch event {
        case .message(let message): return message
        case .presence(let change):
          guard change.user == user, let change = try presence.add(change, to: fanout) else {
            continue
          }
          isOnline = change.isOnline
          try applyPresence()
        case .heartbeat(let heartbeat, _):
          guard heartbeat.user == user else { continue }
          try heartbeats.add(heartbeat, to: fanout)
          _ = try heartbeats.apply(to: fanout)
        case .change(let change):
          try change.apply(to: fanout)
          guard case .user(user, let settings) = change.record else { continue }
          devices = settings.devices
          try applyPresence()
        }
      } catch {
        try events.refuse(error)
      }
    }
    return nil
  }

  /// A connected desktop beside the devices of the settings; once the user is offline everywhere, it
  /// is logged out.
  private func applyPresence() throws(FileProblem.Problem) {
    guard let isOnline else { return }
    var settings = fanout.user(user) ?? UserSettings()
    settings.devices = devices
    let desktop = Device(
      id: "presence", kind: .desktop, state: isOnline ? .foreground : .loggedOut, hasToken: false)
    settings.devices = settings.effectiveDevices + [desktop]
    try fanout.change { (update) throws(FanoutError) in try update.set(.user(user, settings)) }
  }
}
