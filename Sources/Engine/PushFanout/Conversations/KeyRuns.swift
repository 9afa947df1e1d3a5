internal import Algorithms

/// The number of members by key, in the order of keys.
struct KeyRuns {
  private(set) var keys: [UInt32] = []
  private(set) var counts: [UInt32] = []
  private(set) var isMade = false

  /// Whether keys are too different for runs.
  private(set) var isRefused = false

  /// - Parameters:
  ///   - others: keys to insert in advance.
  ///   - limit: the most runs that are worth their memory.
  /// - Complexity: O(members + others).
  mutating func make(
    _ all: consuming [UInt32], others: consuming [UInt32] = [], limit: Int = .max
  ) {
    let sorted = all.sortedByDigits()
    let distinct = zip(sorted, sorted.dropFirst()).reduce(1) { $0 + ($1.0 == $1.1 ? 0 : 1) }
    guard distinct <= limit else { return isRefused = true }
    isMade = true
    keys.reserveCapacity(distinct)
    counts.reserveCapacity(distinct)
    var others = others.sortedByDigits()[...]
    func appendOthers(below key: UInt32) {
      while let other = others.first, other <= key {
        if other != key, other != keys.last { append(other, count: 0) }
        others.removeFirst()
      }
    }
    var start = 0
    while start < sorted.count {
      let key = sorted[start]
      var end = start + 1
      while end < sorted.count, sorted[end] == key { end += 1 }
      appendOthers(below: key)
      append(key, count: UInt32(end - start))
      start = end
    }
    appendOthers(below: .max)
  }

  private mutating func append(_ key: UInt32, count: UInt32) {
    keys.append(key)
    counts.append(count)
  }

  mutating func move(from before: MemberKey, to after: MemberKey) {
    guard isMade else { return }
    let old = keys.partitioningIndex { $0 >= before.bits }
    counts[old] -= 1
    let new = keys.partitioningIndex { $0 >= after.bits }
    if new < keys.count, keys[new] == after.bits {
      counts[new] += 1
    } else {
      keys.insert(after.bits, at: new)
      counts.insert(1, at: new)
    }
  }

  @inline(__always)
  func forEach(_ body: (MemberKey, UInt32) -> Void) {
    for index in keys.indices { body(MemberKey(bits: keys[index]), counts[index]) }
  }

  /// Only the keys of a schedule or pattern.
  @inline(__always)
  func forEach(of schedule: UInt32, _ body: (MemberKey, UInt32) -> Void) {
    let first = MemberKey(schedule: schedule, base: 0).bits
    var index = keys.partitioningIndex { $0 >= first }
    while index < keys.count, MemberKey(bits: keys[index]).schedule == schedule {
      body(MemberKey(bits: keys[index]), counts[index])
      index += 1
    }
  }
}

extension [UInt32] {
  /// Eleven bits at a time, least significant first.
  fileprivate consuming func sortedByDigits() -> [UInt32] { sortedByDigits { $0 } }

  /// Equal keys keep the order of ascending elements.
  ///
  /// - Complexity: O(elements) for many.
  consuming func sortedByDigits(_ key: (UInt32) -> UInt32) -> [UInt32] {
    if count < 256 { return sorted { (key($0), $0) < (key($1), $1) } }
    var source = self
    var target = [UInt32](repeating: 0, count: source.count)
    let all = source.reduce(0) { $0 | key($1) }
    for shift in [0, 11, 22] as [UInt32] where all >> shift & 2047 != 0 {
      var starts = [Int](repeating: 0, count: 2049)
      for element in source { starts[Int(key(element) >> shift & 2047) + 1] += 1 }
      for digit in 1..<2049 { starts[digit] += starts[digit - 1] }
      for element in source {
        let digit = Int(key(element) >> shift & 2047)
        target[starts[digit]] = element
        starts[digit] += 1
      }
      swap(&source, &target)
    }
    return source
  }
}

/// Runs of keys with patterns in place of schedules, which are far fewer.
struct PatternRuns {
  /// Counts before runs are made, which takes longer.
  static let countsBefore = 8

  /// The transitions with these patterns; nil for none.
  private var transitions: QuietTransitions?
  var runs = KeyRuns()
  /// Counts where runs would have served.
  var recounts = 0

  init() {}

  init(_ transitions: QuietTransitions) { self.transitions = transitions }

  /// Runs may also have been refused.
  func isOf(_ transitions: QuietTransitions) -> Bool { self.transitions?.id == transitions.id }

  func runs(of transitions: QuietTransitions) -> KeyRuns? {
    isOf(transitions) && runs.isMade ? runs : nil
  }

  /// With the pattern; nil for a schedule added later.
  func key(_ key: MemberKey) -> MemberKey? { transitions?.patternKey(key) }

  mutating func move(from before: MemberKey, to after: MemberKey) {
    guard runs.isMade else { return }
    if let before = key(before), let after = key(after) {
      runs.move(from: before, to: after)
    } else {
      self = PatternRuns()
    }
  }
}
