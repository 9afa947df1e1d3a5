internal import GRDB

/// A position in a store's change feed: the last entry that a follower has dealt with.
///
/// An entry is known by its number and by a number that was drawn for it. After a restore of an old
/// copy, or an export and an import, entries get the numbers of others that are gone, but not what
/// was drawn for them: reading on from an entry that the feed does not have is an error, so that a
/// follower misses no change unnoticed.
public struct FeedCursor: Hashable, Sendable, CustomStringConvertible {
  /// The entry's number; 0 for the beginning.
  public let sequence: Int64
  /// What was drawn for the entry.
  let token: Int64

  /// Before the first entry.
  public static let start = FeedCursor(sequence: 0, token: 0)

  init(sequence: Int64, token: Int64) {
    self.sequence = sequence
    self.token = token
  }

  /// Reads the form of ``description``; nil for any other text.
  public init?(_ text: String) {
    if text == "0" {
      self = .start
      return
    }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let sequence = Int64(parts[0]), sequence > 0,
      let token = UInt64(parts[1], radix: 16)
    else { return nil }
    self.init(sequence: sequence, token: Int64(bitPattern: token))
    // No other spelling.
    guard description == text else { return nil }
  }

  /// The number, and what was drawn in 16 hexadecimal digits, like `17-00c0ffee00c0ffee`; `0` for
  /// the beginning.
  public var description: String {
    if sequence == 0 { return "0" }
    let digits = String(UInt64(bitPattern: token), radix: 16)
    return "\(sequence)-" + String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

extension SettingsQueries {
  /// The cursor of an entry.
  func cursor(at sequence: Int64) throws -> FeedCursor {
    FeedCursor(sequence: sequence, token: try token(at: sequence))
  }

  /// - Throws: ``StoreError/unknownChange(_:_:)`` when the feed does not have the entry of a
  ///   cursor, ``StoreError/changesDropped(_:_:upTo:)`` when it is behind those that were removed.
  func check(_ cursor: FeedCursor) throws {
    let limit = try feedLimit().cursor
    // Nothing is missed after the last entry that was removed.
    if cursor == limit { return }
    if cursor.sequence < limit.sequence {
      throw StoreError.changesDropped(path, cursor, upTo: limit.sequence)
    }
    let find = try db.cachedStatement(sql: "SELECT 1 FROM feed WHERE sequence = ?")
    guard try Bool.fetchOne(find, arguments: [cursor.sequence]) == true,
      try self.cursor(at: cursor.sequence) == cursor
    else { throw StoreError.unknownChange(path, cursor) }
  }
}

extension StoreReader {
  /// The cursor of an entry by its number; nil for one that the feed does not have.
  ///
  /// A number alone does not identify an entry after a restore of an old copy: use it only with the
  /// ``identity`` of the store.
  public func cursor(at sequence: Int64) throws -> FeedCursor? {
    try read { queries in
      let cursor = try queries.cursor(at: sequence)
      do { try queries.check(cursor) } catch StoreError.unknownChange { return nil }
      return cursor
    }
  }

  /// What distinguishes this store from others, and from its backups: 32 hexadecimal digits.
  public var identity: String {
    get throws {
      let identity = try read { queries in try queries.identity() }
      return "\(identity)"
    }
  }

  /// The cursor of the last entry of the change feed. Take it before reading all settings, and
  /// follow the feed from it, so that no change is missed.
  public func endOfFeed() throws -> FeedCursor {
    try read { queries in try queries.cursor(at: queries.lastSequence()) }
  }
}
