internal import QuietTime
internal import Synchronization

/// The reusable memory of a ``FanoutResult``.
///
/// SAFETY: only the thread that decides into the result writes, while it is uniquely referenced;
/// ``allStates`` is set atomically.
@safe final class AnswerStorage: @unchecked Sendable {
  /// A member whose outcome differs from others in its state.
  struct Correction: BitwiseCopyable {
    var rank: UInt32
    var code: UInt8
    var state: UInt8
  }

  /// 256 numbers of members, by state.
  let histogram: UnsafeMutablePointer<UInt32>
  /// 256 outcome codes, of the version or the message, by state.
  @exclusivity(unchecked) var codes: UnsafePointer<UInt8>
  /// The ranks to look up, and the states found, with their keys by open rules.
  @safe @exclusivity(unchecked) private var rankMemory = ReusedMemory<UInt32>()
  @safe @exclusivity(unchecked) private var stateMemory = ReusedMemory<UInt8>()
  @safe @exclusivity(unchecked) private var keyMemory = ReusedMemory<MemberKey>()
  /// What a message says of users by open rules: a rank above ``NamedClasses``.
  @safe @exclusivity(unchecked) private var namedMemory = ReusedMemory<UInt64>()
  @safe @exclusivity(unchecked) private var namedCount = 0
  @safe @exclusivity(unchecked) private(set) var rankCount = 0
  /// Sorted by rank, without duplicates.
  @safe @exclusivity(unchecked) private var correctionMemory = ReusedMemory<Correction>()
  @safe @exclusivity(unchecked) private(set) var correctionCount = 0
  /// Only of a small conversation.
  @safe @exclusivity(unchecked) private var memberMemory = ReusedMemory<UInt8>()
  @safe @exclusivity(unchecked) private var memberCount = 0
  /// The message's own ``codes``.
  @safe @exclusivity(unchecked) private var codeMemory = ReusedMemory<UInt8>()
  /// The next message often has the same.
  @safe @exclusivity(unchecked) var version: EngineVersion?
  @safe @exclusivity(unchecked) var conversation: CachedConversation? {
    didSet {
      conversationAddress =
        conversation.map { unsafe UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    }
  }
  /// Whether the tables were read, not ``conversation``.
  @safe @exclusivity(unchecked) var isFromTables = false
  /// The address of ``conversation``; 0 for none.
  @safe @exclusivity(unchecked) private var conversationAddress: UInt = 0
  @safe @exclusivity(unchecked) var quiet: SchedulePhases? {
    didSet {
      from = quiet?.from ?? 0
      until = quiet?.until ?? 0
      calendar = quiet?.calendar ?? 0
      scheduleCount = quiet?.count ?? 0
    }
  }
  /// Copied from ``quiet``, as reading it counts a reference.
  @safe @exclusivity(unchecked) private var from: Int64 = 0
  @safe @exclusivity(unchecked) private var until: Int64 = 0
  @safe @exclusivity(unchecked) private var calendar = 0
  @safe @exclusivity(unchecked) private var scheduleCount = 0
  /// The address of ``MemberStates``; 0 until asked for.
  private let allStates = Atomic<UInt>(0)

  init() {
    unsafe histogram = .allocate(capacity: 256)
    unsafe histogram.initialize(repeating: 0, count: 256)
    unsafe codes = StateTables.isMember
  }

  deinit {
    AtomicLazy.release(allStates, as: MemberStates.self)
    unsafe histogram.deallocate()
    rankMemory.free()
    stateMemory.free()
    keyMemory.free()
    namedMemory.free()
    correctionMemory.free()
    memberMemory.free()
    codeMemory.free()
  }

  @inline(__always)
  func holds(_ entry: Unmanaged<CachedConversation>) -> Bool {
    unsafe UInt(bitPattern: entry.toOpaque()) == conversationAddress
  }

  /// Nil unless ``quiet`` holds for the instant and the version.
  @inline(__always)
  func reader(at now: Int64, _ version: EngineVersion) -> ConversationReader? {
    guard from <= now, now < until, calendar == version.tables.calendarID,
      scheduleCount >= version.tables.scheduleTable.count, let quiet
    else { return nil }
    return ConversationReader(version: version, now: now, quiet: quiet)
  }

  func reset() {
    rankCount = 0
    namedCount = 0
    correctionCount = 0
    memberCount = 0
    if allStates.load(ordering: .relaxed) != 0 {
      AtomicLazy.release(allStates, as: MemberStates.self)
    }
  }

  // MARK: Ranks

  var ranks: UnsafeMutablePointer<UInt32> { unsafe rankMemory.start }
  var states: UnsafeMutablePointer<UInt8> { unsafe stateMemory.start }

  func add(_ rank: Int) {
    rankMemory.reserve(rankCount + 1, keeping: rankCount)
    stateMemory.reserve(rankCount + 1)
    keyMemory.reserve(rankCount + 1)
    unsafe ranks[rankCount] = UInt32(rank)
    rankCount += 1
  }

  func sortRanks() {
    guard rankCount > 1 else { return }
    var all = unsafe UnsafeMutableBufferPointer(start: ranks, count: rankCount)
    unsafe all.sort()
    var kept = 1
    for index in 1..<rankCount where unsafe ranks[index] != ranks[kept - 1] {
      unsafe ranks[kept] = unsafe ranks[index]
      kept += 1
    }
    rankCount = kept
  }

  /// Sets what was found of a rank.
  @inline(__always)
  func setKey(
    _ key: MemberKey, _ index: Int, _ phases: PhaseTable, _ statesByBase: UnsafePointer<UInt8>
  ) {
    unsafe states[index] = key.state(phases, statesByBase)
    unsafe keyMemory.start[index] = key
  }

  // MARK: Classes of single members

  /// A member may be named repeatedly.
  func name(_ rank: Int, _ classes: NamedClasses) {
    namedMemory.reserve(namedCount + 1, keeping: namedCount)
    unsafe namedMemory.start[namedCount] = UInt64(rank) << 32 | UInt64(classes.bits)
    namedCount += 1
  }

  /// Adds the ranks of those named but the sender, ascending.
  func addNamed(except sender: Int) {
    var all = unsafe UnsafeMutableBufferPointer(start: namedMemory.memory, count: namedCount)
    if namedCount > 1 { unsafe all.sort() }
    for index in 0..<namedCount {
      let named = unsafe all[index]
      let rank = Int(named >> 32)
      if rank == sender { continue }
      if rankCount > 0, unsafe Int(ranks[rankCount - 1]) == rank {
        unsafe all[rankCount - 1] |= named
      } else {
        unsafe all[rankCount] = named
        add(rank)
      }
    }
    namedCount = rankCount
  }

  /// The member of a rank that ``addNamed(except:)`` added.
  func named(_ index: Int) -> (rank: Int, key: MemberKey, state: UInt8, classes: NamedClasses) {
    unsafe (
      Int(ranks[index]), keyMemory.start[index], states[index],
      NamedClasses(bits: UInt16(truncatingIfNeeded: namedMemory.start[index]))
    )
  }

  // MARK: Corrections

  /// Valid until the next message.
  var corrections: UnsafeBufferPointer<Correction> {
    unsafe UnsafeBufferPointer(start: correctionMemory.memory, count: correctionCount)
  }

  /// Corrections have to be added in the order of ranks.
  func add(_ correction: Correction) {
    correctionMemory.reserve(correctionCount + 1, keeping: correctionCount)
    unsafe correctionMemory.start[correctionCount] = correction
    correctionCount += 1
  }

  func replace(_ corrections: [Correction], _ code: (UInt8) -> UInt8) {
    correctionCount = 0
    for correction in corrections { add(correction) }
    codeMemory.reserve(256)
    for state in 0..<256 { unsafe codeMemory.start[state] = code(unsafe codes[state]) }
    unsafe codes = UnsafePointer(codeMemory.start)
  }

  // MARK: All members

  func makeMemberStates(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    memberMemory.reserve(max(count, 1))
    memberCount = count
    return unsafe memberMemory.start
  }

  func forgetMemberStates() { memberCount = 0 }

  /// In the order of users, valid until the next message. A larger conversation calls `make` the
  /// first time.
  ///
  /// - Precondition: the conversation has members.
  func memberStates(_ make: () -> MemberStates) -> UnsafePointer<UInt8> {
    if memberCount > 0 { return unsafe UnsafePointer(memberMemory.start) }
    if let known = AtomicLazy.load(allStates, as: MemberStates.self) {
      return unsafe UnsafePointer(known.bytes)
    }
    return unsafe UnsafePointer(AtomicLazy.store(make(), in: allStates).bytes)
  }

  /// A member's state; nil in a larger conversation.
  func state(ofMember rank: Int) -> UInt8? {
    rank < memberCount ? unsafe memberMemory.start[rank] : nil
  }

  @inline(__always)
  func move(_ rank: Int, from before: UInt8, to state: UInt8) {
    count(from: before, to: state)
    setState(state, ofMember: rank)
  }

  @inline(__always)
  func count(from before: UInt8, to state: UInt8) {
    unsafe histogram[Int(before)] &-= 1
    unsafe histogram[Int(state)] &+= 1
  }

  /// Has no effect in a larger conversation.
  func setState(_ state: UInt8, ofMember rank: Int) {
    if rank < memberCount { unsafe memberMemory.start[rank] = state }
  }
}

/// Growing memory that is reused.
///
/// SAFETY: freed explicitly; read only up to what was reserved.
@safe struct ReusedMemory<Element: BitwiseCopyable> {
  private(set) var memory: UnsafeMutablePointer<Element>?
  private var capacity = 0

  init() { unsafe memory = nil }

  /// - Precondition: memory was reserved, or nothing is read.
  var start: UnsafeMutablePointer<Element> {
    @inline(__always) get { unsafe memory.unsafelyUnwrapped }
  }

  @inline(__always)
  mutating func reserve(_ count: Int, keeping kept: Int = 0) {
    if count > capacity { grow(to: count, keeping: kept) }
  }

  private mutating func grow(to count: Int, keeping kept: Int) {
    capacity = max(8, 2 * capacity, count)
    let new = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    if let memory = unsafe memory {
      unsafe new.update(from: memory, count: kept)
      unsafe memory.deallocate()
    }
    unsafe memory = new
  }

  func free() { unsafe memory?.deallocate() }
}
