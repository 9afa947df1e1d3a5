public import PushModel

/// What a provider answers to a request, and what its sender does then (requests.md, section 7).
///
/// Pure functions: whoever sends gives the time and the random numbers.
///
/// Nobody knows what became of a request without an answer (S-73). What is tried again then may
/// come twice; with `collapse` of `message` the second takes the place of the first.
public struct ProviderAnswer: Hashable, Sendable {
  /// What a sender does. The raw value is its name in files.
  public enum Action: String, CaseIterable, Sendable {
    /// Nothing: the provider took the push.
    case sent
    /// It forgets the token.
    case gone
    /// Nothing: the token may be right for another environment, topic or project.
    case wrong
    /// Nothing: the request is wrong, and would be again.
    case refused
    /// It stops using the sender until somebody acts.
    case credentials
    /// It makes a new provider token, at most one in 20 minutes, and tries again.
    case renew
    /// It tries again later.
    case retry
  }

  /// Who answers.
  public var platform: PushPlatform
  /// The status of HTTP; nil where no answer came.
  public var status: Int?
  /// `reason` of APNs; of FCM `errorCode` among the details, else `status`.
  public var reason: String?
  /// FCM's `message`.
  public var message: String?
  /// APNs' `timestamp`: when it knew that the token was gone.
  public var timestamp: Instant?
  /// The seconds of the header `Retry-After`.
  public var retryAfter: Int64?

  /// An answer; by default none came.
  public init(
    _ platform: PushPlatform, status: Int? = nil, reason: String? = nil, message: String? = nil,
    timestamp: Instant? = nil, retryAfter: Int64? = nil
  ) {
    self.platform = platform
    self.status = status
    self.reason = reason
    self.message = message
    self.timestamp = timestamp
    self.retryAfter = retryAfter
  }

  /// What its sender does.
  public var action: Action {
    switch (platform, status, reason) {
    case (_, nil, _), (_, 429, _), (_, .some(500...599), _): .retry
    case (_, 200, _): .sent
    case (.apns, 410, _): .gone
    case (.apns, 400, "BadDeviceToken"), (.apns, 400, "DeviceTokenNotForTopic"): .wrong
    case (.apns, 400, "IdleTimeout"), (.apns, 403, "UnrelatedKeyIdInToken"): .retry
    case (.apns, 403, "ExpiredProviderToken"): .renew
    case (.fcm, 404, "UNREGISTERED"): .gone
    case (.fcm, 403, "SENDER_ID_MISMATCH"): .wrong
    case (.fcm, 400, "INVALID_ARGUMENT"):
      message?.contains("registration token") == true ? .wrong : .refused
    case (.fcm, 401, "THIRD_PARTY_AUTH_ERROR"): .credentials
    case (.fcm, 401, _): .renew
    case (_, 403, _): .credentials
    default: .refused
    }
  }

  /// Whether the token is forgotten that a device registered at some instant: a later one is
  /// another's (S-70).
  public func forgetsToken(registeredAt instant: Instant?) -> Bool {
    guard action == .gone else { return false }
    guard let instant, let timestamp else { return true }
    return instant <= timestamp
  }

  /// Whether the request is tried again on a new connection (S-71).
  public var needsNewConnection: Bool {
    switch (platform, status, reason) {
    case (.apns, 400, "IdleTimeout"), (.apns, 403, "UnrelatedKeyIdInToken"),
      (.apns, 503, "Shutdown"):
      true
    default: false
    }
  }

  /// When a request is tried again; nil for never.
  ///
  /// - Parameters:
  ///   - attempt: how often it was tried, from 1.
  ///   - now: the time.
  ///   - expiry: that of the request, ``PushRequest/expiry``.
  ///   - random: a random number, 0..<1.
  ///   - isSurelyNotTaken: whether a provider that did not answer has not taken the request, as its
  ///     GOAWAY names an earlier stream.
  public func nextAttempt(
    after attempt: Int, at now: Instant, expiry: Instant?, random: Double,
    isSurelyNotTaken: Bool = false
  ) -> Instant? {
    let next: Int64
    switch action {
    case .renew: next = now.milliseconds
    case .retry: next = now.milliseconds + delay(after: attempt, random: random)
    case .sent, .gone, .wrong, .refused, .credentials: return nil
    }
    let mayRepeat = expiry.map { next <= $0.milliseconds } ?? (status != nil || isSurelyNotTaken)
    return mayRepeat ? Instant(milliseconds: next) : nil  // S-72
  }

  /// How many milliseconds a sender waits before it tries again (S-71).
  ///
  /// - Parameters:
  ///   - attempt: how often it has tried, from 1.
  ///   - random: a random number, 0..<1.
  public func delay(after attempt: Int, random: Double) -> Int64 {
    precondition(attempt >= 1 && (0..<1).contains(random), "no attempt, or no random number")
    let doubled = Int64(1) << min(attempt - 1, 32)
    let seconds = platform == .apns ? min(doubled, 60) : min(10 * doubled, 3_600)
    let own = Int64(Double(seconds) * 1_000 * (1 + random / 2))
    let least = retryAfter ?? (platform == .fcm && status == 429 ? 60 : 0)
    return max(own, min(max(least, 0), Self.longestWait) * 1_000)
  }

  /// More seconds than any request is worth delivering.
  private static let longestWait = PushSender.longestTTL
}
