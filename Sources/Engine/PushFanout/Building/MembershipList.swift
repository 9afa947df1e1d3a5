internal import Algorithms
internal import PushSupport
internal import Synchronization

/// Runs of consecutive items of one conversation.
struct ConversationRuns: Sendable {
  private(set) var conversations: [UInt32] = []
  private(set) var ends: [UInt32] = []

  init() {}

  /// - Parameter ends: by conversation; equal ends mean no items.
  private init(endsOfConversations ends: [UInt32]) {
    for (conversation, end) in ends.enumerated() where Int(end) > count {
      append(UInt32(conversation), count: Int(end) - count)
    }
  }

  var count: Int { Int(ends.last ?? 0) }

  mutating func append(_ conversation: UInt32, count: Int = 1) {
    let end = UInt32(self.count + count)
    if conversations.last == conversation {
      ends[ends.count - 1] = end
    } else {
      conversations.append(conversation)
      ends.append(end)
    }
  }

  @inline(__always)
  func run(_ index: Int) -> Range<Int> {
    Int(index == 0 ? 0 : ends[index - 1])..<Int(ends[index])
  }

  /// Whether each conversation has one run.
  func isGrouped(conversationCount: Int) -> Bool {
    var seen = [Bool](repeating: false, count: conversationCount)
    for conversation in conversations {
      if seen[Int(conversation)] { return false }
      seen[Int(conversation)] = true
    }
    return true
  }

  func shares(_ shareCount: Int) -> [Range<Int>] {
    var shares: [Range<Int>] = []
    for share in 1...shareCount {
      let start = shares.last?.upperBound ?? 0
      let limit = count * share / shareCount
      let end = share == shareCount ? ends.count : ends.partitioningIndex { Int($0) > limit }
      shares.append(start..<end)
    }
    return shares
  }

  /// Groups items by conversation with a stable counting sort.
  ///
  /// - Parameter move: stores items in consecutive slots, on several threads.
  /// - Complexity: O(items + conversations).
  func distribute(
    conversationCount: Int, threads: Int,
    _ move: @Sendable (_ items: Range<Int>, _ slot: Int) -> Void
  ) -> ConversationRuns {
    // With few items a share, counting for each does not pay off.
    let shareCount = max(1, min(threads, count / max(1 << 16, conversationCount)))
    let shares = shares(shareCount)
    let (starts, ends) = Self.starts(
      Parallel.map(shareCount, threads: threads) { count(shares[$0], conversationCount) })
    let startsOfShares = Lock(starts)
    Parallel.perform(shareCount, threads: threads) { share in
      var next: [UInt32] = []
      startsOfShares.withLock { swap(&next, &$0[share]) }
      for run in shares[share] {
        let (items, conversation) = (self.run(run), Int(conversations[run]))
        move(items, Int(next[conversation]))
        next[conversation] += UInt32(items.count)
      }
    }
    return ConversationRuns(endsOfConversations: ends)
  }

  private func count(_ share: Range<Int>, _ conversationCount: Int) -> [UInt32] {
    var counts = [UInt32](repeating: 0, count: conversationCount)
    for run in share { counts[Int(conversations[run])] += UInt32(self.run(run).count) }
    return counts
  }

  private static func starts(_ counts: consuming [[UInt32]]) -> ([[UInt32]], [UInt32]) {
    var starts = counts
    let (shareCount, conversationCount) = (starts.count, starts[0].count)
    var ends = [UInt32](repeating: 0, count: conversationCount)
    var end: UInt32 = 0
    for conversation in 0..<conversationCount {
      for share in 0..<shareCount {
        let count = starts[share][conversation]
        starts[share][conversation] = end
        end += count
      }
      ends[conversation] = end
    }
    return (starts, ends)
  }
}

/// Memberships in the order added.
struct MembershipList: Sendable {
  private(set) var runs = ConversationRuns()
  let users = TableColumn<UInt32>()
  /// The bits of each ``PackedMember``.
  let bits = TableColumn<UInt8>()

  var count: Int { users.count }

  mutating func append(
    _ conversation: UInt32, _ users: some Collection<UInt32>, _ bits: some Collection<UInt8>
  ) {
    append(conversation, count: users.count)
    self.users.append(users)
    self.bits.append(bits)
  }

  /// Adds members whose conversations follow.
  func append(members users: ArraySlice<UInt32>, _ bits: ArraySlice<UInt8>) {
    self.users.append(users)
    self.bits.append(bits)
  }

  mutating func append(_ conversation: UInt32, count: Int) {
    runs.append(conversation, count: count)
  }
}

/// Elements in pages that a table takes without copying.
///
/// SAFETY: one thread appends; others read afterwards.
@safe final class TableColumn<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
  /// The elements, and room for more.
  private(set) var table = PagedTable<Element>()
  /// The table's own store, which frees pages that no other table takes.
  private let store = PageStore()
  private(set) var count = 0

  func append(_ elements: some Collection<Element>) {
    let end = count + elements.count
    while table.count < end {
      // A node's pages, except for the first, are made together, as ``PagedTable/prefetch(_:)``
      // expects.
      let more = min(max(table.count, PagedTable<Element>.pageSize), PagedTable<Element>.nodeSize)
      table.grow(to: table.count + more, store, threads: 1)
    }
    table.update(from: count, elements)
    count = end
  }

  /// Moves the pages to another store's update.
  func take(into other: PageStore) -> PagedTable<Element> {
    table.shrink(to: count, store)
    other.adopt(store)
    defer {
      table = PagedTable()
      count = 0
    }
    return table
  }
}

/// Values beside the level.
struct OverrideList: Sendable {
  private(set) var runs = ConversationRuns()
  let records = TableColumn<OverrideRecord>()

  var count: Int { records.count }

  mutating func append(_ conversation: UInt32, _ record: OverrideRecord) {
    runs.append(conversation)
    records.append(CollectionOfOne(record))
  }
}
