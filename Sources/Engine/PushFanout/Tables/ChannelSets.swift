internal import PushModel

/// The few distinct sets of levels by channel.
struct ChannelSets {
  private var sets: [[Identifier: NotificationLevel]] = [[:]]
  private var indices: [[Identifier: NotificationLevel]: UInt32] = [[:]: 0]

  var count: Int { sets.count }

  subscript(index: UInt32) -> [Identifier: NotificationLevel] { sets[Int(index)] }

  mutating func insert(_ set: [Identifier: NotificationLevel]) -> UInt32 {
    if let index = indices[set] { return index }
    let index = UInt32(sets.count)
    sets.append(set)
    indices[set] = index
    return index
  }
}
