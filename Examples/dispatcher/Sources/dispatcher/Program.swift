import Foundation
import PushContent
import PushModel
import PushService
import PushStore
import PushStoreService

/// Runs the dispatcher against a small world: a hundred people in a group, 1,000 messages, changes of
/// settings between them, and a fake sender. Prints what was counted.
@main
enum Program {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "dispatcher-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    let store = try await SettingsStore.open(folder.appending(path: "app.store").path, .create)
    let backend = StoreBackend(store)
    let service = try FanoutService(backend)
    try await service.change(ndjson: World.settings, at: World.noon)

    let sender = FakeSender(staleTokens: ["phone-7"])
    let dispatcher = Dispatcher(service: service, sender: sender, metrics: Metrics())
    let minutes = Task { await dispatcher.followMinutes { World.noon } }

    // Four workers take turns at one queue; a change is made when half of it is done.
    let queue = AsyncStream<[(message: Message, content: MessageContent)]> { continuation in
      for batch in World.batches(0..<500) { continuation.yield(batch) }
      continuation.finish()
    }
    await work(on: queue, with: dispatcher, workers: 4)
    try await service.change(ndjson: World.change, at: World.noon, from: "phone-1")
    for batch in World.batches(500..<1000) { await dispatcher.dispatch(batch) }

    for line in await dispatcher.metrics.lines { print(line) }
    for event in try backend.events() { print("event \(event.sequence) \(event.change)") }
    for id in await dispatcher.metrics.refusedDevices { print("token refused: \(id)") }
    print("u1 saw \(await sender.lastPayload["u1"] ?? "nothing")")
    let asked = Message(id: "why", conversation: "g1", at: World.noon, sender: "u2")
    print(service.explain(asked, for: "u3").answer)
    minutes.cancel()
    try await store.close()
  }

  private static func work(
    on queue: AsyncStream<[(message: Message, content: MessageContent)]>,
    with dispatcher: Dispatcher<FakeSender>, workers: Int
  ) async {
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for await batch in queue {
        if running == workers {
          _ = await group.next()
          running -= 1
        }
        group.addTask { await dispatcher.dispatch(batch) }
        running += 1
      }
    }
  }
}

/// What the example runs on.
enum World {
  /// Noon in Shanghai.
  static let noon = Instant(rfc3339: "2024-06-03T12:00:00+08:00")!

  /// A group of a hundred: every tenth wants mentions alone, every fourth sleeps at noon.
  static let settings: [UInt8] = {
    var lines = [#"{"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}"#]
    for number in 1...100 {
      let quiet = number % 4 == 0 ? #","quietHours":{"start":"11:00","end":"14:00"}"# : ""
      lines.append(
        #"{"kind":"user","id":"u\#(number)","devices":[{"id":"phone-\#(number)"}]\#(quiet)}"#)
    }
    for number in 1...100 {
      let level = number % 10 == 0 ? #","level":"mention""# : ""
      lines.append(#"{"kind":"member","conversation":"g1","user":"u\#(number)"\#(level)}"#)
    }
    return Array(lines.joined(separator: "\n").utf8)
  }()

  /// u3 wants nothing of the group any more.
  static let change = Array(
    #"{"kind":"member","conversation":"g1","user":"u3","level":"none"}"#.utf8)

  static func batches(
    _ numbers: Range<Int>
  ) -> [[(message: Message, content: MessageContent)]] {
    stride(from: numbers.lowerBound, to: numbers.upperBound, by: 50).map { start in
      (start..<start + 50).map { number in
        let message = Message(
          id: Identifier("m\(number)"), conversation: "g1", at: noon,
          sender: Identifier("u\(number % 100 + 1)"))
        return (message, MessageContent(text: "Message \(number)"))
      }
    }
  }
}
