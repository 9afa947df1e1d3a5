internal import NIOCore
internal import PushModel
internal import PushService
internal import PushStore
internal import PushStoreService
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
    /// Server-sent events; empty when nothing has happened for a while.
    let text: ByteBuffer
    /// The last entry that was looked at.
    let end: FeedCursor
  }

  /// A stream that has been sent everything.
  private struct Waiter {
    var cursor: FeedCursor
    let user: Identifier?
    let since = ContinuousClock.now
    let continuation: CheckedContinuation<Page, any Error>
  }

  private struct Waiters {
    var all: [Int: Waiter] = [:]
    var count = 0
    /// Whether rounds are made for them.
    var hasRounds = false
    /// The entry up to which the last round went.
    var served: Int64 = 0
  }

  private let store: SettingsStore
  private let kept = Mutex(Kept())
  private let waiters = Mutex(Waiters())

  /// - Parameter heartbeat: after so long without an entry something is sent, so that both sides
  ///   notice a connection that is lost.
  init(_ store: SettingsStore, heartbeat: Duration = .seconds(15)) {
    self.store = store
    self.heartbeat = heartbeat
  }

  /// Entries of so long are sent together, however many commits they are of.
  private static let gathering = Duration.milliseconds(100)
  private let heartbeat: Duration

  /// The entries after a cursor, once there are any; some of them if there are many.
  ///
  /// Who was sent everything waits for the next round, which is made for all of them. Ends with an
  /// empty page when the task is cancelled.
  ///
  /// - Parameter user: whom they concern; nil for all.
  func next(after cursor: FeedCursor, of user: Identifier?) async throws -> Page {
    var cursor = cursor
    while cursor.sequence < waiters.withLock({ $0.served }) {
      let page = try await onOtherThread { [cursor] in try self.page(after: cursor, of: user) }
      if page.text.readableBytes > 0 || page.end == cursor || Task.isCancelled { return page }
      cursor = page.end
    }
    let id = waiters.withLock { waiters in
      waiters.count += 1
      return waiters.count
    }
    let ended = Page(text: ByteBuffer(), end: cursor)
    return try await withTaskCancellationHandler { [cursor] in
      try await withCheckedThrowingContinuation { continuation in
        let isFirst = waiters.withLock { waiters in
          waiters.all[id] = Waiter(cursor: cursor, user: user, continuation: continuation)
          defer { waiters.hasRounds = true }
          return !waiters.hasRounds
        }
        if Task.isCancelled { end(id, .success(ended)) }
        if isFirst {
          Task(executorPreference: globalConcurrentExecutor) { await self.makeRounds() }
        }
      }
    } onCancel: {
      end(id, .success(ended))
    }
  }

  /// Ends the wait of a stream, unless it has ended.
  private func end(_ id: Int, _ result: Result<Page, any Error>) {
    waiters.withLock { $0.all.removeValue(forKey: id) }?.continuation.resume(with: result)
  }

  /// Serves those who wait, as long as there are any.
  private func makeRounds() async {
    repeat {
      let (served, due) = waiters.withLock { waiters in
        (waiters.served, (waiters.all.values.map(\.since).min() ?? .now) + heartbeat)
      }
      _ = try? await Waiting.until(max(.zero, due - .now)) {
        await self.store.waitUntilVisible(served + 1)
      }
      makeRound()
      try? await Task.sleep(for: Self.gathering)
    } while waiters.withLock { waiters in
      waiters.hasRounds = !waiters.all.isEmpty
      return waiters.hasRounds
    }
  }

  private func makeRound() {
    let visible = store.visibleSequence
    let all = waiters.withLock { waiters in
      waiters.served = visible
      return waiters.all
    }
    // Most have the same cursor, and share the bytes.
    var last: (cursor: FeedCursor, user: Identifier?, page: Page)?
    for (id, waiter) in all {
      do {
        let page: Page
        if let last, last.cursor == waiter.cursor, last.user == waiter.user {
          page = last.page
        } else {
          page = try self.page(after: waiter.cursor, of: waiter.user)
          last = (waiter.cursor, waiter.user, page)
        }
        // A little early, so that one round is for many.
        let isLate = ContinuousClock.now - waiter.since > heartbeat * 0.9
        if page.text.readableBytes > 0 || isLate {
          end(id, .success(page))
        } else {
          waiters.withLock { $0.all[id]?.cursor = page.end }
        }
      } catch {
        end(id, .failure(error))
      }
    }
  }

  /// The entries after a cursor, some of them if there are many. Blocks while they are read.
  private func page(after cursor: FeedCursor, of user: Identifier?) throws -> Page {
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
