import PushModel

@testable import PushWorkload

extension Workload {
  /// What the library's own profile measures of the world: settings, messages with their senders'
  /// clocks, presence, changes.
  ///
  /// - Parameter presence: whether presence is made and measured.
  func profile(presence: Bool = false) -> WorkloadProfile {
    var profiler = WorkloadProfiler(settings())
    var messages: [WorkloadMessage] = []
    forEachMessage(threads: 2) { messages.append($0) }
    var next = 0
    // Presence and messages, in the order of time.
    func addMessages(before instant: Instant?) {
      while next < messages.count, instant.map({ messages[next].at < $0 }) ?? true {
        let message = messages[next]
        profiler.add(
          self.message(message, number: next), isReply: message.replyTo != nil,
          clock: clock(of: message))
        next += 1
      }
    }
    if presence {
      forEachPresenceChange(threads: 2) { change in
        addMessages(before: change.at)
        profiler.addPresence(
          at: change.at, user: Workload.userID(change.user), conversation: nil,
          isOnline: change.isOnline)
      }
    }
    addMessages(before: nil)
    for _ in 0..<changeCount { profiler.addChange(of: Workload.userID(0)) }
    return profiler.profile()
  }

  private func clock(of message: WorkloadMessage) -> SenderClock {
    let zone = zones.zone(of: message.sender)
    let sender = WorkloadSender(message.sender, zone: zone, self)
    let hasWindow = drawnUser(message.sender).window != nil
    return SenderClock(
      offsetSeconds: Int64(ZonePopulation.offsetMinutes[zone]) * 60,
      isInQuietHours: hasWindow ? sender.isQuiet(at: message.at.milliseconds) : nil)
  }
}

extension WorkloadProfile {
  /// The numbers of a rate that are farther from those asked for than chance explains: four standard
  /// errors, which chance exceeds once in 16,000. A number's interval has two on either side.
  ///
  /// - Parameters:
  ///   - asked: what was asked for; nil for a number that is not compared.
  ///   - model: how far the generator or the measure is off besides; the reason stands where it is
  ///     given.
  func misses(
    _ name: String, _ asked: [Double?], model: ClosedRange<Double> = 0...0
  ) -> [String] {
    let found = rates.filter { $0.name == name }
    if found.count != asked.count { return ["\(name): \(found.count) numbers"] }
    return zip(found, asked).compactMap { rate, asked in
      guard let asked else { return nil }
      guard let estimate = rate.estimate, let interval = estimate.interval else {
        return "\(name) \(rate.part): not measured"
      }
      // Where the interval is cut at 0 or 1, the other side is the whole of it.
      let reach =
        2 * max(interval.upperBound - estimate.value, estimate.value - interval.lowerBound)
      let range = asked + model.lowerBound - reach...asked + model.upperBound + reach
      if range.contains(estimate.value) { return nil }
      return "\(name) \(rate.part): \(estimate.value) is not in \(range)"
    }
  }
}

/// Whether a count of independent draws is the expected share of all, within four standard errors,
/// which chance exceeds once in 16,000.
func isChance(_ count: Int, of total: Int, _ share: Double) -> Bool {
  let error = (share * (1 - share) * Double(total)).squareRoot()
  return total > 0 && abs(Double(count) - share * Double(total)) <= 4 * error
}
