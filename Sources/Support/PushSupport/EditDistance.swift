/// How many letters apart two names are, to guess what was meant.
package enum EditDistance {
  /// The most changes of letters that a name may be away from what was meant.
  package static func limit(_ length: Int) -> Int { max(2, length / 4) }

  /// The name that is fewest changes of a letter away, capitals or not; nil if all are far.
  package static func nearest(to text: String, in names: [String]) -> String? {
    let text = Array(text.lowercased().utf8)
    let found = names.map { (name: $0, distance: between(text, Array($0.lowercased().utf8))) }
      .min { $0.distance < $1.distance }
    // Of short names most letters may be others and the distance small all the same.
    guard let found, found.distance <= limit(text.count),
      found.distance < min(text.count, found.name.utf8.count)
    else { return nil }
    return found.name
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
