internal import PushModel

/// A user's keywords and senders, and who has which: names are indices in ``Tables/names``.
///
/// A user's list is a head, then the names. Changed lists and holders stay, unread, until
/// ``TableWriter/compact()``.
struct NameLists {
  /// A list's head: how many names of each kind follow.
  private struct Head {
    static let size = 3

    var keywords: Int
    var important: Int
    var blocked: Int

    /// How many indices follow.
    var count: Int { 2 * keywords + important + blocked }
  }

  /// A user who has a name, after earlier ones.
  struct Holder: BitwiseCopyable {
    var user: UInt32
    /// The index plus 1 of the holder before; 0 for none.
    var before: UInt32
  }

  /// Heads, each followed by two names a keyword, as written and as its tokens, and one a sender.
  private(set) var names: PagedTable<UInt32>
  /// By user, where the list begins.
  private(set) var starts: PagedMap
  private(set) var holders: PagedTable<Holder>
  /// By name, how many holders were added, above 32 bits with the last one's index plus 1.
  private(set) var lastHolders: PagedMap
  /// How many elements of ``names`` no list has, and how many holders have their name no more.
  private(set) var unread = (names: 0, holders: 0)

  init<Visitor: TableVisitor & ~Copyable>(
    _ other: NameLists?, _ visitor: inout Visitor
  ) throws(Visitor.Failure) {
    names = try visitor.visit(other?.names, .nameLists)
    starts = try visitor.visit(other?.starts, .nameListStarts)
    holders = try visitor.visit(other?.holders, .nameHolders)
    lastHolders = try visitor.visit(other?.lastHolders, .lastNameHolders)
    unread = other?.unread ?? (0, 0)
  }

  var isEmpty: Bool { starts.count == 0 }

  /// The names of a user's list.
  struct List {
    /// As written, and as tokens.
    var keywords: [(written: UInt32, tokens: UInt32)] = []
    var important: [UInt32] = []
    var blocked: [UInt32] = []

    var isEmpty: Bool { keywords.isEmpty && important.isEmpty && blocked.isEmpty }
    /// All names, as written and as tokens.
    var names: [UInt32] { keywords.map(\.written) + keys }

    /// The list with each name in place of which there is another.
    func withNames(_ other: (_ name: UInt32, _ isTokens: Bool) -> UInt32) -> List {
      List(
        keywords: keywords.map {
          (written: other($0.written, false), tokens: other($0.tokens, true))
        },
        important: important.map { other($0, false) }, blocked: blocked.map { other($0, false) })
    }

    /// How many elements it takes.
    fileprivate var size: Int {
      Head.size + 2 * keywords.count + important.count + blocked.count
    }
    /// By which a holder is found.
    fileprivate var keys: [UInt32] { keywords.map(\.tokens) + important + blocked }
  }

  func list(of user: UInt32) -> List? {
    guard let start = starts[UInt64(user)] else { return nil }
    var index = Int(start)
    let head = head(at: index)
    index += Head.size
    func next() -> UInt32 {
      defer { index += 1 }
      return names[index]
    }
    var list = List()
    list.keywords = (0..<head.keywords).map { _ in (written: next(), tokens: next()) }
    list.important = (0..<head.important).map { _ in next() }
    list.blocked = (0..<head.blocked).map { _ in next() }
    return list
  }

  /// Prefetches where the last holder of a name is.
  func prefetchHolders(of name: UInt32) { lastHolders.prefetch(UInt64(name)) }

  /// Prefetches the last holder of a name itself.
  func prefetchLastHolder(of name: UInt32) {
    let last = UInt32(truncatingIfNeeded: lastHolders[UInt64(name)] ?? 0)
    if last > 0 { holders.prefetchAmongMany(Int(last) - 1) }
  }

  /// Prefetches where the list of a user begins.
  func prefetch(_ user: UInt32) { starts.prefetch(UInt64(user)) }

  /// The classes that a message has for a user by its keywords and its sender (O-1).
  func classes(
    for user: UInt32, keywords: NumberSet?, sender: UInt32?
  ) -> NamedClasses {
    guard let start = starts[UInt64(user)] else { return NamedClasses([]) }
    let head = head(at: Int(start))
    var index = Int(start) + Head.size
    var classes: MessageClasses = []
    if let keywords {
      for keyword in 0..<head.keywords where keywords.contains(names[index + 2 * keyword + 1]) {
        classes.insert(.keyword)
        break
      }
    }
    guard let sender else { return NamedClasses(classes) }
    index += 2 * head.keywords
    for other in 0..<head.important where names[index + other] == sender {
      classes.insert(.sender)
      break
    }
    index += head.important
    for other in 0..<head.blocked where names[index + other] == sender { return .blocksSender }
    return NamedClasses(classes)
  }

  /// How many holders a name has, or had.
  func holderCount(of name: UInt32) -> Int { Int(lastHolders[UInt64(name)] ?? 0) >> 32 }

  /// - Returns: false if there are too many names.
  mutating func set(_ list: List, of user: UInt32, limit: Int, _ store: PageStore) -> Bool {
    let before = self.list(of: user)
    let known = Set(before?.keys ?? [])
    let wanted = Set(list.keys)
    let new = wanted.subtracting(known)
    let counts = [list.keywords.count, list.important.count, list.blocked.count]
    guard names.count + list.size < limit, holders.count + new.count < limit else { return false }
    if let before {
      unread.names += before.size
      unread.holders += known.subtracting(wanted).count
    }
    if list.isEmpty {
      if before != nil { starts.remove(UInt64(user), store) }
      return true
    }
    starts.set(UInt64(user), Int64(names.count), store)
    for count in counts { names.append(UInt32(count), store) }
    for (written, tokens) in list.keywords {
      names.append(written, store)
      names.append(tokens, store)
    }
    for name in list.important + list.blocked { names.append(name, store) }
    for name in new.sorted() { addHolder(user, of: name, store) }
    return true
  }

  private mutating func addHolder(_ user: UInt32, of name: UInt32, _ store: PageStore) {
    let last = lastHolders[UInt64(name)] ?? 0
    holders.append(Holder(user: user, before: UInt32(truncatingIfNeeded: last)), store)
    lastHolders.set(UInt64(name), (last >> 32 + 1) << 32 | Int64(holders.count), store)
  }

  /// Counts what is ``unread``, of lists that were read from a snapshot; a holder too few where a
  /// list has a name twice.
  ///
  /// - Parameter body: called with each name in a list.
  /// - Complexity: O(names of all users).
  mutating func countUnread(_ body: (UInt32) -> Void) {
    unread = (names.count, holders.count)
    starts.slots.forEachChunkElement(0..<starts.slots.count) { _, slot in
      if slot.key == 0 { return }
      let head = head(at: Int(slot.value))
      let first = Int(slot.value) + Head.size
      unread.names -= Head.size + head.count
      unread.holders -= head.count - head.keywords
      for index in first..<first + head.count { body(names[index]) }
    }
    // A file may say that two slots are of one user.
    unread = (max(unread.names, 0), max(unread.holders, 0))
  }

  mutating func removeAll(_ store: PageStore) {
    names.removeAll(store)
    holders.removeAll(store)
    starts.removeAll(store)
    lastHolders.removeAll(store)
    unread = (0, 0)
  }

  /// Moves the holders of each name together, in the order of users, so that finding them reads few
  /// cache lines.
  ///
  /// - Complexity: O(names of all users).
  mutating func groupHolders(_ store: PageStore) {
    var names: [(name: UInt32, users: [UInt32])] = []
    for index in 0..<lastHolders.slots.count where lastHolders.slots[index].key != 0 {
      let name = UInt32(lastHolders.slots[index].key - 1)
      var users: [UInt32] = []
      forEachHolder(of: name) { users.append($0) }
      names.append((name, users.sorted(by: >)))
    }
    holders.removeAll(store)
    for (name, users) in names {
      lastHolders.set(UInt64(name), 0, store)
      // The last is found first.
      for user in users { addHolder(user, of: name, store) }
    }
  }

  /// Calls `body` with users who have a name, or had it, perhaps repeatedly.
  func forEachHolder(of name: UInt32, _ body: (UInt32) -> Void) {
    var next = UInt32(truncatingIfNeeded: lastHolders[UInt64(name)] ?? 0)
    while next > 0 {
      let holder = holders[Int(next) - 1]
      body(holder.user)
      next = holder.before
    }
  }

  private func head(at index: Int) -> Head {
    Head(
      keywords: Int(names[index]), important: Int(names[index + 1]),
      blocked: Int(names[index + 2]))
  }

  /// Whether the lists of ``starts``' slots are within the tables, and names below a count.
  func areRight(slots range: Range<Int>, nameCount: Int) -> Bool {
    range.allSatisfy { index in
      let slot = starts.slots[index]
      if slot.key == 0 { return true }
      let first = Int(slot.value) + Head.size
      guard first <= names.count else { return false }
      let count = head(at: Int(slot.value)).count
      return first + count <= names.count
        && (first..<first + count).allSatisfy { names[$0] < nameCount }
    }
  }

  /// Whether holders come after those before them.
  func areRight(holders range: Range<Int>) -> Bool {
    range.allSatisfy { holders[$0].before <= $0 }
  }
}

/// Numbers of which most others are told apart without hashing. A class, as few messages have one.
final class NumberSet: Sendable {
  let all: Set<UInt32>
  /// A bit for the numbers with the same lowest bits.
  private let filter: InlineArray<16, UInt64>

  /// - Returns: nil for no numbers.
  init?(_ numbers: Set<UInt32>) {
    if numbers.isEmpty { return nil }
    all = numbers
    var filter = InlineArray<16, UInt64>(repeating: 0)
    for number in numbers { filter[Int(number >> 6 & 15)] |= 1 << UInt64(number & 63) }
    self.filter = filter
  }

  @inline(__always)
  func contains(_ number: UInt32) -> Bool {
    filter[Int(number >> 6 & 15)] & 1 << UInt64(number & 63) != 0 && all.contains(number)
  }
}
