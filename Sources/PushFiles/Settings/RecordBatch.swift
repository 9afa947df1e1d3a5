internal import PushFanout
internal import PushModel

/// The records and the problems of a piece of a file, in the order of its lines.
struct RecordBatch: Sendable {
  enum Step: Sendable {
    /// Stretches of ``columns``: memberships without channels and without fields that the rules do
    /// not have.
    case members(Range<Int>)
    /// Any other record.
    case record(SettingsRecord, VendorFieldUse, ContentNote?, line: Int)
    /// A line that is not understood.
    case problem(FileProblem.Problem, line: Int)
  }

  private(set) var steps: [Step] = []
  private(set) var columns = MembershipColumns()
  /// The number of lines with records, understood or not.
  private(set) var recordCount = 0
  /// The number of lines and of bytes of the piece.
  var lineCount = 0
  let byteCount: Int
  /// The first stretch of members that no step has.
  private var firstStretch = 0

  init(byteCount: Int = 0) { self.byteCount = byteCount }

  // Lines are counted from 1 at the piece's beginning.

  mutating func add(
    _ user: RawSpan, of conversation: RawSpan, _ member: MemberSettings, _ present: PresentFields,
    line: Int
  ) {
    recordCount += 1
    columns.append(user, of: conversation, member, present, line: line)
  }

  mutating func add(
    _ record: consuming SettingsRecord, _ uses: VendorFieldUse, _ note: ContentNote? = nil,
    line: Int
  ) {
    finishMembers()
    recordCount += 1
    steps.append(.record(record, uses, note, line: line))
  }

  mutating func add(_ problem: FileProblem.Problem, line: Int) {
    finishMembers()
    recordCount += 1
    steps.append(.problem(problem, line: line))
  }

  /// Ends the batch, and looks its ids up.
  mutating func finish(_ lookup: SettingsIDLookup?) {
    finishMembers()
    lookup?.resolve(&columns)
  }

  private mutating func finishMembers() {
    guard firstStretch < columns.stretchCount else { return }
    steps.append(.members(firstStretch..<columns.stretchCount))
    firstStretch = columns.stretchCount
    columns.endStretch()
  }
}
