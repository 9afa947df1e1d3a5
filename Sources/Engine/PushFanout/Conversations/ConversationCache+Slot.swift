internal import Synchronization

extension ConversationCache {
  /// What a cache knows of a conversation.
  @safe enum Slot {
    /// No message is known to have been decided.
    case unused
    /// Messages were decided without an entry.
    case used
    /// The first entry, which links to those of other channels. The cache retains each.
    case entry(Unmanaged<CachedConversation>)

    init(_ entry: CachedConversation) {
      self = unsafe .entry(.passUnretained(entry))
    }

    /// Only where nothing can release the entry before.
    var retainedEntry: CachedConversation? {
      guard case .entry(let entry) = self else { return nil }
      return unsafe entry.takeUnretainedValue()
    }

    var hasEntry: Bool { if case .entry = self { true } else { false } }

    func isEntry(_ entry: CachedConversation) -> Bool {
      guard case .entry(let own) = self else { return false }
      return unsafe own.toOpaque() == Unmanaged.passUnretained(entry).toOpaque()
    }
  }

  /// A ``Slot`` that threads read while another changes it.
  ///
  /// Loads and stores are sequentially consistent, as an entry is released once no slot has it and
  /// ``ReadGuard`` then finds no reader.
  @safe struct AtomicSlot: ~Copyable {
    /// 0, ``used`` or an address. Zeroed memory is an unused slot.
    private let bits = Atomic<UInt>(0)

    private static let used: UInt = 1

    @inline(__always)
    func load() -> Slot {
      let bits = bits.load(ordering: .sequentiallyConsistent)
      guard bits > Self.used, let address = unsafe UnsafeRawPointer(bitPattern: bits) else {
        return bits == Self.used ? .used : .unused
      }
      return unsafe .entry(.fromOpaque(address))
    }

    func store(_ slot: Slot) {
      let new: UInt =
        switch slot {
        case .unused: 0
        case .used: Self.used
        case .entry(let entry): unsafe UInt(bitPattern: entry.toOpaque())
        }
      bits.store(new, ordering: .sequentiallyConsistent)
    }

    func noteUse() {
      _ = bits.compareExchange(expected: 0, desired: Self.used, ordering: .relaxed)
    }
  }
}
