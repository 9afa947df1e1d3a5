/// What `push-fanout profile` measured of a public archive, its bots left out; nil for a rate that
/// the archive does not tell.
///
/// - Source: docs/profile.md, "Archives", where the intervals are.
public struct ArchiveProfile: Hashable, Sendable {
  /// As ``WorkloadOptions/Sizes/medianSize``.
  public var medianSize: Double?
  /// As ``WorkloadOptions/Sizes/sizeExponent``.
  public var sizeExponent: Double?
  /// As ``WorkloadOptions/Sizes/giants``.
  public var giants: [Int]?
  /// As ``WorkloadOptions/Sizes/topJoinersShare``.
  public var topJoinersShare: Double?
  /// As ``WorkloadOptions/Traffic/activityDeviation``.
  public var activityDeviation: Double?
  /// As ``WorkloadOptions/Traffic/neverPostShare``.
  public var neverPostShare: Double?
  /// As ``WorkloadOptions/Traffic/senderExponent``.
  public var senderExponent: Double
  /// As ``WorkloadOptions/Traffic/burstExponent``.
  public var burstExponent: Double?
  /// As ``WorkloadOptions/Traffic/burstGapSeconds``.
  public var burstGapSeconds: Double
  /// The share of messages that mention people.
  public var mentionShare: Double
  /// As ``WorkloadOptions/Traffic/mentionCountShares``.
  public var mentionCountShares: [Double]
  /// As ``WorkloadOptions/Traffic/recentShare``.
  public var recentShare: Double?
  /// As ``WorkloadOptions/Traffic/dayShare``.
  public var dayShare: Double?
  /// As ``WorkloadOptions/Traffic/smallAllShare``.
  public var smallAllShare: Double?
  /// As ``WorkloadOptions/Traffic/bigAllShare``.
  public var bigAllShare: Double?
  /// Messages of a Saturday or Sunday against those of another day.
  public var weekendRatio: Double
  /// The coefficient of variation of messages a day in busy rooms.
  public var dayDeviation: Double
  /// The share of the days that have a message, in rooms of less than 10, 50, 200 and 1,000
  /// members, and above; nil for sizes of which there are no rooms.
  public var activeShares: [Double?]
  /// The share of messages that reply to another.
  public var replyShare: Double?
  /// The share of messages whose sender is online.
  public var senderOnlineShare: Double?
  /// As ``WorkloadOptions/Presence/sessionMinutes``.
  public var sessionMinutes: [Double]?
}

extension WorkloadPreset {
  /// What was measured of the archive; nil for what is assumed.
  public var measured: ArchiveProfile? {
    switch self {
    case .gitter: .gitter
    case .telegram: .telegram
    case .zulip: .zulip
    case .irc: .irc
    case .family: nil
    }
  }
}

extension ArchiveProfile {
  /// Sets what was measured; the rest stays.
  ///
  /// How many are online stays as it is: that depends on how much each user writes.
  func apply(to options: inout WorkloadOptions) {
    func set<Value>(_ path: WritableKeyPath<WorkloadOptions, Value>, _ value: Value?) {
      if let value { options[keyPath: path] = value }
    }
    set(\.sizes.medianSize, medianSize)
    set(\.sizes.sizeExponent, sizeExponent)
    if let giants { options.sizes.giants = giants }
    set(\.sizes.topJoinersShare, topJoinersShare)
    set(\.traffic.activityDeviation, activityDeviation)
    set(\.traffic.neverPostShare, neverPostShare)
    set(\.traffic.senderExponent, senderExponent)
    set(\.traffic.burstExponent, burstExponent)
    set(\.traffic.burstGapSeconds, burstGapSeconds)
    set(\.traffic.mentionShare, mentionShare)
    set(\.traffic.mentionCountShares, mentionCountShares)
    set(\.traffic.recentShare, recentShare)
    set(\.traffic.dayShare, dayShare)
    set(\.traffic.smallAllShare, smallAllShare)
    set(\.traffic.bigAllShare, bigAllShare)
    set(\.traffic.weekendRatio, weekendRatio)
    set(\.traffic.dayDeviation, dayDeviation)
    for (index, share) in activeShares.enumerated() {
      set(\.traffic.usualActiveShares[index], share)
    }
    set(\.traffic.replyShare, replyShare)
    set(\.presence.senderOnlineShare, senderOnlineShare)
    set(\.presence.sessionMinutes, sessionMinutes)
  }

  /// freeCodeCamp on Gitter, 204,643 messages in 521 rooms, 2014 to 2016. Its members are known
  /// only by what they wrote, so who never posts is not.
  static let gitter = ArchiveProfile(
    medianSize: 5.5, sizeExponent: 1.72, giants: [], topJoinersShare: 0.333,
    activityDeviation: 0.91, senderExponent: 1.3, burstExponent: 2.26, burstGapSeconds: 42.8,
    mentionShare: 0.245,
    mentionCountShares: [0.945, 0.046, 0.009], recentShare: 0.844, dayShare: 0.9,
    smallAllShare: 0.00436, weekendRatio: 0.7, dayDeviation: 2.26,
    activeShares: [0.0148, 0.0643, 0.227, 0.633, nil])

  /// A group of questions and answers, 94,992 messages of 5,228 members, 2018 to 2023. Whom its
  /// messages mention are names that do not write, so how lately they did is not known.
  static let telegram = ArchiveProfile(
    neverPostShare: 0.658, senderExponent: 1.16, burstGapSeconds: 65.6,
    mentionShare: 0.0098,
    mentionCountShares: [0.8745, 0.0869, 0.0386], bigAllShare: 0, weekendRatio: 0.317,
    dayDeviation: 1.03, activeShares: [nil, nil, nil, nil, 0.893], replyShare: 0.531)

  /// Lean on Zulip, 921,508 messages in 88 rooms, 2018 to 2026. As in Gitter, who never posts is
  /// not known.
  static let zulip = ArchiveProfile(
    medianSize: 38.5, sizeExponent: 1.83, giants: [], topJoinersShare: 0.427,
    activityDeviation: 1.07, senderExponent: 1.29, burstExponent: 2.63, burstGapSeconds: 79,
    mentionShare: 0.0624,
    mentionCountShares: [0.9001, 0.0793, 0.0206], recentShare: 0.431, dayShare: 0.692,
    smallAllShare: 0.0000167, bigAllShare: 0.0000044, weekendRatio: 0.726, dayDeviation: 1.35,
    activeShares: [0.0121, 0.0761, 0.188, 0.523, 0.935])

  /// Web developers on IRC, 2,155,121 messages in 3 channels, 2006 to 2016; presence of March 2013.
  static let irc = ArchiveProfile(
    topJoinersShare: 0.17, neverPostShare: 0.696, senderExponent: 1.17, burstGapSeconds: 34.3,
    mentionShare: 0.331,
    mentionCountShares: [1, 0, 0], recentShare: 0.872, dayShare: 0.959, bigAllShare: 0,
    weekendRatio: 0.302, dayDeviation: 0.936, activeShares: [nil, nil, nil, nil, 0.859],
    senderOnlineShare: 0.945, sessionMinutes: [2.36, 75.4, 1015])
}
