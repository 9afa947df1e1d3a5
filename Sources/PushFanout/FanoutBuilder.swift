public import PushRules

/// Builds a ``Fanout`` from records in any order, as files hold them, without keeping them anywhere
/// else first.
///
/// The same key again replaces the whole earlier record and keeps its place.
///
/// - Memory: 9 bytes a membership while building, beside the packed tables.
@safe public struct FanoutBuilder: ~Copyable {
  let writer: TableWriter
  private var conversations: [UInt32] = []
  private var users: [UInt32] = []
  private var bytes: [UInt8] = []
  /// Which conversations were set; others are named by members, or as a parent alone.
  private var isSet: [Bool] = []
  private var lastConversation: (id: Identifier, place: UInt32)?
  private var readAhead: UInt64 = 0
  private var isSettled = false
  private var hasApp = false
  /// How many users have settings.
  package private(set) var declaredCount = 0

  /// A builder with no users; the app's settings are Easemob's defaults until they are set.
  public init() {
    writer = TableWriter(Tables(app: AppSettings()), PageStore())
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
          try add(place, user.rawValue, member)
        }
      }
    }
  }

  /// Replaces the app's settings.
  public mutating func setApp(_ app: AppSettings) throws(FanoutError) {
    try writer.setApp(app)
    hasApp = true
  }

  /// Replaces the whole settings of a user.
  public mutating func setUser(_ id: Identifier, _ user: UserSettings) throws(FanoutError) {
    let place = try writer.intern(user: id)
    if !writer.tables.words[Int(place)].isDeclared { declaredCount += 1 }
    try writer.setUser(place, user)
  }

  /// Replaces the whole settings of a conversation; its members stay.
  public mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings
  ) throws(FanoutError) {
    let place = try writer.intern(conversation: id)
    try writer.setConversation(place, settings)
    while isSet.count <= Int(place) { isSet.append(false) }
    isSet[Int(place)] = true
  }

  /// Replaces the whole membership of a user in a conversation.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) throws(FanoutError) {
    if user.isEmpty || conversation.isEmpty { throw .emptyID }
    let place: UInt32
    if let last = lastConversation, last.id == conversation {
      place = last.place
    } else {
      place = try writer.intern(conversation: conversation)
      lastConversation = (conversation, place)
    }
    let user = try writer.intern(user: user)
    try add(place, user, member)
  }

  /// Changes the settings of a user, empty ones at first.
  package mutating func updateUser(
    _ id: Identifier, _ change: (inout UserSettings) -> Void
  ) throws(FanoutError) {
    let place = try writer.intern(user: id)
    var user = writer.tables.user(place)
    change(&user)
    try writer.setUser(place, user)
  }

  private mutating func add(
    _ place: UInt32, _ user: UInt32, _ member: MemberSettings
  ) throws(FanoutError) {
    guard users.count < writer.limit else { throw .tooMany("memberships") }
    let byte = MemberByte(member)
    let key = Tables.key(place, user)
    if byte.isSpecial { writer.setBeside(key, member) }
    if !byte.hasChannels { writer.forgetChannels(key) }
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
    // Whether the system has the default's zone.
    if !hasApp { try writer.setApp(AppSettings()) }
    settle()
    return writer
  }
}

/// What readers of files ask while they read.
extension FanoutBuilder {
  /// How many user ids have appeared.
  package var userCount: Int { writer.tables.userCount }

  /// The place of a user id, which it has from now on; nothing is set for it.
  package mutating func intern(user id: Identifier) throws(FanoutError) -> UserIndex {
    UserIndex(try writer.intern(user: id))
  }

  /// The place of a conversation's id, which it has from now on.
  package mutating func intern(conversation id: Identifier) throws(FanoutError) -> UInt32 {
    try writer.intern(conversation: id)
  }

  /// Adds a membership by places, as ``setMember(_:of:_:)`` does by ids.
  package mutating func add(
    _ user: UserIndex, toConversationAt place: UInt32, _ member: MemberSettings
  ) throws(FanoutError) {
    try add(place, user.rawValue, member)
  }

  /// Makes room for so many user ids in all.
  package mutating func reserveCapacity(users: Int) {
    writer.tables.userIDs.reserve(users, writer.store)
  }

  /// Touches the memory of a user id that will be set soon; several such look-ups wait together.
  package mutating func readAhead(userUTF8: RawSpan) {
    unsafe userUTF8.withUnsafeBytes { id in
      readAhead ^= unsafe writer.tables.userIDs.readAhead(id)
    }
  }

  /// A member's levels by channel, as set so far.
  package func channels(
    of user: Identifier, in conversation: Identifier
  ) -> [Identifier: NotificationLevel] {
    let tables = writer.tables
    guard tables.memberChannels.count > 0, let user = tables.userIDs.place(of: user),
      let place = tables.conversationIDs.place(of: conversation),
      let set = tables.memberChannels[Tables.key(place, user)]
    else { return [:] }
    return tables.channelSets[UInt32(truncatingIfNeeded: set)]
  }

  /// Puts the members to their conversations; no more of them can be added.
  package mutating func settle() {
    guard !isSettled else { return }
    isSettled = true
    writer.placeMembers(conversations, users, bytes)
    conversations = []
    users = []
    bytes = []
  }

  /// What is set for a conversation; nil for one that was neither set nor has members, though it may
  /// be somebody's parent.
  ///
  /// - Precondition: ``settle()`` was called.
  package func conversation(_ id: Identifier) -> ConversationSettings? {
    guard let place = writer.tables.conversationIDs.place(of: id) else { return nil }
    let isKnown =
      Int(place) < isSet.count && isSet[Int(place)]
      || writer.tables.conversations[Int(place)].count > 0
    return isKnown ? writer.tables.conversation(place) : nil
  }

  /// Whether a user has a record in a conversation.
  ///
  /// - Precondition: ``settle()`` was called.
  package func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    guard let user = writer.tables.userIDs.place(of: user),
      let place = writer.tables.conversationIDs.place(of: conversation)
    else { return false }
    return writer.tables.rank(of: user, in: writer.tables.conversations[Int(place)]) != nil
  }
}

extension TableWriter {
  /// Puts memberships, which are listed in any order, to their conversations, sorted by user; of
  /// several of one user the last counts.
  func placeMembers(_ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8]) {
    let ends = Self.placeMembers(conversations, users, bytes, &tables, store)
    for conversation in 0..<tables.conversations.count {
      let range = (conversation == 0 ? 0 : Int(ends[conversation - 1]))..<Int(ends[conversation])
      guard !range.isEmpty else { continue }
      var row = tables.conversations[conversation]
      row.start = UInt32(range.lowerBound)
      row.capacity = UInt32(range.count)
      row.count = UInt32(sortMembers(range))
      row.hasSpecials = hasSpecials(range)
      tables.conversations.set(conversation, row, store)
    }
  }

  /// Puts memberships to their conversations in the order in which they came.
  ///
  /// - Returns: where the members of each conversation end.
  private static func placeMembers(
    _ conversations: [UInt32], _ users: [UInt32], _ bytes: [UInt8], _ tables: inout Tables,
    _ store: PageStore
  ) -> [UInt32] {
    var starts = [UInt32](repeating: 0, count: tables.conversations.count + 1)
    for conversation in conversations { starts[Int(conversation) + 1] += 1 }
    for place in starts.indices.dropFirst() { starts[place] += starts[place - 1] }
    tables.memberUsers.grow(to: users.count, repeating: 0, store)
    tables.memberBytes.grow(to: users.count, repeating: 0, store)
    // A start moves on with each member, and ends up at the end.
    for index in users.indices {
      let conversation = Int(conversations[index])
      let place = Int(starts[conversation])
      starts[conversation] += 1
      tables.memberUsers.set(place, users[index], store)
      tables.memberBytes.set(place, bytes[index], store)
    }
    return starts
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
