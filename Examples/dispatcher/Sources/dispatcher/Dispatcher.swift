import PushContent
import PushFanout
import PushModel
import PushService

/// A dispatch service: takes batches of messages, decides them, and sends what is to be sent.
///
/// One value serves all tasks: any number of them may dispatch while others change settings.
struct Dispatcher<Sender: PushSender>: Sendable {
  let service: FanoutService
  let sender: Sender
  let metrics: Metrics

  /// Decides a batch on one version of the settings and sends the pushes.
  func dispatch(_ batch: [(message: Message, content: MessageContent)]) async {
    for decision in service.decide(batch) {
      await metrics.add(decision.counts)
      for push in decision.pushes {
        let payload = push.payload()
        for device in push.devices {
          let isSent = await sender.send(payload.payload, to: device, of: push.id)
          await metrics.add(device: device, isSent: isSent)
        }
      }
    }
  }

  /// Prepares each minute ahead of the messages, until the task is cancelled.
  func followMinutes(now: @Sendable () -> Instant) async {
    while !Task.isCancelled {
      service.engine.advance(to: now())
      try? await Task.sleep(for: .seconds(60))
    }
  }
}

/// What talks to the services of Apple, Google and others.
protocol PushSender: Sendable {
  /// - Returns: whether it was taken.
  func send(_ payload: ArraySlice<UInt8>, to device: Device, of user: Identifier) async -> Bool
}
