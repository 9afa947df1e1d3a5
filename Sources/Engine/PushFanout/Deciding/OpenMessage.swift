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
  private let keywords: NameSet
  /// How many members ahead names are prefetched.
  private static let ahead = 16

  init(_ message: borrowing Message, _ tables: borrowing Tables) {
    messageClass = OpenMessageClass(
      force: message.force ?? false, mentionsEveryone: message.mentionsAll ?? false)
    let (users, names, hasNames) = (tables.userIDs, tables.names, !tables.nameLists.isEmpty)
    mentioned = Set((message.mentions ?? []).compactMap { users.index(of: $0) })
    sender = hasNames ? message.sender.flatMap { names.index(of: $0) } : nil
    guard message.hasRareFields else {
      (repliedTo, roles, keywords) = (nil, [], NameSet([]))
      return
    }
    repliedTo = message.replyToUser.flatMap { users.index(of: $0) }
    roles = message.mentionsRoles.map { tables.policies.members(withRoles: $0) } ?? []
    let text = hasNames ? message.text : nil
    keywords = NameSet(text.map { tables.keywords(in: $0) } ?? [])
  }

  /// The classes for a user, but those of the conversation; nil if the user blocks the sender.
  func classes(
    for user: UInt32, _ record: MemberRecord, _ tables: borrowing Tables
  ) -> MessageClasses? {
    var classes = messageClass.classes
    if mentioned.contains(user) { classes.insert(.mentionsMe) }
    if repliedTo == user { classes.insert(.reply) }
    if !roles.isEmpty, roles.contains(record.policyIndex) { classes.insert(.role) }
    guard sender != nil || !keywords.isEmpty else { return classes }
    guard let own = tables.nameLists.classes(for: user, keywords: keywords, sender: sender) else {
      return nil
    }
    return classes.union(own)
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
    var names = Array(keywords.all)
    if let sender { names.append(sender) }
    // Looking for a holder among the members takes about as long as reading four members' names.
    let limit = Int(row.count) / 4 + 1
    if tables.nameLists.holderCount(of: names, limit: limit) < limit {
      for index in names {
        tables.nameLists.forEachHolder(of: index) { user in
          name(user)
          return true
        }
      }
      return
    }
    let (first, last) = (Int(row.start), row.range.upperBound - 1)
    tables.memberUsers.forEachChunkElement(row.range) { rank, user in
      tables.nameLists.prefetch(tables.memberUsers[min(first + rank + Self.ahead, last)])
      let classes = tables.nameLists.classes(for: user, keywords: keywords, sender: sender)
      if classes != [] { body(rank) }
    }
  }
}
