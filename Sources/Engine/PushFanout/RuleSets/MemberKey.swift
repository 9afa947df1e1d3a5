/// What decides a member, except time and message: the schedule, and the base of ``StateRules``.
///
/// CPushKernels knows the layout too.
struct MemberKey: BitwiseCopyable, Equatable {
  private static let baseBits = 10
  static let baseCapacity = 1 << baseBits
  static let scheduleCapacity = 1 << (32 - baseBits)

  let bits: UInt32

  @inline(__always)
  init(bits: UInt32) { self.bits = bits }

  @inline(__always)
  init(schedule: UInt32, base: UInt16) { bits = schedule << UInt32(Self.baseBits) | UInt32(base) }

  /// For a member resolved from the tables; ``StateRules/absent`` in any phase.
  static let unresolved = MemberKey(bits: 0)

  /// No stored key has the base of ``unresolved``.
  @inline(__always)
  var isUnresolved: Bool { base == 0 }

  @inline(__always)
  var absent: MemberKey { withBase(0) }

  @inline(__always)
  func withBase(_ base: UInt16) -> MemberKey {
    MemberKey(schedule: UInt32(schedule), base: base)
  }

  @inline(__always)
  var schedule: Int { Int(bits >> UInt32(Self.baseBits)) }
  @inline(__always)
  var base: Int { Int(bits & UInt32(Self.baseCapacity - 1)) }

  /// The position in ``StateTables/statesByBase``.
  @inline(__always)
  static func stateIndex(phase: Int, base: Int) -> Int { phase << baseBits | base }

  @inline(__always)
  func state(_ phases: PhaseTable, _ stateByBase: UnsafePointer<UInt8>) -> UInt8 {
    unsafe stateByBase[Self.stateIndex(phase: phases[schedule], base: base)]
  }
}

/// The phases of schedules.
///
/// SAFETY: valid as long as the ``SchedulePhases``.
@safe struct PhaseTable {
  private let bytes: UnsafePointer<UInt8>
  let count: Int

  init(bytes: UnsafePointer<UInt8>, count: Int) {
    unsafe self.bytes = unsafe bytes
    self.count = count
  }

  /// A key just changed may name a later schedule; the reader then discards the state.
  @inline(__always)
  subscript(schedule: Int) -> Int { schedule < count ? Int(unsafe bytes[schedule]) : 0 }

  @inline(__always)
  func withBytes<Value>(_ body: (UnsafePointer<UInt8>) -> Value) -> Value { unsafe body(bytes) }
}
