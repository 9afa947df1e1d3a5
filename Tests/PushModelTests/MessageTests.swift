import PushModel
import Testing

/// Goal: a message is equal to another when every field is, also those that it keeps beside itself.
@Suite struct MessageTests {
  private static let changes: [@Sendable (inout Message) -> Void] = [
    { _ in }, { $0.filter = DeviceFilter() }, { $0.filter = filter("p1") },
    { $0.ext.filter = filter("p1") }, { $0.ext.force = true },
    {
      $0.ext.force = true
      $0.filter = DeviceFilter()
    }, { $0.ext.atList = .unreadable }, { $0.sentAt = $0.at },
  ]

  private static func filter(_ id: Identifier) -> DeviceFilter {
    var filter = DeviceFilter()
    filter.acceptDeviceIDs = [id]
    return filter
  }

  private func message(_ change: (inout Message) -> Void) -> Message {
    var message = Message(id: "m1", conversation: "g1", at: Instant(milliseconds: 7))
    change(&message)
    return message
  }

  @Test func messagesWithDifferentFieldsDiffer() {
    let messages = Self.changes.map(message)
    let same = Self.changes.map(message)
    let equal = messages.map { one in same.map { one == $0 } }
    #expect(equal == messages.indices.map { one in messages.indices.map { one == $0 } })
    #expect(Set(messages + same).count == messages.count)
  }

  @Test func aFieldIsChangedWithoutTheOthers() {
    var message = message { _ in }
    #expect(!message.hasRareFields)
    message.filter = Self.filter("p1")
    message.ext.force = true
    let copy = message
    message.filter = nil
    #expect(message.filter == nil && message.ext.force && message.hasRareFields)
    message.ext.force = false
    #expect(message == self.message { _ in } && !message.hasRareFields)
    #expect(copy.filter == Self.filter("p1") && copy.ext.force)
  }

  /// Messages are copied into batches, and from there for each decision.
  @Test func aMessageIsTwoCacheLines() {
    #expect(MemoryLayout<Message>.size <= 128)
  }
}
