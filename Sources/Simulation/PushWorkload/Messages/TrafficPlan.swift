internal import Algorithms

/// How many messages each day of a world has: as much as its rooms write, by their clocks and
/// weekends, of all messages.
///
/// - Memory: 24 bytes a day.
struct TrafficPlan: Sendable {
  private let time: Range<Int64>
  /// The first day since 1970.
  private let firstDay: Int64
  /// The messages before each day, and all.
  private(set) var messageStarts: [Int] = [0]
  /// The pieces before each day, and all.
  private(set) var chunkStarts: [Int] = [0]

  private static let dayMilliseconds = DayCurve.dayMilliseconds
  /// Days whose rooms are looked at together.
  private static let batch: Int64 = 32

  /// - Precondition: the workload has ``Workload/writing``.
  init(_ workload: Workload, threads: Int) {
    time = workload.time
    firstDay = time.lowerBound / Self.dayMilliseconds
    let endDay = (time.upperBound - 1) / Self.dayMilliseconds + 1
    guard workload.messageCount > 0 else { return }
    var lengths: [UInt64] = []
    for first in stride(from: firstDay, to: endDay, by: Int(Self.batch)) {
      let days = first..<min(endDay, first + Self.batch)
      let sums = DayActivity.sums(workload, days: days, threads: threads)
      for (day, sums) in zip(days, sums) {
        let positions = positions(of: day, workload.dayCurve(day, sums))
        lengths.append(positions.upperBound - positions.lowerBound)
      }
    }
    let total = lengths.reduce(0, +)
    var sum: UInt64 = 0
    for length in lengths {
      sum += length
      let messages = Int(UInt64(workload.messageCount).scaled(by: sum, of: total))
      let count = messages - messageStarts[messageStarts.count - 1]
      let chunks = (count + MessageBursts.chunkSize - 1) / MessageBursts.chunkSize
      messageStarts.append(messages)
      chunkStarts.append(chunkStarts[chunkStarts.count - 1] + chunks)
    }
  }

  var chunkCount: Int { chunkStarts[chunkStarts.count - 1] }

  /// The day since 1970 of a piece, and its index among the world's days.
  func day(ofChunk chunk: Int) -> (day: Int64, index: Int) {
    // Of days that begin with the same piece, the last: the others have none.
    let index = chunkStarts.partitioningIndex { $0 > chunk } - 1
    return (firstDay + Int64(index), index)
  }

  /// The part of a day that is in the world's time.
  private func range(of day: Int64) -> Range<Int64> {
    let begin = day * Self.dayMilliseconds
    return max(time.lowerBound, begin)..<min(time.upperBound, begin + Self.dayMilliseconds)
  }

  /// The same as positions of the day's curve, which begins with the day.
  func positions(of day: Int64, _ curve: DayCurve) -> Range<UInt64> {
    let begin = day * Self.dayMilliseconds
    let range = range(of: day)
    let first = curve.position(at: range.lowerBound - begin)
    return first..<curve.position(at: range.upperBound - begin)
  }

  /// When a part of a day begins; all of them take equally long.
  func start(_ part: Int, _ count: Int, _ day: Int64) -> Int64 {
    let range = range(of: day)
    return range.lowerBound + Int64(range.count) * Int64(part) / Int64(max(1, count))
  }

  func chunk(of milliseconds: Int64) -> Int {
    let day = milliseconds / Self.dayMilliseconds
    let index = Int(day - firstDay)
    let count = chunkStarts[index + 1] - chunkStarts[index]
    let range = range(of: day)
    let guess = Int(Int64(count) * (milliseconds - range.lowerBound) / Int64(range.count))
    var part = max(0, min(count - 1, guess))
    while part > 0, start(part, count, day) > milliseconds { part -= 1 }
    while part + 1 < count, start(part + 1, count, day) <= milliseconds { part += 1 }
    return min(chunkCount - 1, chunkStarts[index] + part)
  }
}

extension Workload {
  /// How busy the minutes of a day are in UTC.
  ///
  /// - Parameter sums: ``DayActivity/sums`` of the day.
  func dayCurve(_ day: Int64, _ sums: [UInt64]) -> DayCurve {
    guard let writing else { preconditionFailure("these rates have no days") }
    var weights = [Double](repeating: 0, count: 1440)
    for (number, offset) in ZonePopulation.offsets.enumerated() {
      var (own, shared) = (0.0, 0.0)
      for sizeClass in 0..<DayActivity.classes {
        let sum = Double(sums[number * DayActivity.classes + sizeClass])
        let shares = options.sizes.sharedZone
        let share = shares[min(shares.count - 1, sizeClass)]
        own += sum * share
        shared += sum * (1 - share)
      }
      if own + shared == 0 { continue }
      for minute in 0..<1440 {
        let weekend = weekendFactor(minutes: day * 1440 + Int64(minute + offset))
        let local = (minute + offset + 1440) % 1440
        weights[minute] += weekend * (own * writing.day[local] + shared * writing.worldDay[minute])
      }
    }
    let mean = Double(rooms.totalActivity) * RoomActivity.dayScale
    return DayCurve(weights: weights.map { 1 + UInt64($0 / mean * 1e6) })
  }

  /// How much is written at a minute since 1970 by a room's clock, as far as weekends matter.
  func weekendFactor(minutes: Int64) -> Double {
    // 1970 began on a Thursday.
    let weekday = (minutes / 1440 + 3) % 7
    return weekday >= 5 ? options.traffic.weekendRatio : 1
  }

  /// How much is written at an instant in a room that writes, against the most; 0...1.
  func writing(in home: RoomHome, at milliseconds: Int64, _ hours: WritingHours) -> Double {
    let minutes = milliseconds / 60_000
    let local = minutes + Int64(ZonePopulation.offsetMinutes[home.zone])
    let busy =
      home.share * hours.day[Int(local % 1440)]
      + (1 - home.share) * hours.worldDay[Int(minutes % 1440)]
    return busy * weekendFactor(minutes: local) / max(1, options.traffic.weekendRatio)
  }
}
