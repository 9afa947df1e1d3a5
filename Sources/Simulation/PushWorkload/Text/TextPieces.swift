internal import PushModel
internal import PushSupport

/// Puts pieces of text together on several threads and hands them over in order.
struct TextPieces<Problem: Error> {
  let threads: Int
  let sink: ([UInt8], _ rows: Int) throws(Problem) -> Void

  /// Room for most pieces.
  private static var usualBytes: Int { 1 << 19 }

  /// Pieces that are in memory at once.
  var batch: Int { threads * 2 }

  /// - Parameter append: appends a piece and returns its number of rows.
  func write(
    count: Int, _ append: @Sendable (_ piece: Int, inout [UInt8]) -> Int
  ) throws(Problem) {
    for first in stride(from: 0, to: count, by: batch) {
      let made = Parallel.map(min(batch, count - first), threads: threads) { index in
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.usualBytes)
        let rows = append(first + index, &bytes)
        return (bytes: bytes, rows: rows)
      }
      for piece in made { try sink(piece.bytes, piece.rows) }
    }
  }
}

/// Cuts the memberships into pieces of about the same size.
struct RoomPieces {
  /// Some members of one room.
  struct Part: Sendable {
    var room: Int
    var size: Int
    var ranks: Range<Int>
  }

  private let workload: Workload
  private var room = 0
  private var rank = 0

  private static let pieceSize = 1 << 14

  init(_ workload: Workload) { self.workload = workload }

  /// The next piece; empty at the end.
  mutating func next() -> [Part] {
    var parts: [Part] = []
    var count = 0
    while count < Self.pieceSize, room < workload.roomCount {
      let size = workload.size(ofRoom: room)
      let end = min(size, rank + Self.pieceSize - count)
      parts.append(Part(room: room, size: size, ranks: rank..<end))
      count += end - rank
      (room, rank) = end == size ? (room + 1, 0) : (room, end)
    }
    return parts
  }
}
