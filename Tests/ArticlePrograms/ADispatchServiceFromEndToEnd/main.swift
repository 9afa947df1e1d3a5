import PushContent
import PushFanout
import PushModel
import PushService
import PushStore
import PushStoreService

/// The article's code on the main actor.
@MainActor func onTheMainActor() async throws -> Result {
  let given = try Given()
  let (path, queue, firstSettings) = (given.path, given.queue, given.firstSettings)
  let ledger = Ledger()
  var lastCursor = "0"
  @Sendable func now() -> Instant { Given.now() }
  func send(_ payload: ArraySlice<UInt8>, to device: Device, of user: Identifier) {
    ledger.sent[user, default: 0] += payload.isEmpty ? 0 : 1
  }
  func tell(_ event: ServiceEvent) { ledger.events.append(event.change) }

  // snippet
  let store = try await SettingsStore.open(path, .create)
  let backend = StoreBackend(store)
  let service = try FanoutService(backend)
  // end
  // snippet
  try await service.change(ndjson: firstSettings, at: now())
  // end
  // snippet
  let minutes = Task {
    while !Task.isCancelled {
      service.engine.advance(to: now())
      try? await Task.sleep(for: .seconds(60))
    }
  }
  // end
  // snippet
  var outcomes = OutcomeCounts()
  for await batch in queue {
    for decision in service.decide(batch) {
      outcomes.add(decision.counts)
      for push in decision.pushes {
        let payload = push.payload()
        for device in push.devices { send(payload.payload, to: device, of: push.id) }
      }
    }
  }
  // end
  // snippet
  let change = #"{"kind":"member","conversation":"g1","user":"u3","level":"none"}"#
  try await service.change(ndjson: Array(change.utf8), at: now(), from: "phone")
  // end
  // snippet
  for event in try backend.events(after: lastCursor) {
    tell(event)
    lastCursor = event.cursor
  }
  // end
  // snippet
  let asked = Message(id: "m9", conversation: "g1", at: now(), sender: "u2")
  let explanation = service.explain(asked, for: "u3")
  let why = explanation.answer
  // end
  // snippet
  let pushCount = outcomes.total(of: .push)
  let bytes = service.engine.memoryReport().total
  // end
  // snippet
  minutes.cancel()
  try await store.close()
  // end
  try given.remove()
  return Result(
    sent: ledger.sent, events: ledger.events, why: why, pushCount: pushCount, hasMemory: bytes > 0)
}

let found = try await onTheMainActor()
precondition(found == .expected, "\(found)")
print("done")
