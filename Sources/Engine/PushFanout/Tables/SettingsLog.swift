/// Whose settings changed, in order, for cached states to follow.
///
/// Versions share pages. When ``newer`` is full, ``older`` is discarded.
struct SettingsLog {
  /// A user, and the conversation of the change.
  struct Entry {
    var user: UInt32
    /// ``everywhere`` for a user's own settings.
    var conversation: UInt32
  }

  static let everywhere = UInt32.max

  /// Entries per half.
  private static let limit = 1 << 18

  /// The first entry's position.
  private(set) var start = 0
  private var older = PagedTable<UInt64>()
  private var newer = PagedTable<UInt64>()

  /// One past the last position.
  var end: Int { start + older.count + newer.count }

  var byteCount: Int { older.byteCount + newer.byteCount }

  /// - Precondition: ``start`` <= position < ``end``.
  subscript(position: Int) -> Entry {
    let index = position - start
    let bits = index < older.count ? older[index] : newer[index - older.count]
    return Entry(
      user: UInt32(truncatingIfNeeded: bits >> 32), conversation: UInt32(truncatingIfNeeded: bits))
  }

  mutating func append(_ entry: Entry, _ store: PageStore) {
    if newer.count == Self.limit {
      start += older.count
      older.removeAll(store)
      older = newer
      newer = PagedTable()
    }
    newer.append(UInt64(entry.user) << 32 | UInt64(entry.conversation), store)
  }

  /// Discards all entries, so that readers of earlier versions cannot follow.
  mutating func removeAll(_ store: PageStore) {
    start = end + 1
    older.removeAll(store)
    newer.removeAll(store)
  }

  func free() {
    older.free()
    newer.free()
  }

  func checkInvariants(_ scope: InvariantScope, generation: UInt64) {
    older.checkInvariants(scope, generation: generation)
    newer.checkInvariants(scope, generation: generation)
  }
}
