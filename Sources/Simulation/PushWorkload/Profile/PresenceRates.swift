internal import Glibc
internal import PushModel

/// Who is connected when, and for how long.
struct PresenceRates {
  private struct Session: Hashable {
    let conversation: Identifier?
    let user: Int
  }

  /// When the sessions that are open began.
  private var open: [Session: Int64] = [:]
  private var first: Int64?
  private var last: Int64 = 0
  /// How long each user was online in each conversation.
  private var online: [Session: Int64] = [:]
  private var conversations: Set<Identifier?> = []
  /// Ended sessions by the logarithm of their length.
  private var ended = [Int](repeating: 0, count: binCount)
  /// Whether senders were online.
  private var senders = GroupedMean()
  /// The same since the last row of presence, by group: what follows the last row is unknown.
  private var pending: [Int: (hits: Int, all: Int)] = [:]

  private static let binCount = 1024
  private static let binsADoubling = 32.0

  /// Whether there was a row.
  var isUsed: Bool { first != nil }

  mutating func add(_ message: ProfiledMessage, conversation: Identifier?) {
    guard isUsed else { return }
    let isOnline =
      open[Session(conversation: nil, user: message.sender)] != nil
      || open[Session(conversation: conversation, user: message.sender)] != nil
    pending[message.group, default: (0, 0)].all += 1
    if isOnline { pending[message.group]?.hits += 1 }
  }

  mutating func add(at milliseconds: Int64, user: Int, conversation: Identifier?, isOnline: Bool) {
    if first == nil { first = milliseconds }
    last = milliseconds
    for (group, counts) in pending {
      senders.add(Double(counts.hits), group: group, count: counts.all)
    }
    pending.removeAll(keepingCapacity: true)
    conversations.insert(conversation)
    let session = Session(conversation: conversation, user: user)
    if isOnline {
      if open[session] == nil { open[session] = milliseconds }
    } else if let begin = open.removeValue(forKey: session) {
      online[session, default: 0] += milliseconds - begin
      // When a session of the start state began is unknown.
      if begin != first { ended[Self.bin(milliseconds - begin)] += 1 }
    }
  }

  private static func bin(_ milliseconds: Int64) -> Int {
    max(0, min(binCount - 1, Int(log2(Double(max(1, milliseconds))) * binsADoubling)))
  }

  private static func minutes(ofBin bin: Int) -> Double {
    exp2((Double(bin) + 0.5) / binsADoubling) / 60_000
  }

  // MARK: Rates

  /// - Parameters:
  ///   - users: how many users there are.
  ///   - memberships: how many people were members of a conversation by some time.
  func rates(users: Int, memberships: (Identifier, Int64) -> Int) -> [MeasuredRate] {
    let none = "no presence is given"
    let noSessions = isUsed ? "too few sessions end in the time" : none
    let sessions = sessionEstimates
    let parts = ["a tenth", "half", "nine tenths"]
    return [
      MeasuredRate("online-share", .share, onlineShare(users, memberships), missing: none)
    ]
      + parts.indices.map {
        MeasuredRate(
          "session-minutes", part: parts[$0], .minutes, sessions[$0], missing: noSessions)
      } + [
        MeasuredRate(
          "sender-online-share", .share, senders.share("messages"),
          missing: isUsed ? "no messages while presence is known" : none)
      ]
  }

  /// The mean over people of the share of the time that they are online; where presence is of
  /// conversations, over their members.
  private func onlineShare(_ users: Int, _ memberships: (Identifier, Int64) -> Int) -> RateEstimate?
  {
    guard let first, last > first else { return nil }
    var people = 0
    for conversation in conversations {
      people += conversation.map { memberships($0, last) } ?? users
    }
    var times = online
    for (session, begin) in open { times[session, default: 0] += last - begin }
    people = max(people, times.count)
    let span = Double(last - first)
    var (sum, squares) = (0.0, 0.0)
    for time in times.values {
      let share = Double(time) / span
      sum += share
      squares += share * share
    }
    let mean = sum / Double(people)
    let variance = max(0, squares / Double(people) - mean * mean)
    return RateEstimate(
      mean, error: (variance / Double(people)).squareRoot(), observations: people, "users",
      bounds: 0...1)
  }

  /// The lengths that a tenth, half and nine tenths of the sessions do not exceed, those that are
  /// open at the end included; nil for one that too few reach.
  ///
  /// - Source: E. L. Kaplan, P. Meier, Nonparametric Estimation from Incomplete Observations
  ///   (1958).
  private var sessionEstimates: [RateEstimate?] {
    var unfinished = [Int](repeating: 0, count: Self.binCount)
    for begin in open.values where begin != first { unfinished[Self.bin(last - begin)] += 1 }
    let count = (ended + unfinished).reduce(0, +)
    guard count >= 10 else { return [nil, nil, nil] }
    var atRisk = count
    var left = 1.0
    var lasting: [Double] = []
    for bin in 0..<Self.binCount {
      if ended[bin] > 0 { left *= 1 - Double(ended[bin]) / Double(atRisk) }
      atRisk -= ended[bin] + unfinished[bin]
      lasting.append(left)
    }
    let length = { (share: Double) in
      lasting.firstIndex { $0 <= 1 - share }.map { Self.minutes(ofBin: $0) }
    }
    return [0.1, 0.5, 0.9].map { share in
      let reach = 2 * (share * (1 - share) / Double(count)).squareRoot()
      guard let value = length(share) else { return nil }
      var interval: ClosedRange<Double>?
      if let low = length(max(0.001, share - reach)), let high = length(share + reach) {
        interval = low...high
      }
      return RateEstimate(value, interval: interval, observations: count, "sessions")
    }
  }
}
