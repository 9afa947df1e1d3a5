internal import PushSupport

/// How much is written in each room on one day, in UTC.
///
/// - Memory: half a byte a room.
struct DayActivity: Sendable {
  /// The number of the day since 1970.
  let day: Int64
  /// What rooms have together, by the offset of their zone and ``Workload/sharedZoneClass(_:)``.
  let sums: [UInt64]
  /// For each group of rooms, the weight of those before it; and that of all.
  private let starts: [UInt64]
  private let rooms: RoomTable

  static let classes = 4

  init(_ workload: Workload, day: Int64, threads: Int) {
    self.day = day
    rooms = workload.rooms
    let pieces = Parallel.map(Self.pieceCount(workload), threads: threads) {
      Piece(workload, day, $0)
    }
    sums = Self.sums(pieces)
    var starts: [UInt64] = [0]
    starts.reserveCapacity(rooms.count / RoomTable.groupSize + 2)
    var sum: UInt64 = 0
    for group in pieces.lazy.map(\.groups).joined() {
      sum += group
      starts.append(sum)
    }
    self.starts = starts
  }

  /// The weight of all rooms.
  var total: UInt64 { starts[starts.count - 1] }

  /// The room at an offset in the weights, 0 ..< ``total``.
  ///
  /// - Complexity: O(log n) in the number of rooms.
  func room(at offset: UInt64) -> (room: Int, size: Int) {
    rooms.room(at: offset, starts) {
      rooms.activity.weight(of: $0, size: $1, day: day, seed: rooms.seed)
    }
  }

  /// ``sums`` of days, without the rest.
  static func sums(_ workload: Workload, days: Range<Int64>, threads: Int) -> [[UInt64]] {
    let pieceCount = pieceCount(workload)
    let pieces = Parallel.map(days.count * pieceCount, threads: threads) { index in
      let (day, piece) = index.quotientAndRemainder(dividingBy: pieceCount)
      return Piece(workload, days.lowerBound + Int64(day), piece, hasGroups: false)
    }
    return (0..<days.count).map { day in
      sums(pieces[day * pieceCount..<(day + 1) * pieceCount])
    }
  }

  private static func pieceCount(_ workload: Workload) -> Int {
    (workload.roomCount + RoomTable.pieceSize - 1) / RoomTable.pieceSize
  }

  private static func sums(_ pieces: some Sequence<Piece>) -> [UInt64] {
    var sums = [UInt64](repeating: 0, count: ZonePopulation.offsets.count * classes)
    for piece in pieces {
      for index in sums.indices { sums[index] += piece.sums[index] }
    }
    return sums
  }

  /// Some rooms.
  private struct Piece: Sendable {
    var groups: [UInt64] = []
    var sums = [UInt64](repeating: 0, count: ZonePopulation.offsets.count * DayActivity.classes)

    init(_ workload: Workload, _ day: Int64, _ piece: Int, hasGroups: Bool = true) {
      let rooms = workload.rooms
      let first = piece * RoomTable.pieceSize
      let end = min(rooms.count, first + RoomTable.pieceSize)
      for begin in stride(from: first, to: end, by: RoomTable.groupSize) {
        var group: UInt64 = 0
        for room in begin..<min(end, begin + RoomTable.groupSize) {
          let size = rooms.size(of: room)
          let weight = rooms.activity.weight(of: room, size: size, day: day, seed: rooms.seed)
          group += weight
          if weight > 1 { add(weight, room, size, workload) }
        }
        if hasGroups { groups.append(group) }
      }
    }

    private mutating func add(_ weight: UInt64, _ room: Int, _ size: Int, _ workload: Workload) {
      let home = workload.home(ofRoom: room, size: size)
      let offset = ZonePopulation.offsetNumbers[home.zone]
      sums[offset * DayActivity.classes + Workload.sharedZoneClass(size)] += weight
    }
  }
}
