internal import CPushKernels
internal import Glibc
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Conversations by index, evicted by the CLOCK algorithm. Any thread may use it.
///
/// SAFETY: slots retain their entries and are written under the lock of ``state``. A replaced entry
/// is released when no reader can hold its address.
@safe final class ConversationCache: Sendable {
  private static let chunkBits = 12
  private static let chunkCount = 1 << 20
  private static let chunkBytes = chunkCount * MemoryLayout<Atomic<UInt>>.stride

  private let readGuard = ReadGuard()
  private nonisolated(unsafe) let chunks: UnsafeMutablePointer<Atomic<UInt>>
  private let state = Lock(State())
  /// The last version whose delivery began.
  private let delivered: Atomic<UInt64>
  let byteLimit: Int
  /// See ``CachedConversation/countedPerMessageLimit``.
  let countedPerMessageLimit: Int
  /// Conversations of up to this many members have no entry. A larger one gets one with its second
  /// message, or with the first if this is 0.
  let readFromTablesLimit: Int

  private struct State {
    var entries: [CachedConversation] = []
    var byteCount = 0
    var hand = 0
    /// The addresses in ``ConversationCache/chunks``.
    var chunks: [UInt] = []
    /// Threads that have entries, by parent.
    var threads: [UInt32: Set<UInt32>] = [:]
  }

  init(
    byteLimit: Int, version: UInt64,
    countedPerMessageLimit: Int = CachedConversation.countedPerMessageLimit,
    readFromTablesLimit: Int = CachedConversation.readFromTablesLimit
  ) {
    self.countedPerMessageLimit = countedPerMessageLimit
    self.readFromTablesLimit = readFromTablesLimit
    self.byteLimit = byteLimit
    delivered = Atomic(version)
    // Not calloc(), which clears all of it where a program makes one small engine after the other.
    let memory = unsafe mmap(
      nil, Self.chunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
      0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      fatalError("out of memory")
    }
    unsafe chunks = memory.bindMemory(to: Atomic<UInt>.self, capacity: Self.chunkCount)
  }

  deinit {
    removeAll()
    state.withLock { state in
      for chunk in state.chunks { unsafe Glibc.free(UnsafeMutableRawPointer(bitPattern: chunk)) }
    }
    unsafe munmap(chunks, Self.chunkBytes)
  }

  var byteCount: Int { state.withLock { $0.byteCount } }

  var entryCount: Int { state.withLock { $0.entries.count } }

  var isEmpty: Bool { entryCount == 0 }

  // MARK: Finding

  /// Nil for none. The storage retains the entry, which costs nothing if it did already.
  @inline(__always)
  func find(
    _ target: borrowing ConversationTarget, _ storage: AnswerStorage
  ) -> Unmanaged<CachedConversation>? {
    guard let slot = unsafe slot(of: target.conversation) else { return nil }
    guard case .entry(let first) = unsafe slot.pointee.load() else { return nil }
    // The storage's entry cannot be freed and its address reused.
    if unsafe storage.holds(first), target.kind != .ultraGroup {
      return unsafe first._withUnsafeGuaranteedRef { Self.use($0, target) } ? first : nil
    }
    let found = unsafe readGuard.reading { () -> Unmanaged<CachedConversation>? in
      var slot = unsafe slot.pointee.load()
      while case .entry(let entry) = slot {
        let isFound = unsafe entry._withUnsafeGuaranteedRef { entry in
          if target.kind != .ultraGroup || entry.target.channel == target.channel { return true }
          slot = entry.next.load()
          return false
        }
        if isFound { return unsafe entry.retain() }
      }
      return nil
    }
    guard let found = unsafe found else { return nil }
    storage.conversation = unsafe found.takeRetainedValue()
    return unsafe found._withUnsafeGuaranteedRef { Self.use($0, target) } ? found : nil
  }

  /// An entry that holds is marked as used.
  @inline(__always)
  private static func use(
    _ entry: CachedConversation, _ target: borrowing ConversationTarget
  ) -> Bool {
    guard entry.isOf(target), entry.isOpen.load(ordering: .acquiring) else {
      return false
    }
    if !entry.isUsed.load(ordering: .relaxed) { entry.isUsed.store(true, ordering: .relaxed) }
    return true
  }

  /// - Parameter message: a conversation, and the member's relative position, 0 to 1.
  @inline(__always)
  func prefetchKeys(_ count: Int, _ message: (Int) -> (conversation: UInt32, position: Double)) {
    readGuard.reading {
      for index in 0..<count {
        let (conversation, position) = message(index)
        guard conversation != IDTable.unknown, let slot = unsafe slot(of: conversation),
          case .entry(let entry) = unsafe slot.pointee.load()
        else { continue }
        unsafe entry._withUnsafeGuaranteedRef { entry in
          entry.prefetchRead(of: position)
        }
      }
    }
  }

  @inline(__always)
  func prefetchSlot(_ conversation: UInt32) {
    if let slot = unsafe slot(of: conversation) { unsafe pk_prefetch(slot) }
  }

  /// The entry may have been freed.
  @inline(__always)
  func prefetchEntry(_ conversation: UInt32, lines: Int = CachedConversation.prefetchedLines) {
    guard let slot = unsafe slot(of: conversation),
      case .entry(let entry) = unsafe slot.pointee.load()
    else { return }
    for line in 0..<lines { unsafe pk_prefetch(entry.toOpaque() + line * 64) }
  }

  /// Nil if the chunk does not exist.
  @inline(__always)
  private func slot(of conversation: UInt32) -> UnsafeMutablePointer<AtomicSlot>? {
    let chunk = unsafe chunks[Int(conversation) >> Self.chunkBits].load(ordering: .acquiring)
    let start = unsafe UnsafeMutablePointer<AtomicSlot>(bitPattern: chunk)
    guard let start = unsafe start else { return nil }
    return unsafe start + Int(conversation) & (1 << Self.chunkBits - 1)
  }

  @inline(__always)
  func isFirstUse(_ conversation: UInt32) -> Bool {
    guard let slot = unsafe slot(of: conversation) else { return true }
    if case .unused = unsafe slot.pointee.load() { return true }
    return false
  }

  func noteUse(_ conversation: UInt32) {
    let slot =
      unsafe slot(of: conversation) ?? state.withLock { unsafe makeSlot(conversation, &$0) }
    unsafe slot.pointee.noteUse()
  }

  // MARK: Storing

  /// Replaces the same channel's entry. Refuses one that does not fit or has an earlier version.
  func store(_ made: CachedConversation, number: UInt64) {
    let size = unsafe made.byteLimit
    guard size <= byteLimit, delivered.load(ordering: .sequentiallyConsistent) == number else {
      return
    }
    var released: [CachedConversation] = []
    state.withLock { state in
      let slot = unsafe makeSlot(made.target.conversation, &state)
      if let old = unsafe entry(in: slot, channel: made.target.channel) {
        released.append(old)
        remove(old, &state)
      }
      if state.byteCount + size > byteLimit { evict(size, &state, &released) }
      state.byteCount += size
      unsafe made.position = state.entries.count
      state.entries.append(made)
      if made.target.kind == .thread {
        state.threads[made.target.members, default: []].insert(made.target.conversation)
      }
      let next = unsafe slot.pointee.load()
      if next.hasEntry { made.next.store(next) }
      _ = unsafe Unmanaged.passRetained(made)
      unsafe slot.pointee.store(Slot(made))
      // An earlier delivery may have missed the entry.
      if delivered.load(ordering: .sequentiallyConsistent) == number {
        made.isOpen.store(true, ordering: .sequentiallyConsistent)
      } else {
        released.append(made)
        remove(made, &state)
      }
    }
    release(released)
  }

  /// The entries are in no slot.
  private func release(_ entries: [CachedConversation]) {
    if entries.isEmpty { return }
    readGuard.waitForReaders()
    for entry in entries { unsafe Unmanaged.passUnretained(entry).release() }
  }

  private func makeSlot(
    _ conversation: UInt32, _ state: inout State
  ) -> UnsafeMutablePointer<AtomicSlot> {
    if let slot = unsafe slot(of: conversation) { return unsafe slot }
    let memory = unsafe calloc(1 << Self.chunkBits, MemoryLayout<AtomicSlot>.stride)
    guard let memory = unsafe memory else { fatalError("out of memory") }
    state.chunks.append(UInt(bitPattern: memory))
    unsafe chunks[Int(conversation) >> Self.chunkBits].store(
      UInt(bitPattern: memory), ordering: .releasing)
    guard let slot = unsafe slot(of: conversation) else { fatalError("no slot was made") }
    return unsafe slot
  }

  private func entry(
    in slot: UnsafeMutablePointer<AtomicSlot>, channel: Identifier
  ) -> CachedConversation? {
    var slot = unsafe slot.pointee.load()
    while let entry = slot.retainedEntry {
      if entry.target.channel == channel { return entry }
      slot = entry.next.load()
    }
    return nil
  }

  /// The caller releases the entry.
  private func remove(_ entry: CachedConversation, _ state: inout State) {
    let following = entry.next.load()
    let slot = unsafe makeSlot(entry.target.conversation, &state)
    var found = unsafe slot.pointee.load()
    if found.isEntry(entry) {
      unsafe slot.pointee.store(following)
    } else {
      while let before = found.retainedEntry {
        found = before.next.load()
        if found.isEntry(entry) {
          before.next.store(following)
          break
        }
      }
    }
    state.byteCount -= unsafe entry.byteLimit
    let last = state.entries.removeLast()
    if last !== entry {
      unsafe last.position = entry.position
      state.entries[unsafe entry.position] = last
    }
    if entry.target.kind == .thread, unsafe !slot.pointee.load().hasEntry {
      state.threads[entry.target.members]?.remove(entry.target.conversation)
      if state.threads[entry.target.members]?.isEmpty ?? false {
        state.threads[entry.target.members] = nil
      }
    }
  }

  private func evict(_ size: Int, _ state: inout State, _ released: inout [CachedConversation]) {
    // More than needed, as each eviction waits for readers.
    let wanted = byteLimit - max(size, byteLimit / 64)
    while state.byteCount > wanted, !state.entries.isEmpty {
      if state.hand >= state.entries.count { state.hand = 0 }
      let entry = state.entries[state.hand]
      if entry.isUsed.exchange(false, ordering: .relaxed) {
        state.hand += 1
      } else {
        released.append(entry)
        remove(entry, &state)
      }
    }
  }

  func removeAll() {
    var released: [CachedConversation] = []
    state.withLock { state in
      while let entry = state.entries.last {
        released.append(entry)
        remove(entry, &state)
      }
    }
    release(released)
  }

  // MARK: Changes of settings

  /// Called before the version is published. Earlier entries are refused from then on.
  ///
  /// - Returns: false if the caller has to remove all entries.
  /// - Complexity: O(memberships of the users whose own settings changed).
  func deliver(
    _ entries: some Sequence<SettingsLog.Entry>, _ memberships: MembershipIndex, number: UInt64
  ) -> Bool {
    delivered.store(number, ordering: .sequentiallyConsistent)
    let threads = state.withLock { $0.entries.isEmpty ? nil : $0.threads }
    guard let threads else { return true }
    let memberships = memberships.reader
    for entry in entries where entry.conversation == SettingsLog.everywhere {
      memberships.prefetch(entry.user)
    }
    // In batches, so that cache misses overlap.
    var found: [SettingsLog.Entry] = []
    func deliverFound() {
      for entry in found {
        // These are the lines that ``CachedConversation/deliver(_:number:)`` accesses.
        prefetchEntry(entry.conversation, lines: 2 * CachedConversation.prefetchedLines)
      }
      for entry in found {
        deliver(CollectionOfOne(.settings(entry.user)), to: entry.conversation, threads, number)
      }
      found.removeAll(keepingCapacity: true)
    }
    for entry in entries {
      if entry.conversation == SettingsLog.everywhere {
        let isKnown = memberships.forEachConversation(of: entry.user) { conversation in
          prefetchSlot(conversation)
          found.append(SettingsLog.Entry(user: entry.user, conversation: conversation))
        }
        if !isKnown { return false }
      } else {
        found.append(entry)
      }
      if found.count >= 64 { deliverFound() }
    }
    deliverFound()
    return true
  }

  /// Threads of the conversation get the changes too.
  ///
  /// - Complexity: O(changes) for each entry.
  func deliver(_ users: [(user: UInt32, rank: UInt32)], to conversation: UInt32, number: UInt64) {
    let changes = users.lazy.map { PendingChanges.Subject.presence($0.user, near: $0.rank) }
    deliver(changes, to: conversation, state.withLock { $0.threads }, number)
  }

  private func deliver(
    _ subjects: some Collection<PendingChanges.Subject>, to conversation: UInt32,
    _ threads: [UInt32: Set<UInt32>], _ number: UInt64
  ) {
    deliver(subjects, toEntriesOf: conversation, number)
    threads[conversation]?.forEach { deliver(subjects, toEntriesOf: $0, number) }
  }

  private func deliver(
    _ subjects: some Collection<PendingChanges.Subject>, toEntriesOf conversation: UInt32,
    _ number: UInt64
  ) {
    guard let slot = unsafe slot(of: conversation), unsafe slot.pointee.load().hasEntry else {
      return
    }
    readGuard.reading {
      var slot = unsafe slot.pointee.load()
      while let entry = slot.retainedEntry {
        entry.deliver(subjects, number: number)
        slot = entry.next.load()
      }
    }
  }
}
