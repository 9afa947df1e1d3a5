internal import Algorithms
internal import PushSupport

/// The rooms: how large each is and how much is written there.
///
/// - Memory: half a byte a room; sizes are worked out again when they are asked for.
struct RoomTable: Sendable {
  let seed: UInt64
  let giants: [Int]
  private let scale: Double
  private let exponent: Double
  private let limit: Int
  private let neverPostShare: Double

  private(set) var count = 0
  private(set) var membershipCount = 0
  /// The size of the last room if it was cut to meet the given number of memberships.
  private var lastSize: Int?
  /// For each group of rooms, the activity of those before it; and that of all.
  private var starts: [UInt64] = [0]
  private(set) var activity: RoomActivity

  static let groupSize = 16
  /// Rooms per piece of parallel work.
  static let pieceSize = 1 << 16

  /// The activity of all rooms.
  var totalActivity: UInt64 { starts[starts.count - 1] }

  init(_ options: WorkloadOptions, threads: Int) throws(WorkloadError) {
    let sizes = options.sizes
    seed = options.seed
    giants = sizes.giants ?? Self.defaultGiants(sizes)
    exponent = sizes.sizeExponent
    scale = sizes.medianSize * PortableMath.power(0.5, 1 / (exponent - 1))
    limit = sizes.maximumSize ?? min(3000, sizes.users)
    neverPostShare = options.traffic.neverPostShare
    activity = RoomActivity(options.traffic)
    if let members = sizes.memberships {
      try fill(members: members, threads: threads)
    } else {
      fill(rooms: sizes.rooms ?? max(1, giants.count, sizes.users / 5), threads: threads)
    }
    if options.rates != .first, count > 0 {
      activity.leastDayWeight = try ActiveDays(options, self).leastWeight()
    }
  }

  private static func defaultGiants(_ sizes: WorkloadOptions.Sizes) -> [Int] {
    let limit = min(sizes.users, sizes.memberships ?? sizes.users) / 2
    return [5000, 10_000, 26_000, 100_000].filter { $0 <= limit }
  }

  // MARK: One room

  func size(of room: Int) -> Int {
    if let lastSize, room == count - 1 { return lastSize }
    return drawnSize(of: room)
  }

  private func drawnSize(of room: Int) -> Int {
    if room < giants.count { return giants[room] }
    var draws = Draws(seed, .room, UInt64(room))
    return max(1, draws.pareto(scale: scale, exponent: exponent, atMost: limit))
  }

  /// How many members of a room of some size ever post: all of the first ten, and a share of the
  /// rest.
  func posterCount(size: Int) -> Int {
    size <= 10 ? size : 10 + Int(Double(size - 10) * (1 - neverPostShare))
  }

  /// The room at an offset in the activity, 0 ..< ``totalActivity``.
  ///
  /// - Complexity: O(log n) in the number of rooms.
  func room(atActivity offset: UInt64) -> (room: Int, size: Int) {
    room(at: offset, starts) { activity.weight(of: $0, size: $1, seed: seed) }
  }

  /// The room at an offset in some weights.
  ///
  /// - Parameters:
  ///   - starts: for each group of rooms, the weight of those before it; and that of all.
  ///   - weight: that of a room of a size.
  func room(
    at offset: UInt64, _ starts: [UInt64], _ weight: (_ room: Int, _ size: Int) -> UInt64
  ) -> (room: Int, size: Int) {
    let group = starts.partitioningIndex { $0 > offset } - 1
    var rest = offset - starts[group]
    var room = group * Self.groupSize
    while true {
      let size = size(of: room)
      let weight = weight(room, size)
      if rest < weight || room == count - 1 { return (room, size) }
      rest -= weight
      room += 1
    }
  }

  // MARK: All rooms

  private struct Group {
    var members = 0
    var activity: UInt64 = 0
  }

  private func group(_ number: Int, upTo end: Int) -> Group {
    var group = Group()
    let first = number * Self.groupSize
    for room in first..<min(end, first + Self.groupSize) {
      let size = size(of: room)
      group.members += size
      group.activity += activity.weight(of: room, size: size, seed: seed)
    }
    return group
  }

  /// The groups of rooms `first` ..< `end`; `first` begins one.
  private func groups(_ first: Int, _ end: Int, threads: Int) -> [Group] {
    let pieces = (end - first + Self.pieceSize - 1) / Self.pieceSize
    return Parallel.map(pieces, threads: threads) { [self] piece in
      let start = first + piece * Self.pieceSize
      let stop = min(end, start + Self.pieceSize)
      return (start / Self.groupSize..<(stop + Self.groupSize - 1) / Self.groupSize)
        .map { group($0, upTo: stop) }
    }.flatMap { $0 }
  }

  private mutating func add(_ groups: some Sequence<Group>) {
    for group in groups {
      membershipCount += group.members
      starts.append(totalActivity + group.activity)
    }
  }

  private mutating func fill(rooms: Int, threads: Int) {
    count = rooms
    let batch = Self.pieceSize * threads * 4
    for first in stride(from: 0, to: rooms, by: batch) {
      add(groups(first, min(rooms, first + batch), threads: threads))
    }
  }

  /// Adds rooms up to a number of memberships; the last room has the remainder.
  private mutating func fill(members: Int, threads: Int) throws(WorkloadError) {
    while membershipCount < members {
      let batch = Self.pieceSize * threads
      for group in groups(count, count + batch, threads: threads) {
        if membershipCount + group.members < members {
          add([group])
          count += Self.groupSize
        } else {
          try cut(to: members)
          return
        }
        if count > Int(UInt32.max) - Self.groupSize { throw .tooManyRooms }
      }
    }
  }

  private mutating func cut(to members: Int) throws(WorkloadError) {
    let first = count
    var rest = members - membershipCount
    while rest > 0 {
      let size = drawnSize(of: count)
      count += 1
      if size >= rest { lastSize = rest }
      rest -= size
    }
    add([group(first / Self.groupSize, upTo: count)])
  }
}
