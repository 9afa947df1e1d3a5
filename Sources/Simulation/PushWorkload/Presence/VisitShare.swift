internal import PushSupport

/// How much of the time users are connected to write, and how much beside.
struct VisitShare: Sendable {
  /// The share of their time that users are connected because they write.
  private(set) var ofTime = 0.0
  /// The share of the users who are to be connected otherwise.
  private(set) var others: Double
  /// How many visits a message makes, in the mean.
  private(set) var perMessage = 0.0
  /// The share of visits that are left out: their senders are not connected.
  private(set) var leftOut = 0.0

  /// A user connects so long before the first message.
  static let leadMilliseconds: Int64 = 30_000
  /// Those who write are more often connected by chance, as it is day, than others.
  private static let dayFactor = 1.5
  private static let usualShare = 0.06
  private static let leastShare = 0.0001
  private static let sampleBatches = 2

  /// - Precondition: the workload has its ``Workload/plan``.
  init(_ workload: Workload, threads: Int) throws(WorkloadError) {
    let presence = workload.options.presence
    others = presence.onlineShare ?? Self.usualShare
    if others == 0 || presence.senderOnlineShare == 0 || workload.messageCount == 0 { return }
    let sample = Self.sample(workload, threads: threads)
    let time = Double(workload.userCount) * Double(workload.time.count)
    let perMessage = sample.visitMilliseconds / Double(max(1, sample.messages))
    let wanted = perMessage * Double(workload.messageCount) / time
    let byChance = Self.dayFactor * others
    if presence.senderOnlineShare < byChance {
      throw .less(
        knob: "sender-online-share", value: presence.senderOnlineShare, least: byChance,
        than: "are connected by chance (0 leaves it at that)")
    }
    leftOut = (1 - presence.senderOnlineShare) / (1 - byChance)
    ofTime = wanted * (1 - leftOut)
    if let share = presence.onlineShare, ofTime > share {
      throw .less(
        knob: "online-share", value: share, least: ofTime,
        than: "must be connected to write; or give a lower sender-online-share")
    }
    let share = presence.onlineShare ?? max(Self.usualShare, min(1.5 * ofTime, ofTime + 0.25))
    // Some are connected for both.
    others = max(0, (share - ofTime) / max(0.1, 1 - Self.dayFactor * ofTime))
    others = others < Self.leastShare ? 0 : min(0.5, others)
    self.perMessage = Double(sample.visits) / Double(max(1, sample.messages)) * (1 - leftOut)
  }

  private struct Sample {
    var messages = 0
    var visits = 0
    var visitMilliseconds = 0.0
  }

  /// The visits of some pieces of the messages.
  private static func sample(_ workload: Workload, threads: Int) -> Sample {
    var chunks = workload.messageChunks()
    var sample = Sample()
    let length = 4
    for number in 0..<sampleBatches {
      let first = chunks.chunkCount * (2 * number + 1) / (2 * sampleBatches)
      let batch = chunks.batch(
        from: max(0, min(first, chunks.chunkCount - length)), atMost: length, threads: threads)
      let made = Parallel.map(batch.count, threads: threads) { [chunks] in
        chunks.messages(ofChunk: batch.lowerBound + $0)
      }
      add(made.joined().sorted { ($0.sender, $0.at) < ($1.sender, $1.at) }, workload, to: &sample)
    }
    return sample
  }

  private static func add(
    _ messages: [PlainMessage], _ workload: Workload, to sample: inout Sample
  ) {
    sample.messages += messages.count
    let tail = workload.visitTail
    var last: (user: UInt32, end: Int64)?
    for message in messages {
      let begin = message.at - leadMilliseconds
      let end = message.at + tail
      if let before = last, before.user == message.sender, before.end >= begin {
        sample.visitMilliseconds += Double(end - before.end)
      } else {
        sample.visits += 1
        sample.visitMilliseconds += Double(end - begin)
      }
      last = (message.sender, end)
    }
  }
}

extension Workload {
  /// How long a visit lasts after its last message, in milliseconds.
  var visitTail: Int64 { Int64(options.presence.visitMinutes * 60_000) }
}
