internal import Algorithms

/// Members with equal words: how many there are, in the order of words.
struct WordRuns {
  private(set) var words: [UInt32] = []
  private(set) var counts: [UInt32] = []
  private(set) var isMade = false

  /// Whether the words are too different for runs to be worth their memory.
  private(set) var isRefused = false

  /// - Parameters:
  ///   - all: the words of all members.
  ///   - others: words that members will have, so that they need not be inserted one by one.
  ///   - limit: how many runs are worth their memory.
  /// - Complexity: O(members + others).
  mutating func make(
    _ all: consuming [UInt32], others: consuming [UInt32] = [], limit: Int = .max
  ) {
    let sorted = all.sortedByDigits()
    let distinct = zip(sorted, sorted.dropFirst()).reduce(1) { $0 + ($1.0 == $1.1 ? 0 : 1) }
    guard distinct <= limit else { return isRefused = true }
    isMade = true
    words.reserveCapacity(distinct)
    counts.reserveCapacity(distinct)
    var others = others.sortedByDigits()[...]
    func appendOthers(below word: UInt32) {
      while let other = others.first, other <= word {
        if other != word, other != words.last { append(other, count: 0) }
        others.removeFirst()
      }
    }
    var start = 0
    while start < sorted.count {
      let word = sorted[start]
      var end = start + 1
      while end < sorted.count, sorted[end] == word { end += 1 }
      appendOthers(below: word)
      append(word, count: UInt32(end - start))
      start = end
    }
    appendOthers(below: .max)
  }

  private mutating func append(_ word: UInt32, count: UInt32) {
    words.append(word)
    counts.append(count)
  }

  /// Changes one member's word.
  mutating func move(from before: MemberWord, to after: MemberWord) {
    guard isMade else { return }
    let old = words.partitioningIndex { $0 >= before.bits }
    counts[old] -= 1
    let new = words.partitioningIndex { $0 >= after.bits }
    if new < words.count, words[new] == after.bits {
      counts[new] += 1
    } else {
      words.insert(after.bits, at: new)
      counts.insert(1, at: new)
    }
  }

  /// Calls `body` with each word and the number of members who have it.
  @inline(__always)
  func forEach(_ body: (MemberWord, UInt32) -> Void) {
    for index in words.indices { body(MemberWord(bits: words[index]), counts[index]) }
  }

  /// The same for the words of a schedule, or of a pattern.
  @inline(__always)
  func forEach(of schedule: UInt32, _ body: (MemberWord, UInt32) -> Void) {
    let first = MemberWord(schedule: schedule, base: 0).bits
    var index = words.partitioningIndex { $0 >= first }
    while index < words.count, MemberWord(bits: words[index]).schedule == schedule {
      body(MemberWord(bits: words[index]), counts[index])
      index += 1
    }
  }
}

extension [UInt32] {
  /// In ascending order: sorted by eleven bits at a time, least significant first.
  fileprivate consuming func sortedByDigits() -> [UInt32] { sortedByDigits { $0 } }

  /// In the order of keys, equal ones in the order that they have.
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

/// Runs of the words that have a date's patterns in place of schedules: far fewer, as the patterns
/// are.
struct PatternRuns {
  /// How often the members are counted before runs are made, which takes as long as many counts.
  static let countsBefore = 8

  /// The transitions whose patterns they have; nil if they are not made.
  private var transitions: QuietTransitions?
  var runs = WordRuns()
  /// How often the members were counted where runs would have served.
  var recounts = 0

  init() {}

  init(_ transitions: QuietTransitions) { self.transitions = transitions }

  /// Whether they are those of a date, or refused for it.
  func isOf(_ transitions: QuietTransitions) -> Bool { self.transitions?.id == transitions.id }

  /// The runs for a date; nil if they are not made.
  func runs(of transitions: QuietTransitions) -> WordRuns? {
    isOf(transitions) && runs.isMade ? runs : nil
  }

  /// A member's word with the pattern; nil for a schedule that was added later.
  func word(_ word: MemberWord) -> MemberWord? { transitions?.patternWord(word) }

  /// Changes one member's word.
  mutating func move(from before: MemberWord, to after: MemberWord) {
    guard runs.isMade else { return }
    if let before = word(before), let after = word(after) {
      runs.move(from: before, to: after)
    } else {
      self = PatternRuns()
    }
  }
}
