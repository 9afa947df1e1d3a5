internal import PushFanout
internal import PushModel
internal import QuietTime

/// Settings that records are read into, in any order; the same key again replaces the record.
protocol SettingsSink: RecordLookup where LookupFailure == Never {
  var userCount: Int { get }
  /// How many users have settings.
  var declaredCount: Int { get }
  mutating func reserveCapacity(users: Int, declared: Int)
  /// Touches the memory of a user id that will be set soon.
  mutating func readAhead(userUTF8: RawSpan)

  mutating func setApp(_ app: AppSettings)
  mutating func setUser(_ id: Identifier, _ user: consuming UserSettings)
  mutating func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void)
  mutating func setConversation(_ id: Identifier, _ settings: ConversationSettings)
  mutating func setMember(
    _ user: Identifier, of conversation: Identifier, _ member: MemberSettings)
  /// Sets the members of stretches of columns, in the order of the rows.
  mutating func add(_ columns: MembershipColumns, stretches: Range<Int>)
  /// Sets users, in the order of the rows.
  mutating func add(_ users: UserRecords, rows: Range<Int>)
  /// The ids so far, by which columns are resolved before they are added; nil where that is not
  /// asked for.
  var lookup: SettingsIDLookup? { get }
  /// Whether a member may have levels by channel.
  var hasChannels: Bool { get }
  /// A member's levels by channel, as set so far.
  func channels(
    of user: Identifier, in conversation: Identifier
  ) -> [Identifier: NotificationLevel]

  /// What tells rows of CSV files, which follow, from earlier records; nil when not requested.
  var csvMerge: CSVMerge? { get }
  /// Says that all records are in; what follows, and the lookup, is asked only then.
  mutating func settle()

  /// Whether the records are added to existing settings.
  var isAdded: Bool { get }
  /// Existing records that conflict with a conversation of these records.
  func problem(replacing conversation: Identifier) -> FileProblem.Problem?
}

extension SettingsSink {
  mutating func add(_ columns: MembershipColumns, stretches: Range<Int>) {
    for stretch in stretches {
      let conversation = columns.conversation(of: stretch)
      for row in columns.rows(of: stretch) {
        setMember(columns.user(at: row), of: conversation, columns.member(at: row).member)
      }
    }
  }
  mutating func add(_ users: UserRecords, rows: Range<Int>) {
    for row in rows { setUser(users.id(at: row), users.user(at: row)) }
  }
  var lookup: SettingsIDLookup? { nil }
  var hasChannels: Bool { true }
  var csvMerge: CSVMerge? { nil }
  var isAdded: Bool { false }
  func problem(replacing conversation: Identifier) -> FileProblem.Problem? { nil }
}

extension FanoutSettings: SettingsSink {
  mutating func setApp(_ app: AppSettings) { self.app = app }

  var csvMerge: CSVMerge? { CSVMerge(rowsAfter: self) }

  func channels(
    of user: Identifier, in conversation: Identifier
  ) -> [Identifier: NotificationLevel] {
    index(of: user).flatMap { member($0, of: conversation) }?.channels ?? [:]
  }

  mutating func settle() {}
}

/// Settings that are packed as they are read.
///
/// Files are checked before; what the engine may still refuse, because there is too much of it, is
/// kept until the engine is built.
final class PackedSettings: SettingsSink {
  private var builder: FanoutBuilder
  private var failure: FanoutError?
  private let threads: Int

  /// - Parameters:
  ///   - threads: the number of threads on which the engine is built.
  ///   - unknownZones: what the engine does with time zones that the system does not have.
  init(threads: Int, _ unknownZones: UnknownZones) {
    self.threads = threads
    builder = FanoutBuilder(threads: threads, unknownZones: unknownZones)
  }

  var userCount: Int { builder.userCount }
  var declaredCount: Int { builder.declaredCount }

  func reserveCapacity(users: Int, declared: Int) { builder.reserveCapacity(users: users) }
  func readAhead(userUTF8: RawSpan) { builder.readAhead(userUTF8: userUTF8) }

  func setApp(_ app: AppSettings) {
    keepFailure { (builder) throws(FanoutError) in try builder.setApp(app) }
  }

  func setUser(_ id: Identifier, _ user: consuming UserSettings) {
    let user = user
    keepFailure { (builder) throws(FanoutError) in try builder.setUser(id, user) }
  }

  func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void) {
    keepFailure { (builder) throws(FanoutError) in try builder.updateUser(id, change) }
  }

  func setConversation(_ id: Identifier, _ settings: ConversationSettings) {
    keepFailure { (builder) throws(FanoutError) in try builder.setConversation(id, settings) }
  }

  func setMember(_ user: Identifier, of conversation: Identifier, _ member: MemberSettings) {
    keepFailure { (builder) throws(FanoutError) in
      try builder.setMember(user, of: conversation, member)
    }
  }

  func add(_ columns: MembershipColumns, stretches: Range<Int>) {
    keepFailure { (builder) throws(FanoutError) in
      try builder.add(columns, stretches: stretches)
    }
  }

  func add(_ users: UserRecords, rows: Range<Int>) {
    keepFailure { (builder) throws(FanoutError) in try builder.add(users, rows: rows) }
  }

  var lookup: SettingsIDLookup? { builder.lookup }
  var hasChannels: Bool { builder.hasChannels }

  func channels(
    of user: Identifier, in conversation: Identifier
  ) -> [Identifier: NotificationLevel] {
    builder.channels(of: user, in: conversation)
  }

  func settle() { builder.settle(threads: threads) }
  func conversation(_ id: Identifier) -> ConversationSettings? { builder.conversation(id) }
  func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    builder.isMember(user, of: conversation)
  }

  func build() throws(FanoutError) -> Fanout {
    if let failure { throw failure }
    var done = FanoutBuilder()
    swap(&done, &builder)
    return try done.build(threads: threads)
  }

  private func keepFailure(_ body: (inout FanoutBuilder) throws(FanoutError) -> Void) {
    guard failure == nil else { return }
    do throws(FanoutError) { try body(&builder) } catch { failure = error }
  }
}
