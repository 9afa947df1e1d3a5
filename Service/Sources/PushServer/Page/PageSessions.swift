internal import Crypto
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

  private let sessions = Mutex<[[UInt8]: Session]>([:])

  /// Begins a session.
  ///
  /// - Returns: the cookie's value, and the session.
  func begin(
    key: String, app: String, at now: ContinuousClock.Instant = .now
  ) -> (cookie: String, session: Session) {
    let cookie = Self.random()
    let session = Session(key: key, app: app, token: Self.random(), begun: now, used: now)
    sessions.withLock { sessions in
      sessions = sessions.filter { Self.isAlive($0.value, at: now) }
      if sessions.count >= Self.countLimit,
        let oldest = sessions.min(by: { $0.value.used < $1.value.used })
      {
        sessions[oldest.key] = nil
      }
      sessions[Self.digest(cookie)] = session
    }
    return (cookie, session)
  }

  /// The session of a cookie; nil for none, or one that has ended.
  func find(_ cookie: String, at now: ContinuousClock.Instant = .now) -> Session? {
    let digest = Self.digest(cookie)
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
    let digest = Self.digest(cookie)
    sessions.withLock { $0[digest] = nil }
  }

  private static func isAlive(_ session: Session, at now: ContinuousClock.Instant) -> Bool {
    now - session.used < idleLimit && now - session.begun < limit
  }

  private static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in
      let byte = UInt8.random(in: .min ... .max, using: &generator)
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// Cookies are looked up by digests, so that the time of a look-up says nothing about others.
  private static func digest(_ text: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(text.utf8)))
  }

  /// Whether two texts are equal, in a time that depends only on the length.
  static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
