internal import Dispatch
internal import Glibc
internal import PushSupport
internal import Synchronization

/// Allocates pages and arrays that are read at random, for any thread.
///
/// A size class has blocks of 2 MiB on huge pages: with pages of 4 KiB, nearly each table page of a
/// message would miss the translation buffer (docs/internals/performance.md). The first block has
/// small pages, so that a small engine stays small. Arrays from ``hugeSize`` bytes on have their
/// own blocks.
///
/// SAFETY: headers and free parts are accessed under the lock.
@safe final class PageMemory: Sendable {
  /// In debug builds it uses `malloc`, so that the address sanitizer finds accesses to freed pages.
  static let shared = PageMemory(isPlain: _isDebugAssertConfiguration())

  static let blockSize = 1 << 21
  /// The largest part in a shared block, in bytes.
  private static let largestPart = 1 << 16
  /// The smallest array with its own blocks, in bytes.
  static let hugeSize = 1 << 20

  /// A block's header, at a multiple of ``blockSize``.
  private struct Block {
    /// Neighbours in the class's list of blocks with free parts; 0 for none.
    var previous: UInt = 0
    var next: UInt = 0
    /// The first free part, which holds the next one's address; 0 for none.
    var free: UInt = 0
    /// The offset of the parts never used.
    var fresh = 64
    var usedCount = 0
  }

  private struct State {
    /// By class, the first block with free parts and the number of blocks.
    var available = [UInt](repeating: 0, count: PageMemory.classCount)
    var blockCounts = [Int](repeating: 0, count: PageMemory.classCount)
    /// Cleared blocks for any class.
    var prepared: [UInt] = []
    /// The number of ``BlocksAhead``, and whether a thread serves them.
    var aheadCount = 0
    var isPreparing = false
  }

  private let state = Lock(State())
  private let isPlain: Bool

  init(isPlain: Bool) { self.isPlain = isPlain }

  /// Multiples of 16 up to 1,040, the size of most pages; then four per power of two.
  private static let smallClasses = 1040 / 16
  private static let classCount = smallClasses + 4 * 7

  private static func sizeClass(_ byteCount: Int) -> Int {
    if byteCount <= 1040 { return max(0, (byteCount + 15) / 16 - 1) }
    let power = Int.bitWidth - 1 - (byteCount - 1).leadingZeroBitCount
    return smallClasses + (power - 10) * 4 + (byteCount - 1) >> (power - 2) & 3
  }

  private static func partSize(_ sizeClass: Int) -> Int {
    if sizeClass < smallClasses { return (sizeClass + 1) * 16 }
    let (power, quarter) = (sizeClass - smallClasses).quotientAndRemainder(dividingBy: 4)
    return (1 << (power + 10)) + (quarter + 1) << (power + 8)
  }

  /// The bytes taken, with rounding.
  static func size(of byteCount: Int) -> Int {
    if byteCount >= hugeSize { return roundedUp(byteCount) }
    return byteCount > largestPart ? byteCount : partSize(sizeClass(byteCount))
  }

  /// Allocates memory aligned to 16 bytes in O(1).
  func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    if isPlain || (byteCount > Self.largestPart && byteCount < Self.hugeSize) {
      return .allocate(byteCount: byteCount, alignment: 16)
    }
    if byteCount > Self.blockSize { return unsafe Self.map(byteCount, isHuge: true) }
    let isBlock = byteCount >= Self.hugeSize
    let address = state.withLock {
      isBlock ? takeBlock(&$0) : allocatePart(Self.sizeClass(byteCount), &$0)
    }
    return unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
  }

  /// - Parameter byteCount: the size that was allocated.
  func free(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    if isPlain || (byteCount > Self.largestPart && byteCount < Self.hugeSize) {
      unsafe memory.deallocate()
    } else if byteCount >= Self.hugeSize {
      unsafe munmap(memory, Self.roundedUp(byteCount))
    } else {
      let address = UInt(bitPattern: memory)
      state.withLock { freePart(address, Self.sizeClass(byteCount), &$0) }
    }
  }

  /// Makes blocks for about `count` parts. The kernel clears a block at its first write, which
  /// takes longest; several threads share the wait.
  func prepare(_ count: Int, of byteCount: Int, threads: Int) {
    guard !isPlain, threads > 1, byteCount <= Self.largestPart else { return }
    let partsInBlock = (Self.blockSize - 64) / Self.partSize(Self.sizeClass(byteCount))
    prepare(count / partsInBlock - state.withLock { $0.prepared.count }, threads: threads)
  }

  /// Maps all at once: threads that map wait for those that clear.
  private func prepare(_ blockCount: Int, threads: Int) {
    guard blockCount > 0 else { return }
    let start = unsafe UInt(bitPattern: Self.map(blockCount * Self.blockSize, isHuge: true))
    Parallel.perform(blockCount, threads: threads) { index in
      let block = start + UInt(index * Self.blockSize)
      unsafe Self.word(block).pointee = 0
      state.withLock { $0.prepared.append(block) }
    }
  }

  // MARK: Blocks ahead

  /// While one exists, a thread prepares the next blocks; leftovers serve later allocations.
  final class BlocksAhead: Sendable {
    private let memory: PageMemory

    init(_ memory: PageMemory) {
      self.memory = memory
      memory.state.withLock { $0.aheadCount += 1 }
    }

    deinit { memory.state.withLock { $0.aheadCount -= 1 } }
  }

  /// How many blocks are prepared ahead.
  private static let aheadSize = 8

  private func takeBlock(_ state: inout State) -> UInt {
    let taken = state.prepared.popLast()
    if state.aheadCount > 0, !state.isPreparing, state.prepared.count < Self.aheadSize / 2,
      ThreadSupply.isEnough
    {
      state.isPreparing = true
      ThreadSupply.start { self.prepareAhead() }
    }
    return unsafe taken ?? UInt(bitPattern: Self.map(Self.blockSize, isHuge: true))
  }

  private func prepareAhead() {
    while state.withLock({ $0.prepared.count < Self.aheadSize && $0.aheadCount > 0 }) {
      prepare(Self.aheadSize / 2, threads: 1)
    }
    state.withLock { $0.isPreparing = false }
  }

  // MARK: Parts of blocks

  private func allocatePart(_ sizeClass: Int, _ state: inout State) -> UInt {
    if state.available[sizeClass] == 0 {
      let isFirst = state.blockCounts[sizeClass] == 0
      let address =
        isFirst
        ? unsafe UInt(bitPattern: Self.map(Self.blockSize, isHuge: false)) : takeBlock(&state)
      unsafe Self.block(address).initialize(to: Block())
      state.blockCounts[sizeClass] += 1
      state.available[sizeClass] = address
    }
    let block = unsafe Self.block(state.available[sizeClass])
    let size = Self.partSize(sizeClass)
    let part: UInt
    if unsafe block.pointee.free != 0 {
      part = unsafe block.pointee.free
      unsafe block.pointee.free = Self.word(part).pointee
    } else {
      part = unsafe UInt(bitPattern: block) + UInt(block.pointee.fresh)
      unsafe block.pointee.fresh += size
    }
    unsafe block.pointee.usedCount += 1
    if unsafe Self.isFull(block, size) { unsafe unlink(block, sizeClass, &state) }
    return part
  }

  private func freePart(_ part: UInt, _ sizeClass: Int, _ state: inout State) {
    let block = unsafe Self.block(part & ~UInt(Self.blockSize - 1))
    let wasFull = unsafe Self.isFull(block, Self.partSize(sizeClass))
    unsafe Self.word(part).pointee = block.pointee.free
    unsafe block.pointee.free = part
    unsafe block.pointee.usedCount -= 1
    if wasFull {
      let first = state.available[sizeClass]
      unsafe block.pointee.previous = 0
      unsafe block.pointee.next = first
      if first != 0 { unsafe Self.block(first).pointee.previous = UInt(bitPattern: block) }
      state.available[sizeClass] = UInt(bitPattern: block)
    }
    // An empty first block stays for the next update.
    if unsafe block.pointee.usedCount == 0, unsafe block.pointee.previous != 0 {
      unsafe unlink(block, sizeClass, &state)
      state.blockCounts[sizeClass] -= 1
      unsafe munmap(block, Self.blockSize)
    }
  }

  private static func isFull(_ block: UnsafeMutablePointer<Block>, _ size: Int) -> Bool {
    unsafe block.pointee.free == 0 && block.pointee.fresh + size > blockSize
  }

  private func unlink(
    _ block: UnsafeMutablePointer<Block>, _ sizeClass: Int, _ state: inout State
  ) {
    let (previous, next) = unsafe (block.pointee.previous, block.pointee.next)
    if previous == 0 {
      state.available[sizeClass] = next
    } else {
      unsafe Self.block(previous).pointee.next = next
    }
    if next != 0 { unsafe Self.block(next).pointee.previous = previous }
  }

  private static func block(_ address: UInt) -> UnsafeMutablePointer<Block> {
    unsafe UnsafeMutablePointer<Block>(bitPattern: address).unsafelyUnwrapped
  }

  private static func word(_ address: UInt) -> UnsafeMutablePointer<UInt> {
    unsafe UnsafeMutablePointer<UInt>(bitPattern: address).unsafelyUnwrapped
  }

  // MARK: Mappings

  private static func roundedUp(_ byteCount: Int) -> Int {
    (byteCount + blockSize - 1) & ~(blockSize - 1)
  }

  /// Maps zeroed memory at a multiple of ``blockSize``.
  private static func map(_ byteCount: Int, isHuge: Bool) -> UnsafeMutableRawPointer {
    let size = roundedUp(byteCount)
    // This maps one block more and unmaps the excess at both ends.
    let memory = unsafe mmap(
      nil, size + blockSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      fatalError("out of memory")
    }
    let front = (blockSize - Int(bitPattern: memory) & (blockSize - 1)) & (blockSize - 1)
    if front > 0 { unsafe munmap(memory, front) }
    let start = unsafe memory + front
    unsafe munmap(start + size, blockSize - front)
    if isHuge { unsafe madvise(start, size, MADV_HUGEPAGE) }
    return unsafe start
  }
}
