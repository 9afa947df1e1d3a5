/// Values with a number each, of which few are distinct. The first is the one of settings that say
/// nothing.
struct InternedList<Value: Hashable & Sendable>: Sendable {
  private(set) var values: [Value]
  private var indices: [Value: UInt32]

  init(_ first: Value) {
    values = [first]
    indices = [first: 0]
  }

  var count: Int { values.count }

  /// About how many bytes one takes, without what it refers to.
  static var bytesPerValue: Int { 3 * MemoryLayout<Value>.stride + 8 }

  subscript(index: UInt32) -> Value { values[Int(index)] }

  /// The number of a value, added if new.
  mutating func insert(_ value: Value) -> UInt32 {
    if let index = indices[value] { return index }
    let index = UInt32(values.count)
    values.append(value)
    indices[value] = index
    return index
  }

  /// Takes back the numbers of values that are not used, but for the first ones.
  ///
  /// - Returns: by number, the later one of each that is kept; 0 for the others.
  mutating func keep(_ used: [Bool], and first: Int) -> [UInt32] {
    let before = values
    (values, indices) = ([], [:])
    return before.enumerated().map { old, value in
      old < first || used[old] ? insert(value) : 0
    }
  }
}
