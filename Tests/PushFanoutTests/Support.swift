import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Fixed seeds, so that a plain run is repeatable; `PUSH_SEED=n` runs one more.
let seeds = TestSupport.seeds([1, 42])

extension EngineVersion {
  /// The index of a message's conversation.
  func conversation(of message: Message) -> UInt32? {
    tables.conversationIDs.index(of: message.conversation)
  }
}

/// Which conversations are cached, and in which form.
struct CacheSizes: CustomTestStringConvertible, Sendable {
  /// See ``CachedConversation/countedPerMessageLimit`` and ``ConversationCache/readFromTablesLimit``.
  let small: Int
  let table: Int

  var testDescription: String { "small to \(small), tables to \(table)" }

  /// All conversations are cached.
  static let cached = [CacheSizes(small: 0, table: 0), CacheSizes(small: .max, table: 0)]
  /// The defaults, and no conversation cached but those whose keys in the tables do not suffice.
  static let all =
    cached + [
      CacheSizes(
        small: CachedConversation.countedPerMessageLimit,
        table: CachedConversation.readFromTablesLimit),
      CacheSizes(small: 0, table: .max),
    ]
}

extension Fanout {
  convenience init(_ writer: TableWriter, threads: Int, _ sizes: CacheSizes) {
    self.init(
      writer, threads: threads, countedPerMessageLimit: sizes.small,
      readFromTablesLimit: sizes.table)
  }
}
