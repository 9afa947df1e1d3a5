import CPushKernels
import Foundation
import TestSupport
import Testing

/// Goal: each variant of the two kernels does what the plain loop in Swift does, at
/// every length, tail and offset.
@Suite struct KernelTests {
  /// As `taskset -c 0 swift test` shows; Foundation's `activeProcessorCount` has all cores.
  @Test func coresAreThoseThatTheProcessMayUse() throws {
    let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
    let mask = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") })
    let bits = mask.split(separator: "\t").last?.compactMap(\.hexDigitValue) ?? []
    let cores = bits.map(\.nonzeroBitCount).reduce(0, +)
    let groups = try String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
    let own = groups.split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst(3)
    let quota = own.map { unsafe pk_quota_cores("/sys/fs/cgroup", String($0)) } ?? 0
    #expect(pk_core_count() == (quota > 0 ? min(quota, cores) : cores))
  }

  /// - Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files".
  @Test func quotasAreThoseOfAllGroupsAround() throws {
    try ScratchFolder.with { root in
      let group = root.appending(path: "a/b")
      try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
      func cores(_ texts: [String: String]) throws -> Int {
        for (folder, text) in texts {
          try Data(text.utf8).write(to: root.appending(path: folder).appending(path: "cpu.max"))
        }
        return unsafe pk_quota_cores(root.path, "/a/b")
      }
      let found = [
        try cores([:]),
        try cores(["a/b": "max 100000\n"]),
        try cores(["a/b": "800000 100000\n"]),
        try cores(["a": "150000 100000\n"]),
        try cores([".": "50000 100000\n"]),
        try cores([".": "max 100000\n", "a": "nonsense\n", "a/b": "300001 100000\n"]),
        unsafe pk_quota_cores(root.path, "/"),
        unsafe pk_quota_cores(root.path, "/" + String(repeating: "x", count: 5000)),
      ]
      #expect(found == [0, 0, 8, 2, 1, 4, 0, 0])
    }
  }

  static let counts =
    Array(0...70) + [127, 128, 129, 191, 192, 193, 255, 256, 257, 1000, 4096, 4097]

  /// A table, bytes to look up, and what the loops in Swift make of them.
  private func draw(
    _ count: Int, _ random: inout SeededGenerator
  ) -> (table: [UInt8], input: [UInt8], mapped: [UInt8], words: [UInt64]) {
    let table = (0..<256).map { _ in UInt8.random(in: 0...255, using: &random) }
    let input = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    let mapped = input.map { table[Int($0)] }
    var words = [UInt64](repeating: 0, count: (count + 63) / 64)
    for (index, code) in mapped.enumerated() where code & 1 != 0 {
      words[index / 64] |= 1 << UInt64(index % 64)
    }
    return (table, input, mapped, words)
  }

  @Test func thePlainVariantIsTheSame() { compare(variant: 0) }

  @Test(.enabled(if: pk_best_variant() >= 1, "this processor has no AVX2"))
  func theVariantOfAVX2IsTheSame() { compare(variant: 1) }

  @Test(.enabled(if: pk_best_variant() >= 2, "this processor has no AVX-512 with VBMI"))
  func theVariantOfAVX512IsTheSame() { compare(variant: 2) }

  private func compare(variant: CInt) {
    for seed in TestSupport.seeds([1, 2, 3]) {
      var random = SeededGenerator(seed: seed)
      for count in Self.counts {
        let (table, input, mapped, words) = draw(count, &random)
        // Bytes and words beyond the last must not be written.
        var output = [UInt8](repeating: 0xA5, count: count + 64)
        var bits = [UInt64](repeating: 0x5A5A, count: words.count + 2)
        unsafe pk_map_by(variant, table, input, &output, count)
        unsafe pk_bits_by(variant, table, input, &bits, count)
        #expect(Array(output[..<count]) == mapped, "seed \(seed), \(count) bytes")
        #expect(output[count...].allSatisfy { $0 == 0xA5 }, "seed \(seed), \(count) bytes")
        #expect(bits == words + [0x5A5A, 0x5A5A], "seed \(seed), \(count) bytes")
      }
    }
  }

  /// Keys of schedules beyond the last, too.
  @Test func statesAreCounted() {
    for seed in TestSupport.seeds([1, 2, 3]) {
      var random = SeededGenerator(seed: seed)
      for count in [0, 1, 31, 32, 33, 63, 500, 4096] {
        let phases = (0..<100).map { _ in UInt8(Int.random(in: 0..<4, using: &random)) }
        let states = (0..<4096).map { _ in UInt8(Int.random(in: 0..<70, using: &random)) }
        let keys = (0..<count).map { _ in
          UInt32.random(in: 0..<(random.chance(5) ? 1 << 22 : 100), using: &random) << 10
            | UInt32.random(in: 0..<1024, using: &random)
        }
        var expected = [UInt32](repeating: 0, count: 70) + [77]
        let each = keys.map { key in
          let schedule = Int(key >> 10)
          let phase = schedule < phases.count ? Int(phases[schedule]) : 0
          return states[phase << 10 | Int(key & 1023)]
        }
        for state in each { expected[Int(state)] += 1 }
        var found = [UInt32](repeating: 77, count: 71)
        unsafe pk_count(keys, count, phases, phases.count, states, &found, 70, nil)
        #expect(found == expected, "seed \(seed), \(count) keys")
        var stored = [UInt8](repeating: 99, count: count + 1)
        unsafe pk_count(keys, count, phases, phases.count, states, &found, 70, &stored)
        #expect(found == expected, "seed \(seed), \(count) keys")
        #expect(stored == each + [99], "seed \(seed), \(count) keys")
      }
    }
  }

  /// The same keys give the same numbers, however they are cut into pages.
  @Test func statesInPagesAreCounted() {
    for seed in TestSupport.seeds([1, 2, 3]) {
      var random = SeededGenerator(seed: seed)
      let phases = (0..<100).map { _ in UInt8(Int.random(in: 0..<4, using: &random)) }
      let states = (0..<4096).map { _ in UInt8(Int.random(in: 0..<70, using: &random)) }
      for (count, pageSize) in [(20, 16), (700, 64), (1500, 512), (5000, 1024), (5000, 1000)] {
        let keys = (0..<count).map { _ in
          UInt32.random(in: 0..<100, using: &random) << 10
            | UInt32.random(in: 0..<1024, using: &random)
        }
        var expected = [UInt32](repeating: 0, count: 70)
        var each = [UInt8](repeating: 99, count: count)
        unsafe pk_count(keys, count, phases, phases.count, states, &expected, 70, &each)
        let offset = Int.random(in: 0..<pageSize, using: &random)
        // Pages lie in memory the other way round.
        let pageCount = (offset + count + pageSize - 1) / pageSize
        var memory = [UInt32](repeating: .max, count: pageCount * pageSize)
        for (index, key) in keys.enumerated() {
          let (page, place) = (offset + index).quotientAndRemainder(dividingBy: pageSize)
          memory[(pageCount - 1 - page) * pageSize + place] = key
        }
        var found = [UInt32](repeating: 0, count: 70)
        var stored = [UInt8](repeating: 99, count: count)
        unsafe memory.withUnsafeBufferPointer { memory in
          let pages = unsafe (0..<pageCount).map { page in
            unsafe memory.baseAddress.map { unsafe $0 + (pageCount - 1 - page) * pageSize }
          }
          unsafe pk_count_pages(
            pages, pageSize, offset, count, phases, phases.count, states, &found, 70, &stored)
        }
        #expect(found == expected && stored == each, "seed \(seed), \(count) of \(pageSize)")
      }
    }
  }

  @Test func theSelectedVariantIsTheSame() {
    var random = SeededGenerator(seed: 4)
    let (table, input, mapped, words) = draw(1001, &random)
    var output = [UInt8](repeating: 0, count: 1001)
    var bits = [UInt64](repeating: 0, count: words.count)
    unsafe pk_map(table, input, &output, 1001)
    unsafe pk_bits(table, input, &bits, 1001)
    #expect(output == mapped)
    #expect(bits == words)
  }
}
