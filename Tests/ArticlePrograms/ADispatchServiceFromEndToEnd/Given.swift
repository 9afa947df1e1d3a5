import Foundation
import PushContent
import PushModel
import PushService

/// What the article takes as given: a folder, a queue, a sender and a clock.
struct Given {
  let folder = FileManager.default.temporaryDirectory.appending(path: "push-article-\(UUID())")
  let queue: AsyncStream<[(message: Message, content: MessageContent)]>
  var path: String { folder.appending(path: "app.store").path }

  let firstSettings = Array(
    """
    {"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}
    {"kind":"user","id":"u1","quietHours":{"start":"22:00","end":"8:00"}}
    {"kind":"member","conversation":"g1","user":"u1"}
    {"kind":"member","conversation":"g1","user":"u2"}
    {"kind":"member","conversation":"g1","user":"u3"}
    """.utf8)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let batches = (0..<3).map { batch in
      (0..<100).map { place in
        (
          message: Message(
            id: Identifier("m\(batch)-\(place)"), conversation: "g1",
            at: Self.now(), sender: "u2"),
          content: MessageContent(text: "Hello")
        )
      }
    }
    queue = AsyncStream { continuation in
      for batch in batches { continuation.yield(batch) }
      continuation.finish()
    }
  }

  func remove() throws { try FileManager.default.removeItem(at: folder) }

  /// Noon in Shanghai, of a clock that stands still.
  static func now() -> Instant { Instant(rfc3339: "2024-06-03T12:00:00+08:00")! }
}

/// Counts what was sent and told.
final class Ledger: @unchecked Sendable {
  // SAFETY: one task uses it.
  var sent: [Identifier: Int] = [:]
  var events: [String] = []
}

/// What must have come out, in whatever way the article's code was run.
struct Result: Equatable {
  var sent: [Identifier: Int]
  var events: [String]
  var why: String?
  var pushCount: Int
  var hasMemory: Bool

  static let expected = Result(
    sent: ["u1": 300, "u3": 300], events: ["imported", "imported"],
    why: "No push for u3. Stopped: the level set for the conversation is none.",
    pushCount: 600, hasMemory: true)
}
