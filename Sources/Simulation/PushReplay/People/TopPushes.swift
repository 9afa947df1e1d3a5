internal import PushModel
internal import PushSupport

/// Who gets most pushes, and whose messages make most of them.
///
/// - Source: docs/replay.md, "Most pushes".
public struct TopPushes: Codable, Equatable, Sendable {
  /// How many are listed at most.
  public var limit: Int
  /// The people with most pushes, the most first; of equals the first by id.
  public var people: [TopPerson] = []
  /// The senders whose messages have most pushes, in the same order.
  public var senders: [TopSender] = []
  /// What lists the messages to one of these people when the person's id is added, as a command
  /// line; nil if nobody said how.
  public var follow: String?

  /// Nobody.
  public init(limit: Int) { self.limit = limit }
}

/// A person, and the room that most of the person's pushes come from.
public struct TopPerson: Codable, Equatable, Sendable {
  /// The person's id.
  public var id: String
  /// All of the person's pushes.
  public var pushes: Int
  /// Days with a push, in the result's time zone.
  public var days: Int
  /// The conversation with most of the pushes; of equals the first by id.
  public var conversation: String
  /// How many of the pushes that conversation has.
  public var share: Int

  /// A person with pushes.
  public init(id: String, pushes: Int, days: Int, conversation: String, share: Int) {
    self.id = id
    self.pushes = pushes
    self.days = days
    self.conversation = conversation
    self.share = share
  }
}

/// A sender, and what became of the messages.
public struct TopSender: Codable, Equatable, Sendable {
  /// The sender's id.
  public var id: String
  /// Messages of the sender.
  public var messages = 0
  /// Their decisions.
  public var decisions = 0
  /// Their pushes.
  public var pushes = 0

  /// A sender without messages.
  public init(id: String) { self.id = id }
}

/// Adds up what became of each sender's messages.
///
/// - Memory: 50 bytes a sender.
struct SenderTally {
  private var ids = IdentifierTable()
  private var senders: [(messages: Int, decisions: Int, pushes: Int)] = []

  mutating func add(_ sender: Identifier?, decisions: Int, pushes: Int) {
    guard let sender else { return }
    let index = Int(ids.index(of: sender) ?? ids.insert(sender))
    if index == senders.count { senders.append((0, 0, 0)) }
    senders[index].messages += 1
    senders[index].decisions += decisions
    senders[index].pushes += pushes
  }

  /// The senders with most pushes.
  ///
  /// - Complexity: O(senders log senders).
  func most(_ limit: Int) -> [TopSender] {
    Most.of(senders.map(\.pushes), limit) { ids[UInt32($0)].text }.map { index, id in
      var sender = TopSender(id: id)
      (sender.messages, sender.decisions, sender.pushes) = senders[index]
      return sender
    }
  }
}

/// How often something happened to users in rooms, as far as it did.
///
/// - Memory: 12 bytes a place, of which up to three in four are taken: 16 to 32 bytes for each pair
///   of a user and a room.
struct UserRoomCounts {
  private static let free = UInt64.max
  private var keys: [UInt64] = []
  private var counts: [Int32] = []
  private var taken = 0
  /// How far the bits of a product are shifted to be a place.
  private var shift: UInt64 = 64

  /// - Parameter count: how many more, or less.
  mutating func add(_ user: UInt32, _ room: UInt32, _ count: Int32) {
    if taken * 4 >= keys.count * 3 { grow() }
    let key = UInt64(user) << 32 | UInt64(room)
    let place = place(of: key)
    if keys[place] == Self.free {
      keys[place] = key
      taken += 1
    }
    counts[place] += count
  }

  /// Where a key is, or is to be. Multiplied by the golden ratio, keys spread evenly.
  private func place(of key: UInt64) -> Int {
    var place = Int((key &* 0x9E37_79B9_7F4A_7C15) >> shift)
    while keys[place] != key, keys[place] != Self.free { place = (place + 1) & (keys.count - 1) }
    return place
  }

  private mutating func grow() {
    let old = (keys: keys, counts: counts)
    let size = max(64, keys.count * 2)
    keys = [UInt64](repeating: Self.free, count: size)
    counts = [Int32](repeating: 0, count: size)
    shift = 64 - UInt64(size.trailingZeroBitCount)
    for (key, count) in zip(old.keys, old.counts) where key != Self.free {
      let place = place(of: key)
      (keys[place], counts[place]) = (key, count)
    }
  }

  /// Calls `body` with each user, room and count that is not 0, in no order.
  func forEach(_ body: (UInt32, UInt32, Int) -> Void) {
    for (key, count) in zip(keys, counts) where count != 0 {
      body(UInt32(key >> 32), UInt32(truncatingIfNeeded: key), Int(count))
    }
  }
}

/// The greatest of many counts.
enum Most {
  /// The places and names of the greatest counts above 0, the greatest first; of equals the first by
  /// name.
  ///
  /// - Parameter name: asked for only where it matters.
  /// - Complexity: O(counts log counts).
  static func of(
    _ counts: [Int], _ limit: Int, name: (Int) -> String
  ) -> [(place: Int, name: String)] {
    guard let least = counts.filter({ $0 > 0 }).sorted(by: >).prefix(max(0, limit)).last else {
      return []
    }
    let found = counts.indices.filter { counts[$0] >= least }.map { (place: $0, name: name($0)) }
    let sorted = found.sorted {
      counts[$0.place] != counts[$1.place]
        ? counts[$0.place] > counts[$1.place]
        : $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
    }
    return Array(sorted.prefix(limit))
  }
}
