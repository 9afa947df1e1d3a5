internal import PushModel

/// What a message says of single users by open rules (O-1, O-15).
struct OpenMessage {
  let messageClass: OpenMessageClass
  private var mentioned: Set<UInt32> = []
  private var repliedTo: UInt32?
  /// Members' policies with a mentioned role.
  private var roles: Set<UInt32> = []
  /// The sender's and the keywords' names, where anyone has them.
  private var sender: UInt32?
  private var keywords: Set<UInt32> = []

  init(_ message: borrowing Message, _ tables: borrowing Tables) {
    messageClass = OpenMessageClass(
      force: message.force ?? false, mentionsEveryone: message.mentionsAll ?? false)
    if let ids = message.mentions {
      for id in ids { if let user = tables.userIDs.index(of: id) { mentioned.insert(user) } }
    }
    if !tables.nameLists.isEmpty, let id = message.sender { sender = tables.names.index(of: id) }
    guard message.hasRareFields else { return }
    repliedTo = message.replyToUser.flatMap { tables.userIDs.index(of: $0) }
    if let names = message.mentionsRoles { roles = tables.policies.members(withRoles: names) }
    if !tables.nameLists.isEmpty, let text = message.text { keywords = tables.keywords(in: text) }
  }

  /// The classes for a user, but those of the conversation; nil if the user blocks the sender.
  func classes(
    for user: UInt32, _ record: MemberRecord, _ tables: borrowing Tables
  ) -> MessageClasses? {
    var classes = messageClass.classes
    if mentioned.contains(user) { classes.insert(.mentionsMe) }
    if repliedTo == user { classes.insert(.reply) }
    if !roles.isEmpty, roles.contains(record.policyIndex) { classes.insert(.role) }
    guard sender != nil || !keywords.isEmpty, let list = tables.nameLists.list(of: user) else {
      return classes
    }
    if let sender {
      if list.blocked.contains(sender) { return nil }
      if list.important.contains(sender) { classes.insert(.sender) }
    }
    if list.keywords.contains(where: { keywords.contains($0.tokens) }) { classes.insert(.keyword) }
    return classes
  }

  /// Calls `body` with the rank of each member for whom the message may have other classes than for
  /// most, perhaps repeatedly.
  ///
  /// - Complexity: O((mentions + holders of a name) log members); O(members) for roles and for
  ///   names that more users have.
  func forEachNamed(
    _ target: borrowing ConversationTarget, _ tables: Tables, _ body: (Int) -> Void
  ) {
    let row = target.memberRow
    func name(_ user: UInt32) { if let rank = tables.rank(of: user, in: row) { body(rank) } }
    mentioned.forEach(name)
    if let repliedTo { name(repliedTo) }
    if !roles.isEmpty {
      var rank = 0
      tables.forEachMember(of: target.members) { _, record in
        if roles.contains(record.policyIndex) { body(rank) }
        rank += 1
      }
    }
    var names = Array(keywords)
    if let sender { names.append(sender) }
    var left = Int(row.count)
    for index in names {
      tables.nameLists.forEachHolder(of: index) { user in
        name(user)
        left -= 1
        return left > 0
      }
    }
    if left > 0 { return }
    tables.memberUsers.forEachChunkElement(row.range) { rank, user in
      if tables.nameLists.has(user) { body(rank) }
    }
  }
}
