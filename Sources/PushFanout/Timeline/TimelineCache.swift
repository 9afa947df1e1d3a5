internal import PushModel

/// The conversations that messages went to most recently.
struct TimelineCache {
  private struct Key: Hashable {
    let conversation: UInt32
    let channel: Identifier
  }

  private var found: [Key: TimelineConversation] = [:]
  private(set) var byteCount = 0
  private var round: UInt32 = 0
  /// Above the limit, conversations not used since the last eviction are evicted.
  var byteLimit = 1 << 29

  mutating func find(_ target: ConversationStates.Target) -> TimelineConversation? {
    guard let known = found[Key(conversation: target.conversation, channel: target.channel)] else {
      return nil
    }
    known.round = round
    count(known)
    return known
  }

  /// Updates the total by the size of a conversation, which may have grown.
  private mutating func count(_ conversation: TimelineConversation) {
    let size = conversation.byteCount
    byteCount += size - conversation.countedBytes
    conversation.countedBytes = size
  }

  mutating func keep(_ made: TimelineConversation) {
    made.round = round
    let key = Key(conversation: made.conversation, channel: made.channel)
    byteCount -= found.updateValue(made, forKey: key)?.countedBytes ?? 0
    count(made)
    guard byteCount > byteLimit else { return }
    found = found.filter { $0.value.round == round }
    round &+= 1
    byteCount = found.values.reduce(0) { $0 + $1.countedBytes }
    // All were in use: evict them all the same.
    if byteCount > byteLimit { removeAll() }
  }

  mutating func removeAll() {
    found.removeAll()
    byteCount = 0
  }
}
