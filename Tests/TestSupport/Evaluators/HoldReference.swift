internal import PushReference
public import PushModel
internal import QuietTime

/// Asks the reference about every recipient, and about each that is suppressed again at every instant
/// at which anything of theirs turns.
public struct HoldReference {
  public struct Answer {
    /// By the outcome's code.
    public var counts = [Int](repeating: 0, count: Outcome.codeCount)
    public var held = [Int](repeating: 0, count: Outcome.codeCount)
    public var never = 0
    public var releases: [Int64: Int] = [:]
    /// Who gets a push, in the order of recipients.
    public var pushed: [UserIndex] = []
    /// Who is held, why, and until when, in the order of recipients.
    public var rows: [(user: UserIndex, outcome: Outcome, at: Instant)] = []
  }

  /// Zones that were read; a test asks for the same few thousands of times.
  private static let zones = Locked<[String: ZoneTable]>([:])

  private static func zone(named name: String) throws(ZoneDataError) -> ZoneTable {
    if let zone = zones.withLock({ $0[name] }) { return zone }
    let zone = try ZoneTable(named: name)
    zones.withLock { $0[name] = zone }
    return zone
  }

  private let settings: FanoutSettings
  private var evaluator: ReferenceEvaluator

  public init(_ settings: FanoutSettings) {
    self.settings = settings
    evaluator = ReferenceEvaluator(settings)
  }

  /// The counts alone.
  public mutating func decide(_ message: Message) -> Answer {
    var answer = Answer()
    evaluator.decide(message) { user, decision in
      answer.counts[Int(decision.outcome.code)] += 1
      if decision.outcome.action == .push { answer.pushed.append(user) }
    }
    return answer
  }

  public mutating func answer(_ message: Message) -> Answer {
    var answer = Answer()
    var rows: [(user: UserIndex, outcome: Outcome)] = []
    evaluator.decide(message) { rows.append((user: $0, outcome: $1.outcome)) }
    for (user, outcome) in rows {
      let code = Int(outcome.code)
      answer.counts[code] += 1
      if outcome.action == .push { answer.pushed.append(user) }
      guard outcome.action == .suppress else { continue }
      if let at = release(message, of: user) {
        answer.held[code] += 1
        answer.releases[at.milliseconds, default: 0] += 1
        answer.rows.append((user: user, outcome: outcome, at: at))
      } else {
        answer.never += 1
      }
    }
    return answer
  }

  /// The pushes of an answer by the hour of each recipient's own day.
  public func localHours(_ answer: Answer, at: Instant) -> [Int] {
    var hours = [Int](repeating: 0, count: 24)
    for user in answer.pushed {
      let own = settings.user(user)
      let name = own.timeZone ?? own.quietHours?.timeZone ?? settings.app.timeZone
      guard let zone = try? Self.zone(named: name) else { continue }
      hours[Int(zone.localSecond(at: at.milliseconds / 1000) / 3600)] += 1
    }
    return hours
  }

  /// Settings in which a user's devices stay connected or not (O-30).
  private func settings(
    presenceOf user: UserIndex, staysAsAt instant: Instant
  ) -> FanoutSettings {
    var stays = settings
    let span = settings.app.open.presenceSeconds * 1000
    stays.updateUser(settings.id(of: user)) { settings in
      settings.devices = settings.devices?.map { device in
        var device = device
        if let seen = device.seenAt, device.state == .foreground, span > 0,
          instant.milliseconds - seen.milliseconds > span
        {
          device.state = .offline
        }
        device.seenAt = nil
        return device
      }
    }
    return stays
  }

  /// When the message would push, as time goes on; nil for never within days of everything that ends.
  public mutating func release(_ message: Message, of user: UserIndex) -> Instant? {
    let id = message.conversation
    let parent = settings.conversation(id).flatMap { $0.kind == .thread ? $0.parent : nil }
    let own = settings.user(user)
    let records = [id, parent].compactMap { $0 }.compactMap { settings.member(user, of: $0) }
    let quiet = try! QuietSchedule(QuietSettings(own), app: settings.app) {
      (name) throws(ZoneDataError) in try Self.zone(named: name)
    }
    let dependence = NextChangeSolver(
      app: settings.app, user: own, records: records, quiet: quiet)
    let grace = settings.app.rongcloud.backgroundGraceSeconds * 1000
    let ends =
      records.map(\.mutedUntil.milliseconds) + [own.mutedUntil.milliseconds]
      + own.effectiveDevices.compactMap { $0.backgroundSince.map { $0.milliseconds + grace } }
    // A daily window has shown both its sides within two days, also where clocks change, and windows
    // of the week have been through within two weeks.
    var days: Int64 = 3
    if case .windows = own.quietHours ?? settings.app.quietHours { days = 15 }
    let last = (ends + [message.at.milliseconds]).reduce(0, max) + days * 86_400_000
    var later = message
    later.sentAt = message.sentAt ?? message.at
    var at = message.at
    var evaluator = evaluator
    if own.effectiveDevices.contains(where: { $0.seenAt != nil }) {
      evaluator = ReferenceEvaluator(settings(presenceOf: user, staysAsAt: message.at))
    }
    while let next = dependence.nextTransition(after: at), next.milliseconds <= last {
      later.at = next
      if evaluator.decide(later, for: settings.id(of: user))?.outcome.action == .push {
        return next
      }
      at = next
    }
    return nil
  }
}
