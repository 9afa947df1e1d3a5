internal import PushModel
internal import PushSupport
internal import Synchronization

/// Numbers what occurs under open rules, where far more could: members' classes as bases, windows as
/// phases, and the outcomes of both together as states.
///
/// What has no number left has the state ``others``: these members are decided one by one.
///
/// SAFETY: the tables are those of ``StateRules``, which retains this. A number is given out, by an
/// atomic store, after all that belongs to it was written under the lock; nothing of it changes.
@safe final class OpenStates: @unchecked Sendable {
  static let others: UInt8 = 1
  private static let firstState = 2
  static let stateCapacity = 256
  /// The base of members of ``others``.
  private static let othersBase = UInt16(MemberKey.baseCapacity - 1)
  static let phaseCapacity = 64
  /// The phase of windows that have no number.
  private static let othersPhase = UInt8(phaseCapacity - 1)
  private static let slotCount = 4096

  private let codes: UnsafeMutablePointer<UInt8>
  private let statesByBase: UnsafeMutablePointer<UInt8>
  /// A class, and its base in the lowest 16 bits; 0 if empty.
  private let slots: UnsafeMutablePointer<Atomic<UInt64>>
  /// By ``OpenQuiet``; 0 until it occurs.
  private let phases: UnsafeMutablePointer<Atomic<UInt8>>
  /// By base, and by phase.
  private let members: UnsafeMutablePointer<OpenMemberClass?>
  private let quiets: UnsafeMutablePointer<OpenQuiet?>
  private let numbered = Atomic(firstState)
  private let known = Lock(Known())
  /// Whether a class got no number.
  private let isOutOfBases = Atomic(false)

  private struct Known {
    /// How many bases and phases have numbers.
    var baseCount = 1
    var phaseCount = 1
    /// By codes.
    var states: [[UInt8]: UInt8] = [:]
  }

  /// Every state numbered until now is below it.
  var stateCount: Int { numbered.load(ordering: .acquiring) }

  /// Whether something of a kind may have no number left.
  var isFull: Bool {
    known.withLock { known in
      known.baseCount >= Int(Self.othersBase) || known.phaseCount >= Int(Self.othersPhase)
        || Self.firstState + known.states.count >= Self.stateCapacity
    }
  }

  /// - Parameters:
  ///   - codes: of ``OpenMessageClass/count`` tables.
  ///   - statesByBase: of ``phaseCapacity`` phases. Both are 0.
  init(codes: UnsafeMutablePointer<UInt8>, statesByBase: UnsafeMutablePointer<UInt8>) {
    unsafe self.codes = codes
    unsafe self.statesByBase = statesByBase
    unsafe slots = .allocate(capacity: Self.slotCount)
    for slot in 0..<Self.slotCount { unsafe (slots + slot).initialize(to: Atomic(0)) }
    unsafe phases = .allocate(capacity: OpenQuiet.count)
    for quiet in 0..<OpenQuiet.count { unsafe (phases + quiet).initialize(to: Atomic(0)) }
    unsafe members = .allocate(capacity: MemberKey.baseCapacity)
    unsafe members.initialize(repeating: nil, count: MemberKey.baseCapacity)
    unsafe quiets = .allocate(capacity: Self.phaseCapacity)
    unsafe quiets.initialize(repeating: nil, count: Self.phaseCapacity)
    for phase in 0..<Self.phaseCapacity where phase != StateRules.refusedPhase {
      set(Self.others, phase: UInt8(phase), base: Self.othersBase)
    }
    for base in 1..<MemberKey.baseCapacity {
      set(Self.others, phase: Self.othersPhase, base: UInt16(base))
    }
  }

  deinit {
    unsafe slots.deallocate()
    unsafe phases.deallocate()
    unsafe members.deallocate()
    unsafe quiets.deallocate()
  }

  private func set(_ state: UInt8, phase: UInt8, base: UInt16) {
    unsafe statesByBase[MemberKey.stateIndex(phase: Int(phase), base: Int(base))] = state
  }

  // MARK: Bases

  /// The base of a class, numbered now if it is new.
  ///
  /// - Complexity: O(1), without a lock if it is known.
  func base(_ member: OpenMemberClass) -> UInt16 {
    if let base = find(member) { return base }
    if isOutOfBases.load(ordering: .relaxed) { return Self.othersBase }
    return known.withLock { known in
      if let base = find(member) { return base }
      guard known.baseCount < Int(Self.othersBase) else {
        isOutOfBases.store(true, ordering: .relaxed)
        return Self.othersBase
      }
      let base = UInt16(known.baseCount)
      unsafe members[Int(base)] = member
      known.baseCount += 1
      for phase in 0..<known.phaseCount where phase != StateRules.refusedPhase {
        let state = unsafe state(member, quiets[phase], &known)
        set(state, phase: UInt8(phase), base: base)
      }
      var slot = firstSlot(of: member)
      while unsafe slots[slot].load(ordering: .relaxed) != 0 { slot = next(slot) }
      unsafe slots[slot].store(
        UInt64(member.bits) << 16 | UInt64(base), ordering: .releasing)
      return base
    }
  }

  /// The classes with a base, in the order of bases.
  var numberedClasses: [OpenMemberClass] {
    known.withLock { known in (1..<known.baseCount).compactMap { unsafe members[$0] } }
  }

  /// Numbers the classes of other tables as these did.
  ///
  /// - Returns: false for what no tables number so.
  func number(_ classes: [OpenMemberClass]) -> Bool {
    classes.indices.allSatisfy { base(classes[$0]) == $0 + 1 }
  }

  private func find(_ member: OpenMemberClass) -> UInt16? {
    var slot = firstSlot(of: member)
    while true {
      let found = unsafe slots[slot].load(ordering: .acquiring)
      if found == 0 { return nil }
      if found >> 16 == UInt64(member.bits) { return UInt16(truncatingIfNeeded: found) }
      slot = next(slot)
    }
  }

  private func firstSlot(of member: OpenMemberClass) -> Int {
    Int((UInt64(member.bits) &* 0x9E37_79B9_7F4A_7C15) >> 52)
  }

  private func next(_ slot: Int) -> Int { (slot + 1) & (Self.slotCount - 1) }

  // MARK: Phases

  /// The phase of windows, numbered now if they are new.
  func phase(_ quiet: OpenQuiet) -> UInt8 {
    let found = unsafe phases[Int(quiet.bits)].load(ordering: .acquiring)
    if found != 0 { return found }
    return known.withLock { known in
      let found = unsafe phases[Int(quiet.bits)].load(ordering: .relaxed)
      if found != 0 { return found }
      if known.phaseCount == StateRules.refusedPhase { known.phaseCount += 1 }
      var phase = Self.othersPhase
      if known.phaseCount < Int(Self.othersPhase) {
        phase = UInt8(known.phaseCount)
        unsafe quiets[Int(phase)] = quiet
        known.phaseCount += 1
        for base in 1..<known.baseCount {
          guard let member = unsafe members[base] else { continue }
          set(state(member, quiet, &known), phase: phase, base: UInt16(base))
        }
      }
      unsafe phases[Int(quiet.bits)].store(phase, ordering: .releasing)
      return phase
    }
  }

  // MARK: States

  private func state(
    _ member: OpenMemberClass, _ quiet: OpenQuiet?, _ known: inout Known
  ) -> UInt8 {
    let answers = OpenMessageClass.all.map { message in
      // Those that take plain away are asked for in groups only.
      let classes = message.takesPlain ? [] : member.classes(message.named)
      return member.outcome(ofAll: classes, quiet, force: message.force).code
    }
    if let state = known.states[answers] { return state }
    let number = Self.firstState + known.states.count
    guard number < Self.stateCapacity else { return Self.others }
    let state = UInt8(number)
    known.states[answers] = state
    for (table, code) in answers.enumerated() { unsafe codes[table * 256 + number] = code }
    numbered.store(number + 1, ordering: .releasing)
    return state
  }

  // MARK: Members

  /// The code of a message for a member with a key.
  ///
  /// - Parameter own: of the record in the message's thread; nil for none.
  /// - Returns: nil if what the key stands for has no number.
  @inline(__always)
  func code(
    _ key: MemberKey, _ phases: PhaseTable, _ named: NamedClasses, force: Bool,
    own: MemberTraits? = nil
  ) -> UInt8? {
    let phase = phases[key.schedule]
    if key.base == 0 || phase == StateRules.refusedPhase { return 0 }
    guard phase != Self.othersPhase, var member = unsafe members[key.base] else { return nil }
    if named.blocksSender { return Outcome(.suppress, .senderBlocked).code }
    if let own { member = member.inThread(own, keepsPlain: !named.takesPlain) }
    return unsafe member.outcome(named, quiets[phase], force: force).code
  }
}
