/// How many letters apart two names are, to guess what was meant.
package enum EditDistance {
  /// The most changes of letters that a name may be away from what was meant.
  package static func limit(_ length: Int) -> Int { max(2, length / 4) }

  /// The name that is fewest changes of a letter away, capitals or not; nil if all are far.
  package static func nearest(to text: String, in names: [String]) -> String? {
    var search = Search(text)
    for name in names { search.consider(name) }
    return search.nearest
  }

  /// Looks among names that come one by one for the one that is fewest changes of a letter away.
  package struct Search {
    private let text: [UInt8]
    private let limit: Int
    private let digits: [UInt8]?
    private var best = Int.max
    /// The nearest name so far; nil if all are far.
    package private(set) var nearest: String?

    /// - Parameter keepsDigits: whether only names with the same digits are near: `u17` is not `u71`
    ///   mistyped.
    package init(_ text: String, keepsDigits: Bool = false) {
      self.text = Array(text.lowercased().utf8)
      limit = EditDistance.limit(self.text.count)
      digits = keepsDigits ? Self.digits(text) : nil
    }

    private static func digits(_ text: String) -> [UInt8] {
      text.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Compares a name, the first of those that are equally near counting.
    ///
    /// - Complexity: O(1) for a name that is much shorter or longer.
    package mutating func consider(_ name: String) {
      let count = name.utf8.count
      // Capitals of some scripts have other lengths than small letters.
      guard abs(count - text.count) <= 2 * limit else { return }
      let distance = EditDistance.between(text, Array(name.lowercased().utf8))
      // Of short names most letters may be others and the distance small all the same.
      guard distance <= limit, distance < min(text.count, count), distance < best else { return }
      if let digits, Self.digits(name) != digits { return }
      (best, nearest) = (distance, name)
    }
  }

  /// The Levenshtein distance.
  package static func between(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var row = Array(0...second.count)
    for (line, byte) in first.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in second.indices {
        let above = row[column + 1]
        row[column + 1] = min(
          above + 1, row[column] + 1, diagonal + (byte == second[column] ? 0 : 1))
        diagonal = above
      }
    }
    return row[second.count]
  }
}
