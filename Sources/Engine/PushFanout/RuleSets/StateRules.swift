internal import PushModel

/// The rules, evaluated once for every possible state.
///
/// A *state* represents a pair of a user's and a member's class. Pairs with the same outcome for
/// every message are the same state, so that a byte suffices: at most 230 states occur, whatever
/// the options.
///
/// For each class of message a table of 256 bytes maps a state to an outcome's code. The loop over
/// members evaluates no rule.
///
/// A *base* stands for a pair of classes without quiet hours; with the level of the user's schedule
/// it gives the state. Pairs that are in the same state at every level have the same base.
@safe final class StateRules: Sendable {
  /// State 0: not yet a member. Its code is always 0, not a recipient.
  static let absent: UInt8 = 0

  /// The level of the schedules of users who are not decided for, beside the four of quiet hours: at
  /// it every base is ``absent``.
  static let refusedLevel: UInt8 = 4

  /// The number of bases that ``MemberWord`` can hold.
  static let baseCapacity = 1 << MemberWord.baseBits

  let tableCount: Int
  let tables: StateTables

  deinit {
    unsafe tables.states.deallocate()
    unsafe tables.codes.deallocate()
    unsafe tables.bases.deallocate()
    unsafe tables.statesByBase.deallocate()
  }

  /// - Parameters:
  ///   - telling: classes of message that distinguish any two states.
  ///   - quietMask: the bits of a user's class that quiet hours set.
  ///   - isPossible: whether the pair of classes can occur.
  ///   - outcome: the rules.
  init(
    tableCount: Int, telling: [Int], quietMask: UInt8, isPossible: (UserClass, MemberClass) -> Bool,
    outcome: (UserClass, MemberClass, Int) -> Outcome
  ) {
    self.tableCount = tableCount
    let states = UnsafeMutablePointer<UInt8>.allocate(capacity: 4096)
    unsafe states.initialize(repeating: Self.absent, count: 4096)
    let codes = UnsafeMutablePointer<UInt8>.allocate(capacity: 256 * tableCount)
    unsafe codes.initialize(repeating: 0, count: 256 * tableCount)
    var known: [[UInt8]: UInt8] = [:]
    var pairs: [(UserClass, MemberClass)] = []
    for bits in 0..<15 as Range<UInt8> {
      let member = MemberClass(bits: bits)
      for user in (0...255 as ClosedRange<UInt8>).map({ UserClass(bits: $0) })
      where isPossible(user, member) {
        let answers = telling.map { outcome(user, member, $0).code }
        if let state = known[answers] {
          unsafe states[Int(bits) << 8 | Int(user.bits)] = state
          continue
        }
        precondition(pairs.count < 255, "more than 255 states")
        pairs.append((user, member))
        known[answers] = UInt8(pairs.count)
        unsafe states[Int(bits) << 8 | Int(user.bits)] = UInt8(pairs.count)
      }
    }
    let bases = UnsafeMutablePointer<UInt16>.allocate(capacity: 4096)
    let statesByBase = UnsafeMutablePointer<UInt8>.allocate(capacity: 5 * Self.baseCapacity)
    unsafe Self.fillBases(bases, statesByBase, states, quietMask, isPossible)
    for table in 0..<tableCount {
      for (index, (user, member)) in pairs.enumerated() {
        unsafe codes[table * 256 + index + 1] = outcome(user, member, table).code
      }
    }
    tables = unsafe StateTables(
      stateCount: pairs.count + 1, states: states, codes: codes, bases: bases,
      statesByBase: statesByBase)
  }

  /// Numbers the bases and lists their states.
  private static func fillBases(
    _ bases: UnsafeMutablePointer<UInt16>, _ statesByBase: UnsafeMutablePointer<UInt8>,
    _ states: UnsafePointer<UInt8>, _ quietMask: UInt8,
    _ isPossible: (UserClass, MemberClass) -> Bool
  ) {
    unsafe bases.initialize(repeating: 0, count: 4096)
    unsafe statesByBase.initialize(repeating: absent, count: 5 * baseCapacity)
    var known: [[UInt8]: UInt16] = [[absent, absent, absent, absent]: 0]
    for member in 0..<15 as Range<UInt8> {
      for user in 0...255 as ClosedRange<UInt8> where user & quietMask == 0 {
        guard isPossible(UserClass(bits: user), MemberClass(bits: member)) else { continue }
        let row = (0..<4).map { (level: UInt8) -> UInt8 in
          let quiet = level << 3
          guard quiet & ~quietMask == 0 else { return absent }
          return unsafe states[Int(member) << 8 | Int(user | quiet)]
        }
        let base = known[row] ?? UInt16(known.count)
        if known[row] == nil {
          precondition(known.count < baseCapacity, "more than \(baseCapacity) bases")
          known[row] = base
          for level in 0..<4 {
            unsafe statesByBase[level << MemberWord.baseBits | Int(base)] = row[level]
          }
        }
        unsafe bases[Int(member) << 8 | Int(user)] = base
      }
    }
  }
}

/// The tables of ``StateRules``.
///
/// SAFETY: valid as long as the rules, which every version with the same ``Tables/appRevision``
/// retains.
@safe struct StateTables: @unchecked Sendable {
  /// Every state is below it.
  let stateCount: Int
  /// The state by the member's class (bits 8-11) and the user's (bits 0-7).
  let states: UnsafePointer<UInt8>
  /// For each class of message, the codes by state.
  let codes: UnsafePointer<UInt8>
  /// The base by the member's class (bits 8-11) and the user's without quiet hours (bits 0-7). 0 is
  /// the base of a user who is not yet a member.
  let bases: UnsafePointer<UInt16>
  /// The state by the level of quiet hours (``ScheduleLevels/levels``) times
  /// ``StateRules/baseCapacity`` plus the base.
  let statesByBase: UnsafePointer<UInt8>

  /// The base of any member who is online: no message is pushed to one.
  var onlineBase: UInt16 { unsafe bases[Int(UserClass.Reach.online.rawValue) << 5] }

  /// A table in which the lowest bit says whether a state is a member's. It is never freed.
  // SAFETY: written here, read only from then on.
  nonisolated(unsafe) static let isMember: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    unsafe table.initialize(repeating: 1, count: 256)
    unsafe table[Int(StateRules.absent)] = 0
    return unsafe UnsafePointer(table)
  }()

  /// The codes by state for a class of message.
  @inline(__always)
  func codes(_ messageClass: Int) -> UnsafePointer<UInt8> { unsafe codes + messageClass * 256 }

  @inline(__always)
  func state(_ user: UserClass, _ member: MemberClass) -> UInt8 {
    unsafe states[Int(member.bits) << 8 | Int(user.bits)]
  }
}

/// The levels of schedules.
///
/// SAFETY: valid as long as the ``ScheduleLevels``.
@safe struct LevelTable {
  private let bytes: UnsafePointer<UInt8>
  let count: Int

  init(bytes: UnsafePointer<UInt8>, count: Int) {
    unsafe self.bytes = unsafe bytes
    self.count = count
  }

  /// The level of a schedule. A word that another thread has just changed may name one that was
  /// added later; what is read of it is not used.
  @inline(__always)
  subscript(schedule: Int) -> Int { schedule < count ? Int(unsafe bytes[schedule]) : 0 }

  @inline(__always)
  func withBytes<Value>(_ body: (UnsafePointer<UInt8>) -> Value) -> Value { unsafe body(bytes) }
}

/// What decides a member beside the time and the message: the schedule, and the base of
/// ``StateRules``.
struct MemberWord: BitwiseCopyable, Equatable {
  static let baseBits = 10
  /// The number of schedules that it can hold.
  static let scheduleCapacity = 1 << 22

  var bits: UInt32

  init(bits: UInt32) { self.bits = bits }

  init(schedule: UInt32, base: UInt16) { bits = schedule << UInt32(Self.baseBits) | UInt32(base) }

  /// The word of a member whose state is resolved from the tables at each instant. Its state is
  /// ``StateRules/absent`` at any level.
  static let unknown = MemberWord(bits: 0)

  /// Whether the base is that of ``unknown``, which no lasting word has.
  @inline(__always)
  var isUnknown: Bool { base == 0 }

  /// The word while the user is not yet a member.
  @inline(__always)
  var absent: MemberWord { MemberWord(bits: bits & ~UInt32(1 << Self.baseBits - 1)) }

  @inline(__always)
  var schedule: Int { Int(bits >> UInt32(Self.baseBits)) }
  @inline(__always)
  var base: Int { Int(bits & UInt32(1 << Self.baseBits - 1)) }

  /// The state while the schedule has a level.
  @inline(__always)
  func state(_ levels: LevelTable, _ stateByBase: UnsafePointer<UInt8>) -> UInt8 {
    unsafe stateByBase[levels[schedule] << Self.baseBits | base]
  }
}
