internal import NIOCore
internal import PushModel
internal import PushService
internal import PushStore
internal import Synchronization

/// The last entries of a store's feed, as they are sent: a commit is read and written as text once,
/// however many follow.
final class FeedTail: Sendable {
  /// So many entries are kept, and so many bytes of them; who is further behind reads the store.
  static let (limit, byteLimit) = (4096, 4 << 20)

  private struct Entry {
    let cursor: FeedCursor
    /// Whom it concerns; nil for a conversation, unless it concerns all.
    let user: Identifier?
    let concernsAll: Bool
    /// As a server-sent event.
    let text: [UInt8]
  }

  private struct Kept {
    /// What the first entry follows; nil before the first look.
    var start: FeedCursor?
    var entries: [Entry] = []
    var bytes = 0
  }

  /// What follows a cursor.
  struct Page {
    /// Server-sent events; empty when nothing has happened.
    let text: ByteBuffer
    /// The last entry that was looked at.
    let end: FeedCursor
  }

  private let store: SettingsStore
  private let kept = Mutex(Kept())

  init(_ store: SettingsStore) { self.store = store }

  /// The entries after a cursor, some of them if there are many. Blocks while they are read.
  ///
  /// - Parameter user: whom they concern; nil for all.
  func page(after cursor: FeedCursor, of user: Identifier?) throws -> Page {
    let known = try kept.withLock { kept -> Page? in
      try extend(&kept, after: cursor)
      guard let start = kept.start, start.sequence <= cursor.sequence else { return nil }
      var index = Int(cursor.sequence - start.sequence)
      guard index <= kept.entries.count,
        (index == 0 ? start : kept.entries[index - 1].cursor) == cursor
      else { return nil }
      var text = ByteBuffer()
      var end = cursor
      while index < kept.entries.count, text.readableBytes < Self.pageSize {
        let entry = kept.entries[index]
        index += 1
        end = entry.cursor
        if user == nil || entry.user == user || entry.concernsAll { text.writeBytes(entry.text) }
      }
      return Page(text: text, end: end)
    }
    if let known { return known }
    var text = ByteBuffer()
    let events = try store.changes(after: cursor, of: user, limit: 256)
    for event in events { text.writeBytes(Self.text(event)) }
    return Page(text: text, end: events.last?.cursor ?? cursor)
  }

  /// A page has about so many bytes at most.
  private static let pageSize = 64 * 1024

  /// Reads what has been added to the feed; begins at a cursor where nothing is kept.
  private func extend(_ kept: inout Kept, after cursor: FeedCursor) throws {
    let visible = store.visibleSequence
    func isNear(_ sequence: Int64) -> Bool { sequence >= visible - Int64(Self.limit) }
    if let last = kept.entries.last?.cursor ?? kept.start, !isNear(last.sequence) { kept = Kept() }
    if kept.start == nil, !isNear(cursor.sequence) { return }
    var last = kept.entries.last?.cursor ?? kept.start ?? cursor
    while last.sequence < visible {
      let events = try store.changes(after: last, of: nil, limit: 1024)
      guard let end = events.last else { return }
      kept.start = kept.start ?? cursor
      for event in events {
        let entry = Entry(
          cursor: event.cursor, user: event.user,
          concernsAll: event.user == nil && event.conversation == nil, text: Self.text(event))
        kept.entries.append(entry)
        kept.bytes += entry.text.count
      }
      last = end.cursor
    }
    // In large steps, as each moves the rest.
    guard kept.entries.count > Self.limit * 5 / 4 || kept.bytes > Self.byteLimit else { return }
    var removed = 0
    while kept.entries.count - removed > Self.limit || kept.bytes > Self.byteLimit * 3 / 4 {
      kept.bytes -= kept.entries[removed].text.count
      removed += 1
    }
    kept.start = kept.entries[removed - 1].cursor
    kept.entries.removeFirst(removed)
  }

  private static func text(_ event: ChangeEvent) -> [UInt8] {
    Array("id: \(event.cursor)\nevent: change\ndata: ".utf8)
      + ServiceJSON.event(ServiceEvent(event)) + Array("\n\n".utf8)
  }
}
