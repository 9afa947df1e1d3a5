internal import PushFanout
internal import PushModel
internal import QuietTime

/// Settings that records are read into, in any order; the same key again replaces the record.
protocol SettingsSink: RecordLookup where LookupFailure == Never {
  var userCount: Int { get }
  /// How many users have settings.
  var declaredCount: Int { get }
  mutating func reserveCapacity(users: Int, declared: Int)

  mutating func set(_ record: SettingsRecord)
  mutating func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void)
  /// Sets the members of stretches of columns, in the order of the rows.
  mutating func add(_ columns: MembershipColumns, stretches: Range<Int>)
  /// Sets users, in the order of the rows.
  mutating func add(_ users: UserRecords, rows: Range<Int>)
  /// Says that all records are in; the ``RecordLookup`` is asked only then.
  mutating func settle()

  /// The ids so far, by which columns are resolved before they are added; nil where that is not
  /// asked for.
  var lookup: SettingsIDLookup? { get }
  /// Whether a member may have fields that rows of members.csv do not have.
  var hasFieldsBesideRows: Bool { get }
  /// A member with the fields that rows do not have, as they are set so far; nil for a plain one.
  func fieldsBesideRows(of user: Identifier, in conversation: Identifier) -> MemberSettings?
  /// The records as values; nil where they are packed.
  var values: FanoutSettings? { get }
}

extension FanoutSettings: SettingsSink {
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

  mutating func settle() {}

  var lookup: SettingsIDLookup? { nil }
  var hasFieldsBesideRows: Bool { true }
  func fieldsBesideRows(of user: Identifier, in conversation: Identifier) -> MemberSettings? {
    index(of: user).flatMap { member($0, of: conversation) }
  }
  var values: FanoutSettings? { self }
}

/// Settings that are packed as they are read.
///
/// Files are checked before; what the engine may still refuse, because there is too much of it, is
/// kept until all is read.
final class PackedSettings: SettingsSink {
  private var builder: FanoutBuilder
  private(set) var failure: FanoutError?

  init(_ builder: consuming FanoutBuilder) { self.builder = builder }

  var userCount: Int { builder.userCount }
  var declaredCount: Int { builder.declaredCount }
  func reserveCapacity(users: Int, declared: Int) { builder.reserveCapacity(users: users) }

  func set(_ record: SettingsRecord) {
    keepFailure { (builder) throws(FanoutError) in try builder.set(record) }
  }

  func updateUser(_ id: Identifier, _ change: (inout UserSettings) -> Void) {
    keepFailure { (builder) throws(FanoutError) in try builder.updateUser(id, change) }
  }

  func add(_ columns: MembershipColumns, stretches: Range<Int>) {
    keepFailure { (builder) throws(FanoutError) in
      try builder.add(columns, stretches: stretches)
    }
  }

  func add(_ users: UserRecords, rows: Range<Int>) {
    keepFailure { (builder) throws(FanoutError) in try builder.add(users, rows: rows) }
  }

  func settle() {
    keepFailure { (builder) throws(FanoutError) in try builder.settle(threads: builder.threads) }
  }

  var lookup: SettingsIDLookup? { builder.lookup }
  var hasFieldsBesideRows: Bool { builder.hasPolicies }
  func fieldsBesideRows(of user: Identifier, in conversation: Identifier) -> MemberSettings? {
    builder.policy(of: user, in: conversation)
  }
  var values: FanoutSettings? { nil }

  var rules: RuleSet { builder.app.rules }
  func conversation(_ id: Identifier) -> ConversationSettings? { builder.conversation(id) }
  func isMember(_ user: Identifier, of conversation: Identifier) -> Bool {
    builder.isMember(user, of: conversation)
  }

  func giveBack(to builder: inout FanoutBuilder) { swap(&builder, &self.builder) }

  private func keepFailure(_ body: (inout FanoutBuilder) throws(FanoutError) -> Void) {
    guard failure == nil else { return }
    do throws(FanoutError) { try body(&builder) } catch { failure = error }
  }
}
