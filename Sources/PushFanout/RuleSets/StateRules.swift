internal import PushModel

/// The rules, evaluated once for every possible state.
///
/// A *state* represents a pair of a user's and a member's class. Pairs with the same outcome for
/// every message are the same state, so that a byte suffices: at most 230 states occur, whatever
/// the options.
///
/// For each class of message a table of 256 bytes maps a state to an outcome's code. The loop over
/// members evaluates no rule.
@safe final class StateRules: Sendable {
  /// State 0: not yet a member. Its code is always 0, not a recipient.
  static let absent: UInt8 = 0

  let stateCount: Int
  let tableCount: Int
  // SAFETY: written by `init`, read only from then on, freed by `deinit`.
  private nonisolated(unsafe) let states: UnsafeMutablePointer<UInt8>
  private nonisolated(unsafe) let tables: UnsafeMutablePointer<UInt8>
  private nonisolated(unsafe) let plain: UnsafeMutablePointer<UInt8>

  /// The state by the member's class (bits 8-11) and the user's (bits 0-7).
  var stateTable: UnsafePointer<UInt8> { unsafe UnsafePointer(states) }

  /// The same for members without overrides, whose class is a level 0 ... 5. The index is the
  /// user's class times eight plus the level, one addressing mode of the processor.
  var plainTable: UnsafePointer<UInt8> { unsafe UnsafePointer(plain) }

  /// The codes by state for a class of message.
  func codes(_ messageClass: Int) -> UnsafePointer<UInt8> {
    unsafe UnsafePointer(tables + messageClass * 256)
  }

  @inline(__always)
  func state(_ user: UserClass, _ member: MemberClass) -> UInt8 {
    unsafe states[Int(member.bits) << 8 | Int(user.bits)]
  }

  deinit {
    unsafe states.deallocate()
    unsafe tables.deallocate()
    unsafe plain.deallocate()
  }

  /// - Parameters:
  ///   - telling: classes of message that distinguish any two states.
  ///   - isPossible: whether the pair of classes can occur.
  ///   - outcome: the rules.
  init(
    tableCount: Int, telling: [Int], isPossible: (UserClass, MemberClass) -> Bool,
    outcome: (UserClass, MemberClass, Int) -> Outcome
  ) {
    self.tableCount = tableCount
    unsafe states = .allocate(capacity: 4096)
    unsafe states.initialize(repeating: Self.absent, count: 4096)
    unsafe tables = .allocate(capacity: 256 * tableCount)
    unsafe tables.initialize(repeating: 0, count: 256 * tableCount)
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
    stateCount = pairs.count + 1
    unsafe plain = .allocate(capacity: 2048)
    for index in 0..<2048 { unsafe plain[index] = states[(index & 7) << 8 | index >> 3] }
    for table in 0..<tableCount {
      for (index, (user, member)) in pairs.enumerated() {
        unsafe tables[table * 256 + index + 1] = outcome(user, member, table).code
      }
    }
  }
}
