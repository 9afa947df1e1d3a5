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

  subscript(index: UInt32) -> Value { values[Int(index)] }

  /// The number of a value, added if new.
  mutating func insert(_ value: Value) -> UInt32 {
    if let index = indices[value] { return index }
    let index = UInt32(values.count)
    values.append(value)
    indices[value] = index
    return index
  }
}
