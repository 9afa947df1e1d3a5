/// Rows of a stream that are parsed together.
struct ArrowPiece: Sendable {
  let batch: ArrowRows
  /// Which rows of the batch.
  let range: Range<Int>
  let isUsers: Bool

  /// About how many rows are parsed together, by the size of a piece of text.
  static func rowCount(pieceSize: Int) -> Int { max(1, pieceSize / 32) }

  /// The column of a name, and the columns that are none of `names`, or one of them again.
  func columns(named names: [String]) -> (named: [ArrowValues?], others: [ArrowValues]) {
    var named = [ArrowValues?](repeating: nil, count: names.count)
    var others: [ArrowValues] = []
    for (column, values) in zip(batch.columns, batch.values) {
      if let index = names.firstIndex(of: column.name), named[index] == nil {
        named[index] = values
      } else {
        others.append(values)
      }
    }
    return (named, others)
  }

  /// The rows with the offset of the batch, but not of a column.
  var rows: Range<Int> { range.lowerBound + batch.offset..<range.upperBound + batch.offset }
}
