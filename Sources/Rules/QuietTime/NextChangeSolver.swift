public import PushModel

/// Finds when the answer for a plain message to one user in one conversation changes as time
/// passes.
///
/// The answer changes only at a transition of the quiet hours, or where something expires.
public struct NextChangeSolver: Sendable {
  /// The user's quiet hours, nil for none.
  let quiet: QuietSchedule?
  /// The instants at which a mute, a background grace or the wait for membership is over.
  let expiries: [Instant]

  /// The solver of a user's answers in a conversation.
  ///
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

  /// The solver of a user whose schedule is known.
  ///
  /// - Parameter quiet: the schedule of the user's quiet hours; nil for none.
  public init(
    app: AppSettings, user: UserSettings, records: [MemberSettings], quiet: QuietSchedule?
  ) {
    self.quiet = quiet
    var expiries = records.flatMap { [$0.since, $0.mutedUntil] }
    expiries.append(user.mutedUntil)
    if let grace = app.backgroundGraceMilliseconds {
      for device in user.effectiveDevices where device.state == .background {
        guard let since = device.backgroundSince else { continue }
        // A grace that ends after the last instant there is never ends.
        let end = since.milliseconds + grace
        if end <= Instant.maximumMilliseconds { expiries.append(Instant(milliseconds: end)) }
        expiries.append(since)
      }
    }
    self.expiries = Array(Set(expiries)).sorted()
  }

  /// The first instant after `instant` at which `answer` gives something else; nil when it never
  /// does.
  ///
  /// - Complexity: for each expiry, as many calls of `answer` as the schedule has transitions until
  ///   each of its levels has held; mostly two.
  /// - Parameter answer: what is decided for a plain message at an instant. It may depend on time
  ///   through what this value was made of, and on nothing else.
  public func nextChange<Answer: Equatable>(
    after instant: Instant, answer: (Instant) -> Answer
  ) -> Instant? {
    let before = answer(instant)
    var now = instant
    // Once every level of the schedule had the same answer, it changes nothing until something else
    // expires, which may be centuries away.
    var unseen = UnseenLevels(quiet, at: now.seconds)
    while let next = unseen.isEmpty ? nextExpiry(after: now) : nextTransition(after: now) {
      if answer(next) != before { return next }
      if expiries.contains(next) {
        unseen = UnseenLevels(quiet, at: next.seconds)
      } else {
        unseen.remove(quiet?.level(at: next.seconds))
      }
      now = next
    }
    return nil
  }

  /// The answer for a plain message at `instant`, when it next changes, and what it is then.
  ///
  /// - Complexity: as for ``nextChange(after:answer:)``, and two calls of `answer` more.
  /// - Parameter answer: as for ``nextChange(after:answer:)``; nil for no recipient.
  public func plainAnswer(
    after instant: Instant, answer: (Instant) -> Decision?
  ) -> PlainAnswer {
    let next = nextChange(after: instant, answer: answer)
    return PlainAnswer(before: answer(instant), changesAt: next, after: next.flatMap(answer))
  }

  /// The first instant after `instant` at which something changes that the answer depends on.
  public func nextTransition(after instant: Instant) -> Instant? {
    let expiry = nextExpiry(after: instant)
    let seconds = quiet?.nextTransition(after: instant.seconds)
    guard let seconds, seconds <= Instant.maximumMilliseconds / 1000 else { return expiry }
    let edge = Instant(milliseconds: seconds * 1000)
    return min(edge, expiry ?? edge)
  }

  private func nextExpiry(after instant: Instant) -> Instant? { expiries.first { $0 > instant } }
}
