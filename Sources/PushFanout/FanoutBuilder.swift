public import PushRules

/// Builds a ``Fanout`` from records in any order, as files hold them, without keeping them anywhere
/// else first.
///
/// The same key again replaces the whole earlier record and keeps its place.
///
/// - Memory: 9 bytes a membership while building, beside the packed tables.
@safe public struct FanoutBuilder: ~Copyable {
  private let writer: TableWriter
  private var conversations: [UInt32] = []
  private var users: [UInt32] = []
  private var bytes: [UInt8] = []
  private var lastConversation: (id: Identifier, place: UInt32)?

  /// A builder with no users; the app's settings are Easemob's defaults until they are set.
  public init() {
    guard let writer = try? TableWriter(app: AppSettings()) else {
      preconditionFailure("UTC is a time zone")
    }
    self.writer = writer
  }

  /// Adds a whole world.
  public mutating func add(_ settings: FanoutSettings) throws(FanoutError) {
    try setApp(settings.app)
    for place in 0..<UInt32(settings.userCount) {
      let index = UserIndex(place)
      let id = settings.id(of: index)
      if settings.isDeclared(index) {
        try setUser(id, settings.user(index))
      } else {
        _ = try writer.intern(user: id)
      }
    }
    for id in settings.conversationIDs {
      let place = try writer.intern(conversation: id)
      if let conversation = settings.conversation(id) {
        try writer.setConversation(place, conversation)
      }
      for user in settings.members(of: id) {
        if let member = settings.member(user, of: id) {
          add(place, user.rawValue, member)
        }
      }
    }
  }

  /// Replaces the app's settings.
  public mutating func setApp(_ app: AppSettings) throws(FanoutError) { try writer.setApp(app) }

  /// Replaces the whole settings of a user.
  public mutating func setUser(_ id: Identifier, _ user: UserSettings) throws(FanoutError) {
    try writer.setUser(try writer.intern(user: id), user)
  }

  /// Replaces the whole settings of a conversation; its members stay.
  public mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings
  ) throws(FanoutError) {
    try writer.setConversation(try writer.intern(conversation: id), settings)
  }

  /// Replaces the whole membership of a user in a conversation.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) throws(FanoutError) {
    let place: UInt32
    if let last = lastConversation, last.id == conversation {
      place = last.place
    } else {
      place = try writer.intern(conversation: conversation)
      lastConversation = (conversation, place)
    }
    let user = try writer.intern(user: user)
    guard users.count < UInt32.max - 1 else { throw .tooMany("memberships") }
    add(place, user, member)
  }

  private mutating func add(_ place: UInt32, _ user: UInt32, _ member: MemberSettings) {
    let byte = MemberByte(member)
    if byte.isSpecial { writer.setBeside(Tables.key(place, user), member) }
    conversations.append(place)
    users.append(user)
    bytes.append(byte.bits)
  }

  /// The engine.
  ///
  /// - Complexity: O(memberships), or O(memberships log members) where a conversation's members did
  ///   not come in the order of users.
  public consuming func build(threads: Int? = nil) throws(FanoutError) -> Fanout {
    Fanout(try finish(), threads: threads)
  }

  consuming func finish() throws(FanoutError) -> TableWriter {
    writer.placeMembers(conversations, users, bytes)
    return writer
  }
}

extension TableWriter {
  /// Puts memberships, which are listed in any order, to their conversations, sorted by user; of
  /// several of one user the last counts.
  func placeMembers(_ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8]) {
    var starts = [UInt32](repeating: 0, count: tables.conversations.count + 1)
    for conversation in conversations { starts[Int(conversation) + 1] += 1 }
    for place in starts.indices.dropFirst() { starts[place] += starts[place - 1] }
    tables.memberUsers.grow(to: users.count, repeating: 0, store)
    tables.memberBytes.grow(to: users.count, repeating: 0, store)
    var next = starts
    for index in users.indices {
      let place = Int(next[Int(conversations[index])])
      next[Int(conversations[index])] += 1
      tables.memberUsers.set(place, users[index], store)
      tables.memberBytes.set(place, bytes[index], store)
    }
    for conversation in 0..<tables.conversations.count {
      let range = Int(starts[conversation])..<Int(starts[conversation + 1])
      guard !range.isEmpty else { continue }
      var row = tables.conversations[conversation]
      row.start = UInt32(range.lowerBound)
      row.capacity = UInt32(range.count)
      row.count = UInt32(sortMembers(range))
      row.hasSpecials = hasSpecials(range)
      tables.conversations.set(conversation, row, store)
    }
  }

  private func hasSpecials(_ range: Range<Int>) -> Bool {
    var bits: UInt8 = 0
    tables.memberBytes.forEachStretchRank(range) { bits |= $1 }
    return MemberByte(bits: bits).isSpecial
  }

  /// Sorts the members of a conversation by user.
  ///
  /// - Returns: how many are left, when the earlier ones of the same user are gone.
  private func sortMembers(_ range: Range<Int>) -> Int {
    var isAscending = true
    var last: UInt32?
    tables.memberUsers.forEachStretchRank(range) { _, user in
      if let last, user <= last { isAscending = false }
      last = user
    }
    if isAscending { return range.count }
    // By user, and where users are the same in the order in which they came.
    let sorted = range.sorted {
      (tables.memberUsers[$0], $0) < (tables.memberUsers[$1], $1)
    }.map { (user: tables.memberUsers[$0], byte: tables.memberBytes[$0]) }
    var count = 0
    for (offset, member) in sorted.enumerated() {
      if offset + 1 < sorted.count, sorted[offset + 1].user == member.user { continue }
      tables.memberUsers.set(range.lowerBound + count, member.user, store)
      tables.memberBytes.set(range.lowerBound + count, member.byte, store)
      count += 1
    }
    return count
  }
}
