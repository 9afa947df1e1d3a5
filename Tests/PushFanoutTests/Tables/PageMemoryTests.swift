import PushSupport
import TestSupport
import Testing

@testable import PushFanout

@Suite struct PageMemoryTests {
  /// Sizes around the limits of classes, pages, parts and arrays with blocks of their own.
  static let sizes = [
    1, 15, 16, 17, 784, 1039, 1040, 1041, 1280, 1281, 4096, 4112, 1 << 16, (1 << 16) + 1,
    (1 << 20) - 1, 1 << 20, (1 << 21) + 1,
  ]

  /// Allocated memory, filled with a mark.
  struct Part {
    let address: UInt
    let count: Int
    let mark: UInt8

    init(_ memory: PageMemory, _ count: Int, mark: UInt8) {
      let start = unsafe memory.allocate(count)
      unsafe start.initializeMemory(as: UInt8.self, repeating: mark, count: count)
      address = UInt(bitPattern: start)
      self.count = count
      self.mark = mark
    }

    /// The first byte, the last and some between them.
    var marks: [UInt8] {
      (0..<8).map { unsafe start.load(fromByteOffset: (count - 1) * $0 / 7, as: UInt8.self) }
    }

    func free(_ memory: PageMemory) { unsafe memory.free(start, count) }

    private var start: UnsafeMutableRawPointer {
      unsafe UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
    }
  }

  /// Memory that is in use overlaps no other, is aligned, and keeps what was written.
  @Test(arguments: [false, true], seeds) func partsDoNotOverlap(isPlain: Bool, seed: UInt64) {
    let memory = PageMemory(isPlain: isPlain)
    var random = SplitMix64(seed: seed)
    var used: [Part] = []
    var wrong: [String] = []
    func free(_ index: Int) {
      let part = used.remove(at: index)
      if part.marks != [UInt8](repeating: part.mark, count: 8) {
        wrong.append("\(part.count) bytes: \(part.marks), not \(part.mark)")
      }
      part.free(memory)
    }
    // Another thread prepares blocks during a part of the steps.
    var ahead: PageMemory.BlocksAhead?
    for step in 0..<6000 {
      if step % 1500 == 0 { ahead = ahead == nil ? PageMemory.BlocksAhead(memory) : nil }
      if step % 1000 == 500 { memory.prepare(6000, of: 1040, threads: 2) }
      // Fills, then mostly frees, then fills again.
      let frees = (step / 2000 == 1 ? 7 : 3) > Int(random.next() % 10)
      if frees, !used.isEmpty {
        free(Int(random.next() % UInt64(used.count)))
        continue
      }
      var count = Int(random.next() % 1100) + 1
      if random.next() % 50 == 0 { count = Self.sizes[Int(random.next() % 17)] }
      let part = Part(memory, count, mark: UInt8(truncatingIfNeeded: step))
      if part.address % 16 != 0 { wrong.append("\(count) bytes at \(part.address)") }
      used.append(part)
    }
    while !used.isEmpty { free(used.count - 1) }
    withExtendedLifetime(ahead) {}
    #expect(wrong == [], "seed \(seed)")
  }

  /// Freed parts are used again before new blocks.
  @Test func freedPartsAreUsedAgain() {
    let memory = PageMemory(isPlain: false)
    let perBlock = PageMemory.blockSize / 1040
    let parts = (0..<3 * perBlock).map { _ in Part(memory, 1040, mark: 1) }
    let blocks = { (parts: [Part]) in
      Set(parts.map { $0.address / UInt(PageMemory.blockSize) })
    }
    for part in parts[1...].reversed() { part.free(memory) }
    let again = (0..<perBlock / 2).map { _ in Part(memory, 1040, mark: 2) }
    #expect(blocks(again).isSubset(of: blocks(parts)))
    for part in [parts[0]] + again { part.free(memory) }
  }
}
