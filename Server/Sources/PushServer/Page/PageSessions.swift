internal import Synchronization

/// Sessions of the support page: who logged in with which key, until when.
///
/// The cookie and the token against forged requests are 256 random bits each, kept as digests. The
/// key is asked for again at each request, so that a key that was removed ends its sessions.
final class PageSessions: Sendable {
  struct Session: Sendable {
    /// The key itself, which is in no file.
    let key: String
    let app: String
    /// What the page sends with each question, in a header that no other site can send.
    let token: String
    let begun: ContinuousClock.Instant
    var used: ContinuousClock.Instant
  }

  /// A session ends when it was not used for so long, and after so long in any case.
  static let idleLimit = Duration.seconds(30 * 60)
  static let limit = Duration.seconds(12 * 3600)
  /// The oldest go when there are more.
  static let countLimit = 1000
  /// Those of one key, so that it does not end those of others.
  static let keyLimit = 20

  /// By digests of cookies, so that the time of a look-up says nothing about others.
  private let sessions = Mutex<[[UInt8]: Session]>([:])

  /// Begins a session.
  ///
  /// - Returns: the cookie's value, and the session.
  func begin(
    key: String, app: String, at now: ContinuousClock.Instant = .now
  ) -> (cookie: String, session: Session) {
    let cookie = Secret.random()
    let session = Session(key: key, app: app, token: Secret.random(), begun: now, used: now)
    sessions.withLock { sessions in
      sessions = sessions.filter { Self.isAlive($0.value, at: now) }
      let own = sessions.filter { $0.value.key == key && $0.value.app == app }
      for (group, limit) in [(own, Self.keyLimit), (sessions, Self.countLimit)]
      where group.count >= limit {
        if let oldest = group.min(by: { $0.value.used < $1.value.used }) {
          sessions[oldest.key] = nil
        }
      }
      sessions[Secret.digest(cookie)] = session
    }
    return (cookie, session)
  }

  /// The session of a cookie; nil for none, or one that has ended.
  func find(_ cookie: String, at now: ContinuousClock.Instant = .now) -> Session? {
    let digest = Secret.digest(cookie)
    return sessions.withLock { sessions in
      guard var session = sessions[digest] else { return nil }
      guard Self.isAlive(session, at: now) else {
        sessions[digest] = nil
        return nil
      }
      session.used = now
      sessions[digest] = session
      return session
    }
  }

  /// Ends a session.
  func end(_ cookie: String) {
    let digest = Secret.digest(cookie)
    sessions.withLock { $0[digest] = nil }
  }

  private static func isAlive(_ session: Session, at now: ContinuousClock.Instant) -> Bool {
    now - session.used < idleLimit && now - session.begun < limit
  }
}
