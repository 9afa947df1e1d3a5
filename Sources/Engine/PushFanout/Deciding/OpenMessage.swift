internal import PushModel

/// What a message says of single users by open rules (O-1, O-15).
///
/// A class, as a plan has one word for it.
final class OpenMessage: Sendable {
  let messageClass: OpenMessageClass
  private let mentioned: Set<UInt32>
  private let repliedTo: UInt32?
  /// Members' policies with a mentioned role.
  private let roles: Set<UInt32>
  /// The sender's and the keywords' names, where anyone has them.
  private let sender: UInt32?
  private let keywords: Set<UInt32>

  init(_ message: borrowing Message, _ tables: borrowing Tables) {
    messageClass = OpenMessageClass(
      force: message.force ?? false, mentionsEveryone: message.mentionsAll ?? false)
    let (users, names, hasNames) = (tables.userIDs, tables.names, !tables.nameLists.isEmpty)
    mentioned = Set((message.mentions ?? []).compactMap { users.index(of: $0) })
    sender = hasNames ? message.sender.flatMap { names.index(of: $0) } : nil
    guard message.hasRareFields else {
      (repliedTo, roles, keywords) = (nil, [], [])
      return
    }
    repliedTo = message.replyToUser.flatMap { users.index(of: $0) }
    roles = message.mentionsRoles.map { tables.policies.members(withRoles: $0) } ?? []
    let text = hasNames ? message.text : nil
    keywords = text.map { tables.keywords(in: $0) } ?? []
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
