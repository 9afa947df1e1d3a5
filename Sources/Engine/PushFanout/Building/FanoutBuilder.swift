public import PushModel
public import QuietTime

/// Builds a ``Fanout`` from records in any order, as files contain them, without an intermediate
/// copy.
///
/// A record with the same key replaces the whole earlier record and keeps its position.
///
/// - Memory: while building, 8 to 16 bytes per run of consecutive memberships of one conversation
///   beside the packed tables; where a conversation has several runs, 5 bytes per membership and 12
///   per mute or start of membership besides.
@safe public struct FanoutBuilder: FanoutWriting, ~Copyable {
  let writer: TableWriter
  /// Those whose ids were given as numbers.
  let userNumbers = NumberIndex()
  let conversationNumbers = NumberIndex()
  private var memberships = MembershipList()
  private var overrides = OverrideList()
  /// Of members with more than a level, a mute and a start, by ``Tables/key(_:_:)``.
  private var policies: [UInt64: UInt32] = [:]
  /// Whether each conversation was set, rather than only named.
  private(set) var isSet: [Bool] = []
  /// Parents by conversation; their ids are added last, behind all others.
  private var parents: [UInt32: Identifier] = [:]
  private var lastConversation: (id: Identifier, index: UInt32)?
  private var isSettled = false
  private var hasApp = false
  var listedSchedules = ListedSchedules()
  /// The number of users with settings.
  package internal(set) var declaredCount = 0
  /// Prepares memory on another thread.
  private var ahead: PageMemory.BlocksAhead?
  /// The maximum of threads while records are added.
  package let threads: Int

  /// Creates a builder without records. The app's settings are Easemob's defaults until they are
  /// set.
  ///
  /// - Parameters:
  ///   - threads: how many threads may be used while records are added; nil for
  ///     ``Fanout/coreCount``.
  ///   - unknownZones: what is done with time zones that the system does not have, also by the
  ///     engine that is built.
  public init(threads: Int? = 1, unknownZones: UnknownZones = .fail) {
    let threads = max(1, threads ?? Fanout.coreCount)
    self.threads = threads
    ahead = threads > 1 ? PageMemory.BlocksAhead(.shared) : nil
    writer = TableWriter(Tables(app: AppSettings(), unknownZones: unknownZones), PageStore())
    writer.isBuilding = true
  }

  /// Adds all records of settings.
  public mutating func add(_ settings: FanoutSettings) throws(FanoutError) {
    try setApp(settings.app)
    try addRecords(of: settings)
  }

  /// The app's settings so far.
  package var app: AppSettings { writer.tables.app }

  /// Replaces the app's settings.
  public mutating func setApp(_ app: AppSettings) throws(FanoutError) {
    try writer.setApp(app)
    hasApp = true
  }

  /// Replaces all settings of a user.
  public mutating func setUser(_ id: Identifier, _ user: UserSettings) throws(FanoutError) {
    try setUser(at: try intern(user: id), user)
  }

  package mutating func setUser(at index: UserIndex, _ user: UserSettings) throws(FanoutError) {
    if !writer.tables.packedUsers[Int(index.rawValue)].isDeclared { declaredCount += 1 }
    try writer.setUser(index.rawValue, user)
  }

  /// Replaces all settings of a conversation; its members are kept.
  public mutating func setConversation(
    _ id: Identifier, _ settings: ConversationSettings
  ) throws(FanoutError) {
    addWaitingIDs()
    let index = try writer.intern(conversation: id)
    try set(index, settings)
    while isSet.count <= Int(index) { isSet.append(false) }
    isSet[Int(index)] = true
  }

  private mutating func set(
    _ index: UInt32, _ settings: ConversationSettings
  ) throws(FanoutError) {
    if settings.parent?.isEmpty == true { throw .emptyID }
    if settings.parent != nil || !parents.isEmpty { parents[index] = settings.parent }
    var settings = settings
    settings.parent = nil
    try writer.setConversation(index, settings)
  }

  /// Replaces a user's whole membership in a conversation.
  public mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings = MemberSettings()
  ) throws(FanoutError) {
    if user.isEmpty || conversation.isEmpty { throw .emptyID }
    addWaitingIDs()
    let index: UInt32
    if let last = lastConversation, last.id == conversation {
      index = last.index
    } else {
      index = try writer.intern(conversation: conversation)
      lastConversation = (conversation, index)
    }
    let user = try writer.intern(user: user)
    try add(index, user, member)
  }

  /// Changes a user's settings, empty at first.
  package mutating func updateUser(
    _ id: Identifier, _ change: (inout UserSettings) -> Void
  ) throws(FanoutError) {
    addWaitingIDs()
    let index = try writer.intern(user: id)
    var user = writer.tables.user(index)
    change(&user)
    try writer.setUser(index, user)
  }

  private mutating func add(
    _ conversation: UInt32, _ user: UInt32, _ member: MemberSettings
  ) throws(FanoutError) {
    try checkRoom()
    let policy = writer.policy(of: member)
    let packed = PackedMember(member, policy)
    append(conversation, CollectionOfOne(user), CollectionOfOne(packed.bits))
    appendOverrides(
      conversation, user, since: member.since.milliseconds,
      mutedUntil: member.mutedUntil.milliseconds)
    guard let policy else { return }
    if member.hasRareFields { policies[Tables.key(conversation, user)] = policy }
    if packed.hasPolicy {
      overrides.append(conversation, OverrideRecord(.policy, of: user, Int64(policy)))
    }
  }

  func checkRoom(_ count: Int = 1) throws(FanoutError) {
    precondition(!isSettled, "no members are added after settle()")
    guard memberships.count + count <= writer.limit else { throw .tooMany("memberships") }
    guard overrides.count + 3 * count < Int(UInt32.max) else { throw .tooMany("overrides") }
  }

  mutating func append(
    _ conversation: UInt32, _ users: some Collection<UInt32>, _ bits: some Collection<UInt8>
  ) {
    memberships.append(conversation, users, bits)
    if policies.isEmpty { return }
    for user in users { policies[Tables.key(conversation, user)] = nil }
  }

  /// Adds members whose conversations follow.
  mutating func append(members users: ArraySlice<UInt32>, _ bits: ArraySlice<UInt8>) {
    memberships.append(members: users, bits)
  }

  mutating func append(_ conversation: UInt32, count: Int) {
    memberships.append(conversation, count: count)
  }

  /// Adds a start and a mute in milliseconds; 0 means none.
  mutating func appendOverrides(
    _ conversation: UInt32, _ user: UInt32, since: Int64, mutedUntil: Int64
  ) {
    if since > 0 { overrides.append(conversation, OverrideRecord(.since, of: user, since)) }
    if mutedUntil > 0 {
      overrides.append(conversation, OverrideRecord(.mute, of: user, mutedUntil))
    }
  }

  /// Builds the engine.
  ///
  /// - Complexity: O(memberships), or O(memberships log members) where a conversation's members
  ///   were not added in the order of users.
  public consuming func build(
    threads: Int? = nil, cacheBytes: Int? = nil
  ) throws(FanoutError) -> Fanout {
    Fanout(
      try finish(threads: threads ?? Fanout.coreCount), threads: threads, cacheBytes: cacheBytes)
  }

  consuming func finish(threads: Int = 1) throws(FanoutError) -> TableWriter {
    // This fails if the system lacks the default's zone.
    if !hasApp { try writer.setApp(AppSettings()) }
    writer.isBuilding = false
    try writer.checkRules()
    try settle(threads: threads)
    writer.groupNames()
    writer.fillKeys(threads: threads)
    writer.replaced = ReplacedValues(madeNow: writer.tables)
    return writer
  }
}

extension FanoutBuilder {
  package var userCount: Int { writer.tables.userCount }

  @discardableResult
  package mutating func intern(user id: Identifier) throws(FanoutError) -> UserIndex {
    addWaitingIDs()
    return UserIndex(try writer.intern(user: id))
  }

  @discardableResult
  package mutating func intern(conversation id: Identifier) throws(FanoutError) -> UInt32 {
    addWaitingIDs()
    return try writer.intern(conversation: id)
  }

  package mutating func add(
    _ user: UserIndex, toConversationAt index: UInt32, _ member: MemberSettings
  ) throws(FanoutError) {
    try add(index, user.rawValue, member)
  }

  /// - Parameter users: the expected total.
  package mutating func reserveCapacity(users: Int) {
    userNumbers.expectedCount = users
    if userNumbers.count == 0 {
      writer.tables.userIDs.reserve(users, writer.store, threads: threads)
    }
  }

  /// Whether members have more than a level, a mute and a start.
  package var hasPolicies: Bool { !policies.isEmpty }

  /// A member with all that has been set so far but the mute and the start; nil for a level alone.
  package func policy(of user: Identifier, in conversation: Identifier) -> MemberSettings? {
    guard !policies.isEmpty, let user = writer.tables.userIDs.index(of: user),
      let index = writer.tables.conversationIDs.index(of: conversation),
      let policy = policies[Tables.key(index, user)]
    else { return nil }
    var member = MemberSettings()
    writer.tables.policies.members[policy].apply(to: &member)
    return member
  }

  /// Stores the members; none can be added afterwards.
  package mutating func settle(threads: Int = 1) throws(FanoutError) {
    guard !isSettled else { return }
    isSettled = true
    ahead = nil
    addWaitingIDs(threads: threads)
    for (index, parent) in parents.sorted(by: { $0.key < $1.key }) {
      try writer.setParent(of: index, parent)
    }
    parents = [:]
    // Each list is freed before the next table is made.
    var (members, overrides) = (MembershipList(), OverrideList())
    swap(&members, &memberships)
    writer.storeMembers(consume members, threads: threads)
    swap(&overrides, &self.overrides)
    writer.storeOverrides(consume overrides, threads: threads)
    policies = [:]
    listedSchedules = ListedSchedules()
  }

  /// A conversation's settings; nil unless it was set or has members.
  ///
  /// - Precondition: ``settle()`` was called.
  package func conversation(_ id: Identifier) -> ConversationSettings? {
    guard let index = writer.tables.conversationIDs.index(of: id) else { return nil }
    let isKnown =
      Int(index) < isSet.count && isSet[Int(index)]
      || writer.tables.conversations[Int(index)].count > 0
    return isKnown ? writer.tables.conversation(index) : nil
  }

  /// - Precondition: ``settle()`` was called.
  package func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    guard let user = writer.tables.userIDs.index(of: user),
      let index = writer.tables.conversationIDs.index(of: conversation)
    else { return false }
    return writer.tables.rank(of: user, in: writer.tables.conversations[Int(index)]) != nil
  }
}

extension Fanout {
  /// Creates an engine for settings.
  ///
  /// - Throws: ``FanoutError/unknownTimeZone(_:)``, or ``FanoutError/tooMany(_:)``.
  /// - Complexity: O(users + memberships log members).
  public convenience init(
    _ settings: FanoutSettings, threads: Int? = nil, cacheBytes: Int? = nil,
    unknownZones: UnknownZones = .fail
  ) throws(FanoutError) {
    var builder = FanoutBuilder(unknownZones: unknownZones)
    try builder.add(settings)
    self.init(
      try builder.finish(threads: threads ?? Self.coreCount), threads: threads,
      cacheBytes: cacheBytes)
  }
}
