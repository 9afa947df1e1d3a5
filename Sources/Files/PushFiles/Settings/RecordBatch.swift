internal import PushFanout
internal import PushModel
internal import QuietTime

/// The records and the problems of a piece of a file, in the order of its lines.
struct RecordBatch: Sendable {
  enum Step: Sendable {
    /// Stretches of ``columns``: memberships without channels and without fields that the rules do
    /// not have.
    case members(Range<Int>)
    /// Rows of ``users``: users without devices, without fields that the rules do not have, and
    /// without display settings.
    case users(Range<Int>)
    /// Any other record.
    case record(SettingsRecord, VendorFieldUse, DisplayRecord?, line: Int)
    /// A line that is no record, but an operation.
    case operation(JSONObject, line: Int)
    /// A line that is not understood.
    case problem(FileProblem.Problem, line: Int)
  }

  private(set) var steps: [Step] = []
  private(set) var columns = MembershipColumns()
  private(set) var users: UserRecords
  /// The number of lines with records, understood or not.
  private(set) var recordCount = 0
  /// The number of lines and of bytes of the piece.
  var lineCount = 0
  let byteCount: Int
  /// The first stretch of members, and the first row of users, that no step has.
  private var firstStretch = 0
  private var firstUser = 0
  /// Whether those rows are users: no step has rows of both.
  private var isOfUsers = false
  /// What lines used before the rules were known.
  private var noted = VendorFieldUse()

  /// - Parameter quiet: the list of the thread that parses.
  init(byteCount: Int, _ quiet: QuietSettingsList) {
    self.byteCount = byteCount
    users = UserRecords(quiet)
  }

  /// Reserves capacity for memberships.
  mutating func reserveCapacity(members: Int) { columns.reserveCapacity(members) }

  // Lines are counted from 1 at the piece's beginning.

  /// Says that most ids are parts of a text, which stays where it is until ``finish(_:)``.
  mutating func add(text: UnsafeRawBufferPointer, ofUsers: Bool) {
    if ofUsers {
      unsafe users.add(text: text)
    } else {
      unsafe columns.add(text: text)
    }
  }

  mutating func add(
    _ user: UnsafeRawBufferPointer, of conversation: UnsafeRawBufferPointer, _ member: MemberRow,
    line: Int
  ) {
    begin(ofUsers: false)
    recordCount += 1
    unsafe columns.append(
      user, of: conversation, level: member.level, since: member.since,
      mutedUntil: member.mutedUntil, line: line)
  }

  @discardableResult
  mutating func add(_ id: UnsafeRawBufferPointer, _ user: UserSettings) -> UserRecords.Shared? {
    begin(ofUsers: true)
    recordCount += 1
    return unsafe users.append(id, user)
  }

  mutating func add(_ id: UnsafeRawBufferPointer, _ settings: UserRecords.Shared) {
    begin(ofUsers: true)
    recordCount += 1
    unsafe users.append(id, settings)
  }

  /// Adds memberships whose ids are numbers, as `MembershipColumns` does.
  mutating func add(
    numbers users: [Int64], of conversations: [Int64], levels: [NotificationLevel],
    mutes: [Int64], sinces: [Int64]
  ) {
    begin(ofUsers: false)
    recordCount += users.count
    columns.append(
      numbers: users, of: conversations, levels: levels, mutes: mutes, sinces: sinces)
  }

  /// Adds users whose ids are numbers, as `UserRecords` does.
  mutating func add(numbers: [Int64], _ user: (Int) -> UserSettings) {
    begin(ofUsers: true)
    recordCount += numbers.count
    users.append(numbers: numbers, user)
  }

  /// Whether there is nothing to say of what a record uses when it is applied: the rules have it,
  /// or are not known, and an earlier line of the batch used the same.
  ///
  /// - Parameter keepsAll: whether each line is to be told.
  mutating func isPlain(_ uses: VendorFieldUse, _ rules: RuleSet?, keepsAll: Bool) -> Bool {
    if uses.isAllowed(by: rules) { return true }
    return rules == nil && !keepsAll && !noted.add(uses)
  }

  mutating func add(
    _ record: consuming SettingsRecord, _ uses: VendorFieldUse, _ note: DisplayRecord? = nil,
    line: Int
  ) {
    finishRows()
    recordCount += 1
    steps.append(.record(record, uses, note, line: line))
  }

  mutating func add(_ operation: JSONObject, line: Int) {
    finishRows()
    recordCount += 1
    steps.append(.operation(operation, line: line))
  }

  mutating func add(_ problem: FileProblem.Problem, line: Int) {
    finishRows()
    if problem.isOfOneLine { recordCount += 1 }
    steps.append(.problem(problem, line: line))
  }

  /// Ends the batch, and looks its ids up.
  mutating func finish(_ lookup: SettingsIDLookup?) {
    finishRows()
    columns.forgetText()
    users.forgetText()
    lookup?.resolve(&columns)
    lookup?.resolve(&users)
  }

  /// Begins a row of users, or one of members.
  @inline(__always)
  private mutating func begin(ofUsers isOfUsers: Bool) {
    if isOfUsers == self.isOfUsers { return }
    finishRows()
    self.isOfUsers = isOfUsers
  }

  private mutating func finishRows() {
    finishMembers()
    finishUsers()
  }

  private mutating func finishUsers() {
    guard firstUser < users.count else { return }
    steps.append(.users(firstUser..<users.count))
    firstUser = users.count
  }

  private mutating func finishMembers() {
    guard firstStretch < columns.stretchCount else { return }
    steps.append(.members(firstStretch..<columns.stretchCount))
    firstStretch = columns.stretchCount
    columns.endStretch()
  }
}
