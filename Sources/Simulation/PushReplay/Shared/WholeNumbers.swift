/// Long columns of whole numbers, decoded without a detour over `Array`, which asks for each element
/// what type it is.
extension KeyedDecodingContainer {
  func wholeNumbers(forKey key: Key) throws -> [Int] {
    var list = try nestedUnkeyedContainer(forKey: key)
    return try list.wholeNumbers()
  }

  /// Milliseconds since the epoch.
  func instants(forKey key: Key) throws -> [Int64] {
    var list = try nestedUnkeyedContainer(forKey: key)
    var numbers: [Int64] = []
    numbers.reserveCapacity(list.count ?? 0)
    while !list.isAtEnd { numbers.append(try list.decode(Int64.self)) }
    return numbers
  }

  /// nil if the field is absent or null.
  func wholeNumberColumnsIfPresent(forKey key: Key) throws -> [[Int]]? {
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    var lists = try nestedUnkeyedContainer(forKey: key)
    var columns: [[Int]] = []
    while !lists.isAtEnd {
      var list = try lists.nestedUnkeyedContainer()
      columns.append(try list.wholeNumbers())
    }
    return columns
  }
}

extension UnkeyedDecodingContainer {
  fileprivate mutating func wholeNumbers() throws -> [Int] {
    var numbers: [Int] = []
    numbers.reserveCapacity(count ?? 0)
    while !isAtEnd { numbers.append(try decode(Int.self)) }
    return numbers
  }
}
