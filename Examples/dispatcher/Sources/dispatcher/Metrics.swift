import PushFanout
import PushModel

/// What the service counts, as a monitoring system would scrape it.
actor Metrics {
  private var outcomes = OutcomeCounts()
  private var messages = 0
  private var sent = 0
  private var refused: Set<Identifier> = []

  func add(_ counts: FanoutCounts) {
    messages += 1
    outcomes.add(counts)
  }

  func add(device: Device, isSent: Bool) {
    if isSent { sent += 1 } else { refused.insert(device.id) }
  }

  /// Devices whose tokens were refused, and whose records should be brought up to date.
  var refusedDevices: [Identifier] { refused.sorted { $0.text < $1.text } }

  /// A line a figure, in one order.
  var lines: [String] {
    ["messages \(messages)", "sent \(sent)", "refused_devices \(refused.count)"]
      + outcomes.nonZero.map { "outcome{\($0.outcome.key)} \($0.count)" }
  }
}
