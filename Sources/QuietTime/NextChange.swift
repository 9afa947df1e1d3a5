public import PushRules

/// Everything of one user, in one conversation, on which the answer for a plain message depends and
/// that changes by itself as time passes.
///
/// Between two neighbouring ``turns`` nothing of it changes, so neither does the answer.
public struct TimeDependence: Sendable {
  /// The user's quiet hours, nil for none.
  let quiet: QuietSchedule?
  /// The instants at which a mute, a background grace or the wait for membership is over.
  let turns: [Instant]

  /// - Parameters:
  ///   - user: what the user has set.
  ///   - records: the user's record in the conversation and, for a thread, in its parent.
  /// - Throws: ``ZoneDataError`` for the zones of the user's quiet hours.
  public init(
    app: AppSettings, user: UserSettings, records: [MemberSettings]
  ) throws(ZoneDataError) {
    let quiet = try QuietSchedule(QuietSettings(user), app: app) { (name) throws(ZoneDataError) in
      try ZoneTable(named: name)
    }
    self.init(app: app, user: user, records: records, quiet: quiet)
  }

  /// - Parameter quiet: the schedule of the user's quiet hours; nil for none.
  public init(
    app: AppSettings, user: UserSettings, records: [MemberSettings], quiet: QuietSchedule?
  ) {
    self.quiet = quiet
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
  /// - Complexity: for each of ``turns``, as many calls of `answer` as the schedule has transitions
  ///   until each of its levels has held; mostly two.
  /// - Parameter answer: what is decided for a plain message at an instant. It may depend on time
  ///   through what this value was made of, and on nothing else.
  public func nextChange<Answer: Equatable>(
    after instant: Instant, answer: (Instant) -> Answer
  ) -> Instant? {
    let before = answer(instant)
    var now = instant
    // Once every level of the schedule had the same answer, it changes nothing until something else
    // turns, which may be centuries away.
    var unseen = UnseenLevels(quiet, at: now.seconds)
    while let next = unseen.isEmpty ? nextSingleTurn(after: now) : nextTurn(after: now) {
      if answer(next) != before { return next }
      if turns.contains(next) {
        unseen = UnseenLevels(quiet, at: next.seconds)
      } else {
        unseen.remove(quiet?.level(at: next.seconds))
      }
      now = next
    }
    return nil
  }

  /// The first instant after `instant` at which something changes that the answer depends on.
  public func nextTurn(after instant: Instant) -> Instant? {
    let single = nextSingleTurn(after: instant)
    let seconds = quiet?.nextTransition(after: instant.seconds)
    guard let seconds, seconds <= Instant.maximumMilliseconds / 1000 else { return single }
    let edge = Instant(milliseconds: seconds * 1000)
    return min(edge, single ?? edge)
  }

  private func nextSingleTurn(after instant: Instant) -> Instant? { turns.first { $0 > instant } }
}
