public import PushRules

/// Everything of one user, in one conversation, on which the answer for a plain message depends and
/// that changes by itself as time passes.
///
/// Between two neighbouring ``turns`` nothing of it changes, so neither does the answer.
public struct TimeDependence: Sendable {
  /// The user's quiet hours, nil for none.
  let window: ZonedWindow?
  /// The instants at which a mute, a background grace or the wait for membership is over.
  let turns: [Instant]

  /// - Parameters:
  ///   - user: what the user has set.
  ///   - records: the user's record in the conversation and, for a thread, in its parent.
  /// - Throws: ``ZoneDataError`` for the zone of the user's window.
  public init(
    app: AppSettings, user: UserSettings, records: [MemberSettings]
  ) throws(ZoneDataError) {
    self.window = try Self.window(app: app, user: user)
    var turns = records.flatMap { [$0.since, $0.mutedUntil] }
    turns.append(user.mutedUntil)
    if app.rules == .rongcloud {
      for device in user.effectiveDevices where device.state == .background {
        guard let since = device.backgroundSince else { continue }
        // A grace that ends after the last instant there is never ends.
        let end = since.milliseconds + app.rongcloud.backgroundGraceSeconds * 1000
        if end <= Instant.maximumMilliseconds { turns.append(Instant(milliseconds: end)) }
        turns.append(since)
      }
    }
    self.turns = Array(Set(turns)).sorted()
  }

  /// The first instant after `instant` at which `answer` gives something else; nil when it never
  /// does.
  ///
  /// - Complexity: at most three calls of `answer` for each of ``turns``, and as many more.
  /// - Parameter answer: what is decided for a plain message at an instant. It may depend on time
  ///   through what this value was made of, and on nothing else.
  public func nextChange<Answer: Equatable>(
    after instant: Instant, answer: (Instant) -> Answer
  ) -> Instant? {
    let before = answer(instant)
    var now = instant
    // A window has two states. Once it has turned twice with the same answer, it changes nothing
    // until something else turns, which may be centuries away.
    var windowTurns = 0
    while let next = windowTurns < 2 ? nextTurn(after: now) : nextSingleTurn(after: now) {
      if answer(next) != before { return next }
      windowTurns = turns.contains(next) ? 0 : windowTurns + 1
      now = next
    }
    return nil
  }

  /// The first instant after `instant` at which something changes that the answer depends on.
  public func nextTurn(after instant: Instant) -> Instant? {
    let single = nextSingleTurn(after: instant)
    let seconds = window?.nextTurn(after: instant.seconds)
    guard let seconds, seconds <= Instant.maximumMilliseconds / 1000 else { return single }
    let edge = Instant(milliseconds: seconds * 1000)
    return min(edge, single ?? edge)
  }

  private func nextSingleTurn(after instant: Instant) -> Instant? { turns.first { $0 > instant } }

  private static func window(
    app: AppSettings, user: UserSettings
  ) throws(ZoneDataError) -> ZonedWindow? {
    let userZone = user.timeZone ?? app.timeZone
    switch user.quietHours {
    case nil: return nil
    case .interval(let interval):  // E-36
      guard app.rules == .easemob, let window = DailyWindow(interval, options: app.easemob) else {
        return nil
      }
      return ZonedWindow(window: window, zone: try ZoneTable(named: userZone))
    case .span(let span):
      guard app.rules == .rongcloud else { return nil }
      let zone = try ZoneTable(named: span.timeZone ?? userZone)
      return ZonedWindow(window: DailyWindow(span, options: app.rongcloud), zone: zone)
    }
  }
}
