internal import PushModel
internal import PushWorkload

/// A plain program that finds whom a day's messages name, by open rules: the holders of the sender
/// and of the text's words, and those who have a record in the thread, each looked for by halves among
/// the members.
///
/// It has numbers instead of ids. Texts are read byte by byte, and only ASCII letters are folded. It
/// runs on one thread, knows no roles, replies and mentions, and decides nothing, so its answers are
/// not the engine's: it says how much of a day's time finding people may take.
public struct NamesFloor {
  /// Lists of numbers, one after the other.
  private struct Lists {
    var ends: [Int] = []
    var numbers: [UInt32] = []

    init(_ lists: [[UInt32]]) {
      for list in lists {
        numbers += list
        ends.append(numbers.count)
      }
    }

    @inline(__always)
    func range(_ list: Int) -> Range<Int> { (list == 0 ? 0 : ends[list - 1])..<ends[list] }
  }

  private struct Post {
    var room: UInt32
    var sender: UInt32
    /// A list of ``threads``; -1 for none.
    var thread: Int
    /// Within ``bytes``.
    var text: Range<Int>
  }

  private let members: Lists
  /// By user, who has them as an important or blocked sender.
  private let senders: Lists
  private let threads: Lists
  private let words: Lists
  /// Hashes of words, with the place in ``words`` plus 1; 0 for none.
  private var slots: [(hash: UInt64, list: Int)]
  private var posts: [Post] = []
  private var bytes: [UInt8] = []

  init(_ workload: Workload, _ messages: [Message]) {
    var senders = [[UInt32]](repeating: [], count: workload.userCount)
    var users: [Identifier: UInt32] = [:]
    for user in 0..<workload.userCount { users[Workload.userID(user)] = UInt32(user) }
    var words: [UInt64: [UInt32]] = [:]
    for user in 0..<workload.userCount {
      let settings = workload.user(user)
      for id in settings.importantSenders + settings.blockedSenders {
        if let sender = users[id] { senders[Int(sender)].append(UInt32(user)) }
      }
      for keyword in settings.keywords {
        words[Self.hash(Array(keyword.utf8)[...]), default: []].append(UInt32(user))
      }
    }
    self.senders = Lists(senders)
    let listed = Array(words)
    self.words = Lists(listed.map(\.value))
    slots = Array(repeating: (0, 0), count: 1 << 16)
    precondition(listed.count < slots.count / 2, "too many words")
    for (list, word) in listed.enumerated() {
      var slot = Int(word.key & UInt64(slots.count - 1))
      while slots[slot].list != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = (word.key, list + 1)
    }
    var rooms: [Identifier: (room: UInt32, thread: Int)] = [:]
    var (members, threads) = ([[UInt32]](), [[UInt32]]())
    for room in 0..<workload.roomCount {
      var found: [UInt32] = []
      workload.forEachMember(ofRoom: room) { user, _ in found.append(UInt32(user)) }
      members.append(found.sorted())
      rooms[Workload.roomID(room)] = (UInt32(room), -1)
      for thread in 0..<workload.threadCount(ofRoom: room) {
        rooms[Workload.threadID(thread, ofRoom: room)] = (UInt32(room), threads.count)
        var followers: [UInt32] = []
        workload.forEachFollower(ofThread: thread, room: room) { user, _ in
          followers.append(UInt32(user))
        }
        threads.append(followers)
      }
    }
    (self.members, self.threads) = (Lists(members), Lists(threads))
    for message in messages {
      guard let (room, thread) = rooms[message.conversation],
        let sender = message.sender.flatMap({ users[$0] })
      else { continue }
      let start = bytes.count
      bytes += Array((message.text ?? "").utf8)
      posts.append(Post(room: room, sender: sender, thread: thread, text: start..<bytes.count))
    }
  }

  private static func hash(_ word: ArraySlice<UInt8>) -> UInt64 {
    word.reduce(0) { step($0, folded($1)) }
  }

  @inline(__always)
  private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
    let mixed = (hash ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
    return mixed ^ mixed >> 32
  }

  @inline(__always)
  private static func folded(_ byte: UInt8) -> UInt8 {
    65 <= byte && byte <= 90 ? byte | 32 : byte
  }

  /// Finds them for all messages.
  ///
  /// - Returns: how many there are, those named repeatedly as often.
  public func run() -> Int {
    var found = 0
    for post in posts {
      let room = members.range(Int(post.room))
      func look(_ lists: borrowing Lists, _ list: Int) {
        for place in lists.range(list) where isMember(lists.numbers[place], room) { found += 1 }
      }
      look(senders, Int(post.sender))
      if post.thread >= 0 { look(threads, post.thread) }
      var hash: UInt64 = 0
      for place in post.text {
        let byte = bytes[place]
        if byte != 32 {
          hash = Self.step(hash, Self.folded(byte))
          if place + 1 < post.text.upperBound { continue }
        }
        var slot = Int(hash & UInt64(slots.count - 1))
        while slots[slot].list != 0 {
          if slots[slot].hash == hash { look(words, slots[slot].list - 1) }
          slot = (slot + 1) & (slots.count - 1)
        }
        hash = 0
      }
    }
    return found
  }

  @inline(__always)
  private func isMember(_ user: UInt32, _ room: Range<Int>) -> Bool {
    var (low, high) = (room.lowerBound, room.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if members.numbers[middle] < user { low = middle + 1 } else { high = middle }
    }
    return low < room.upperBound && members.numbers[low] == user
  }
}
