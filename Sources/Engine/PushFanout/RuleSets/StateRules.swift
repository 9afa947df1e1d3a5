internal import PushModel

/// The rules, evaluated for every possible state.
///
/// A *state* stands for pairs of a user's and a member's class with the same outcome for every
/// message. At most 230 occur, so it fits a byte. Each class of message has a table of 256 codes by
/// state.
///
/// A *base* stands for pairs without quiet hours that have the same state in every phase.
@safe final class StateRules: Sendable {
  /// Not yet a member; the code is always 0, not a recipient.
  static let absent: UInt8 = 0

  /// Phases of quiet hours, of which 0 is outside.
  static let phaseCount = 4
  /// For users who are not decided for: every base is ``absent``.
  static let refusedPhase = UInt8(phaseCount)

  let tableCount: Int
  let tables: StateTables
  /// By ``StateKey``.
  // SAFETY: written by the initializer, read only from then on.
  private nonisolated(unsafe) let states: UnsafeMutablePointer<UInt8>
  /// Retained for ``tables``.
  private let openStates: OpenStates?

  deinit {
    unsafe states.deallocate()
    unsafe tables.codes.deallocate()
    unsafe tables.bases.deallocate()
    unsafe tables.statesByBase.deallocate()
  }

  /// States numbered in advance.
  ///
  /// - Parameters:
  ///   - telling: classes of message that distinguish any two states.
  ///   - lastPhase: 1 or 3.
  init(
    _ ruleSet: EngineRules, tableCount: Int, telling: [Int], lastPhase: UInt8,
    isPossible: (UserClass, MemberClass) -> Bool,
    outcome: (UserClass, MemberClass, Int) -> Outcome
  ) {
    self.tableCount = tableCount
    unsafe states = .allocate(capacity: StateKey.count)
    unsafe states.initialize(repeating: Self.absent, count: StateKey.count)
    let codes = UnsafeMutablePointer<UInt8>.allocate(capacity: 256 * tableCount)
    unsafe codes.initialize(repeating: 0, count: 256 * tableCount)
    var known: [[UInt8]: UInt8] = [:]
    var pairs: [(UserClass, MemberClass)] = []
    for member in MemberClass.all where !member.isAbsent {
      for user in UserClass.all where isPossible(user, member) {
        let answers = telling.map { outcome(user, member, $0).code }
        if known[answers] == nil {
          precondition(pairs.count < 255, "more than 255 states")
          pairs.append((user, member))
          known[answers] = UInt8(pairs.count)
        }
        unsafe states[StateKey(user, member).index] = known[answers] ?? Self.absent
      }
    }
    let bases = UnsafeMutablePointer<UInt16>.allocate(capacity: StateKey.count)
    let statesByBase = UnsafeMutablePointer<UInt8>.allocate(capacity: StateTables.statesByBaseCount)
    unsafe Self.fillBases(bases, statesByBase, states, lastPhase, isPossible)
    for table in 0..<tableCount {
      for (index, (user, member)) in pairs.enumerated() {
        unsafe codes[table * 256 + index + 1] = outcome(user, member, table).code
      }
    }
    openStates = nil
    tables = unsafe StateTables(
      ruleSet: ruleSet, stateCapacity: pairs.count + 1, codes: codes, bases: bases,
      statesByBase: statesByBase)
  }

  /// For open rules, by which states are numbered as they occur.
  init() {
    tableCount = OpenMessageClass.count
    let codes = UnsafeMutablePointer<UInt8>.allocate(capacity: 256 * tableCount)
    unsafe codes.initialize(repeating: 0, count: 256 * tableCount)
    let count = MemberKey.stateIndex(phase: OpenStates.phaseCapacity, base: 0)
    let statesByBase = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    unsafe statesByBase.initialize(repeating: Self.absent, count: count)
    let openStates = unsafe OpenStates(codes: codes, statesByBase: statesByBase)
    self.openStates = openStates
    unsafe states = .allocate(capacity: 1)
    let bases = UnsafeMutablePointer<UInt16>.allocate(capacity: StateKey.count)
    unsafe bases.initialize(repeating: openStates.base(.online), count: StateKey.count)
    tables = unsafe StateTables(
      ruleSet: .open(.passUnretained(openStates)), stateCapacity: OpenStates.stateCapacity,
      codes: codes, bases: bases, statesByBase: statesByBase)
  }

  func state(_ user: UserClass, _ member: MemberClass) -> UInt8 {
    unsafe states[StateKey(user, member).index]
  }

  private static func fillBases(
    _ bases: UnsafeMutablePointer<UInt16>, _ statesByBase: UnsafeMutablePointer<UInt8>,
    _ states: UnsafePointer<UInt8>, _ lastPhase: UInt8,
    _ isPossible: (UserClass, MemberClass) -> Bool
  ) {
    unsafe bases.initialize(repeating: 0, count: StateKey.count)
    unsafe statesByBase.initialize(repeating: absent, count: StateTables.statesByBaseCount)
    var known: [[UInt8]: UInt16] = [[UInt8](repeating: absent, count: phaseCount): 0]
    for member in MemberClass.all where !member.isAbsent {
      for user in UserClass.all
      where user.isOutsideQuiet(lastPhase: lastPhase) && isPossible(user, member) {
        let row = (0..<UInt8(phaseCount)).map { (phase: UInt8) -> UInt8 in
          guard phase <= lastPhase else { return absent }
          return unsafe states[StateKey(user.inPhase(phase), member).index]
        }
        let base = known[row] ?? UInt16(known.count)
        if known[row] == nil {
          precondition(known.count < MemberKey.baseCapacity, "too many bases")
          known[row] = base
          for phase in 0..<phaseCount {
            let index = MemberKey.stateIndex(phase: phase, base: Int(base))
            unsafe statesByBase[index] = row[phase]
          }
        }
        unsafe bases[StateKey(user, member).index] = base
      }
    }
  }
}

/// The tables of ``StateRules``.
///
/// SAFETY: valid as long as the rules, which every version with the same ``Tables/appRevision``
/// retains.
@safe struct StateTables: @unchecked Sendable {
  let ruleSet: EngineRules
  /// Every state is below it, now and later.
  let stateCapacity: Int
  /// By class of message, then state.
  fileprivate let codes: UnsafePointer<UInt8>
  /// By ``StateKey`` without quiet hours; 0 for not yet a member. By open rules, of online members
  /// only.
  fileprivate let bases: UnsafePointer<UInt16>
  /// By ``MemberKey/stateIndex(phase:base:)``.
  let statesByBase: UnsafePointer<UInt8>

  static let statesByBaseCount = MemberKey.stateIndex(phase: StateRules.phaseCount + 1, base: 0)

  /// For any online member: nothing is pushed to one.
  var onlineBase: UInt16 { base(UserClass(level: 0, reach: .online), MemberClass(level: 0)) }

  /// Every state that occurs in keys of now is below it.
  @inline(__always)
  var stateCount: Int { ruleSet.stateCount(of: stateCapacity) }

  /// Tells by the lowest bit whether a state is a member's; never freed.
  // SAFETY: written here, read only from then on.
  nonisolated(unsafe) static let isMember: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    unsafe table.initialize(repeating: 1, count: 256)
    unsafe table[Int(StateRules.absent)] = 0
    return unsafe UnsafePointer(table)
  }()

  /// Codes by state.
  @inline(__always)
  func codes(_ messageClass: Int) -> UnsafePointer<UInt8> { unsafe codes + messageClass * 256 }

  /// Of classes without quiet hours.
  @inline(__always)
  func base(_ user: UserClass, _ member: MemberClass) -> UInt16 {
    unsafe bases[StateKey(user, member).index]
  }

  /// Calls `body` with the bytes that map bases to states.
  func forEachBaseTable(_ body: (UnsafeRawBufferPointer) -> Void) {
    unsafe body(
      UnsafeRawBufferPointer(UnsafeBufferPointer(start: bases, count: StateKey.count)))
    let count = MemberKey.stateIndex(phase: StateRules.phaseCount, base: 0)
    unsafe body(UnsafeRawBufferPointer(UnsafeBufferPointer(start: statesByBase, count: count)))
  }
}
