internal import Algorithms
internal import PushModel

/// What a message says of single users by open rules (O-1, O-15).
struct OpenMessage: Sendable {
  let messageClass: OpenMessageClass
  /// Ascending.
  private let mentioned: [UInt32]
  /// ``IDTable/unknown`` for none.
  private let repliedTo: UInt32
  /// Members' policies with a mentioned role; nil for none, as of the keywords.
  private let roles: NumberSet?
  /// The sender's and the keywords' names, where anyone has them.
  private let sender: UInt32?
  private let keywords: NumberSet?
  /// How many members ahead names are prefetched.
  private static let ahead = 16

  /// As ``ConversationTarget/thread``.
  private let thread: UInt32

  /// - Parameters:
  ///   - messageClass: of its plan.
  ///   - thread: as ``ConversationTarget/thread``.
  init(
    _ message: borrowing Message, _ messageClass: Int, inThread thread: UInt32,
    _ tables: borrowing Tables
  ) {
    self.messageClass = OpenMessageClass(index: messageClass)
    self.thread = thread
    if thread != IDTable.unknown {
      let row = tables.conversations[Int(thread)]
      if row.count > 0 {
        tables.memberUsers.prefetchAmongMany(Int(row.start))
        tables.packedMembers.prefetchAmongMany(Int(row.start))
      }
      if !row.overrides.isEmpty { tables.overrides.prefetchAmongMany(row.overrides.lowerBound) }
    }
    func number(_ id: Identifier, _ lookup: IDLookup) -> UInt32? {
      lookup.index(of: id, hash: lookup.hash(id))
    }
    let hasNames = !tables.nameLists.isEmpty
    sender = hasNames ? message.sender.flatMap { number($0, tables.names.lookup) } : nil
    if let sender { tables.nameLists.prefetchLastHolder(of: sender) }
    if let mentions = message.mentions {
      let users = tables.userIDs.lookup
      mentioned = mentions.compactMap { number($0, users) }.sorted()
    } else {
      mentioned = []
    }
    guard message.hasRareFields else {
      (repliedTo, roles, keywords) = (IDTable.unknown, nil, nil)
      return
    }
    repliedTo =
      message.replyToUser.flatMap { number($0, tables.userIDs.lookup) } ?? IDTable.unknown
    roles = message.mentionsRoles.flatMap { NumberSet(tables.policies.members(withRoles: $0)) }
    keywords = hasNames ? message.text.flatMap { NumberSet(tables.keywords(in: $0)) } : nil
  }

  /// What it says of a user.
  func classes(
    for user: UInt32, _ record: MemberRecord, _ tables: borrowing Tables
  ) -> NamedClasses {
    var classes: MessageClasses = []
    let place = mentioned.partitioningIndex { $0 >= user }
    if place < mentioned.count, mentioned[place] == user { classes.insert(.mentionsMe) }
    if repliedTo == user { classes.insert(.reply) }
    if let roles, roles.contains(record.policyIndex) { classes.insert(.role) }
    let named = messageClass.named.union(NamedClasses(classes))
    return namesNobody ? named : named.union(own(user, tables.nameLists))
  }

  private var namesNobody: Bool { sender == nil && keywords == nil }

  /// By the user's names.
  private func own(_ user: UInt32, _ lists: borrowing NameLists) -> NamedClasses {
    lists.classes(for: user, keywords: keywords, sender: sender)
  }

  /// Names each member for whom the message may have other classes than for most.
  ///
  /// - Complexity: O((mentions + holders of a name + records in the thread) log members);
  ///   O(members) for roles and for names that more users have.
  func name(
    _ target: borrowing ConversationTarget, _ tables: Tables, in storage: AnswerStorage
  ) {
    let row = target.memberRow
    if row.count == 0 { return }
    if thread != IDTable.unknown {
      let slots = tables.conversations[Int(thread)].range
      tables.memberUsers.forEachChunkElement(slots) { tables.prefetchRank(of: $1, in: row) }
      tables.memberUsers.forEachChunkElement(slots) { _, user in
        if let rank = tables.rank(of: user, in: row) { storage.name(rank, .hasRecord) }
      }
    }
    func name(_ user: UInt32, _ classes: MessageClasses) {
      guard let rank = tables.rank(of: user, in: row) else { return }
      storage.name(rank, NamedClasses(classes))
    }
    for user in mentioned { name(user, .mentionsMe) }
    if repliedTo != IDTable.unknown { name(repliedTo, .reply) }
    if let roles {
      var rank = 0
      tables.forEachMember(of: target.members) { _, record in
        if roles.contains(record.policyIndex) { storage.name(rank, NamedClasses(.role)) }
        rank += 1
      }
    }
    if namesNobody { return }
    let lists = tables.nameLists
    func add(_ user: UInt32, _ rank: Int) {
      let classes = own(user, lists)
      if !classes.isEmpty { storage.name(rank, classes) }
    }
    func addHolders(of name: UInt32) -> Bool { forEachMember(with: name, row, tables, add) }
    let words = keywords?.all ?? []
    let count = words.reduce(sender.map(lists.holderCount) ?? 0) {
      $0 + lists.holderCount(of: $1)
    }
    // Reading a member's names takes several times as long as finding the next holder.
    if count <= 4 * Int(row.count), sender.map(addHolders) ?? true,
      words.allSatisfy(addHolders)
    {
      return
    }
    let (first, last) = (Int(row.start), row.range.upperBound - 1)
    tables.memberUsers.forEachChunkElement(row.range) { rank, user in
      lists.prefetch(tables.memberUsers[min(first + rank + Self.ahead, last)])
      add(user, rank)
    }
  }

  /// Calls `body` with members who have a name, or had it.
  ///
  /// - Returns: false, perhaps before the last, if reading all members' names costs less.
  private func forEachMember(
    with name: UInt32, _ row: ConversationRow, _ tables: Tables, _ body: (UInt32, Int) -> Void
  ) -> Bool {
    let (lists, users, count) = (tables.nameLists, tables.memberUsers, Int(row.count))
    if lists.holderCount(of: name) <= count / 16 {
      lists.forEachHolder(of: name) { tables.prefetchRank(of: $0, in: row) }
      lists.forEachHolder(of: name) { user in
        if let rank = tables.rank(of: user, in: row) { body(user, rank) }
      }
      return true
    }
    // Those known since the build are in the order of users, so that the next one is near.
    var (last, rank, others): (UInt32, Int, Int) = (0, 0, 0)
    lists.forEachHolder(of: name) { user in
      if user < last { (rank, others) = (0, others + 1) }
      last = user
      if others > count / 4 { return }
      rank = users.rank(ofFirstNotBelow: user, from: rank, in: row.range)
      if rank < count, users[Int(row.start) + rank] == user { body(user, rank) }
    }
    return others <= count / 4
  }
}
