import PushModel
import TestSupport

@testable import PushFanout

/// Fixed seeds, so that a plain run is repeatable; `PUSH_SEED=n` runs one more.
let seeds = TestSupport.seeds([1, 42])

extension EngineVersion {
  /// The index of a message's conversation.
  func conversation(of message: Message) -> UInt32? {
    tables.conversationIDs.index(of: message.conversation)
  }
}
