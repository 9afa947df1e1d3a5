internal import CPushKernels
internal import PushModel
internal import PushSupport
internal import Synchronization

/// An app's state rules by kind of conversation, created on first use, by any thread.
final class RuleTables: Sendable {
  let app: AppSettings
  /// Addresses, 0 until created.
  private let kinds: InlineArray<8, Atomic<UInt>>
  private let uniform = UniformCodes()
  /// 0 until computed.
  private let knownMark = Atomic<UInt64>(0)

  /// The most recently asked for is last.
  private static let recent = Lock<[RuleTables]>([])
  private static let recentLimit = 16

  /// Shared by equal app settings, as computing rules takes milliseconds.
  static func shared(_ app: AppSettings) -> RuleTables {
    if app.rules.numbersAsTheyOccur { return RuleTables(app) }
    return recent.withLock { recent in
      let known = recent.firstIndex { $0.app == app }
      let tables = known.map { recent.remove(at: $0) } ?? RuleTables(app)
      recent.append(tables)
      if recent.count > recentLimit { recent.removeFirst() }
      return tables
    }
  }

  init(_ app: AppSettings) {
    self.app = app
    kinds = InlineArray { _ in Atomic(0) }
  }

  deinit {
    for slot in 0..<8 { AtomicLazy.release(kinds[slot], as: StateRules.self) }
  }

  func tables(_ kind: ConversationKind) -> StateTables {
    let slot = app.rules.stateRulesSlot(for: kind)
    let address = kinds[slot].load(ordering: .acquiring)
    if let pointer = unsafe UnsafeRawPointer(bitPattern: address) {
      return unsafe Unmanaged<StateRules>.fromOpaque(pointer)
        ._withUnsafeGuaranteedRef { $0.tables }
    }
    return self[kind].tables
  }

  subscript(kind: ConversationKind) -> StateRules {
    let slot = app.rules.stateRulesSlot(for: kind)
    if let rules = AtomicLazy.load(kinds[slot], as: StateRules.self) { return rules }
    return AtomicLazy.store(StateRules.make(app, kind), in: kinds[slot])
  }

  /// A hash of the bases that stored keys use, so that programs with other bases do not read them.
  /// Never 0.
  ///
  /// - Complexity: that of creating the rules, the first time.
  var mark: UInt64 {
    let known = knownMark.load(ordering: .relaxed)
    if known != 0 { return known }
    var bytes: [UInt8] = []
    for kind in ConversationKind.allCases where kind != .thread {
      unsafe tables(kind).forEachBaseTable { unsafe bytes.append(contentsOf: $0) }
    }
    let mark = max(unsafe pk_checksum(bytes, bytes.count), 1)
    knownMark.store(mark, ordering: .relaxed)
    return mark
  }

  func codes(ofAll outcome: Outcome) -> UnsafePointer<UInt8> {
    unsafe uniform.codes(Int(outcome.code))
  }
}

/// Uniform tables of states, by code.
@safe private final class UniformCodes: Sendable {
  // SAFETY: written by `init`, read only from then on, freed by `deinit`.
  private nonisolated(unsafe) let tables: UnsafeMutablePointer<UInt8>

  init() {
    unsafe tables = .allocate(capacity: 256 * Outcome.codeCount)
    for code in 0..<Outcome.codeCount {
      unsafe (tables + code * 256).initialize(repeating: UInt8(code), count: 256)
      unsafe tables[code * 256 + Int(StateRules.absent)] = 0
    }
  }

  deinit { unsafe tables.deallocate() }

  func codes(_ code: Int) -> UnsafePointer<UInt8> { unsafe UnsafePointer(tables + code * 256) }
}
