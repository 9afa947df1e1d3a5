/// What one contestant took for one case, round by round.
struct Samples {
  private(set) var seconds: [Double] = []

  mutating func add(_ seconds: Double) { self.seconds.append(seconds) }

  var median: Double {
    let sorted = seconds.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }

  /// The distance between the quartiles, as a share of the median.
  var spread: Double {
    let sorted = seconds.sorted()
    guard sorted.count > 3, median > 0 else { return 0 }
    return (sorted[sorted.count * 3 / 4] - sorted[sorted.count / 4]) / median
  }
}

/// How long something takes, in seconds.
func seconds(_ body: () -> Void) -> Double {
  let start = ContinuousClock.now
  body()
  return (ContinuousClock.now - start) / .seconds(1)
}

/// What a contestant decided: equal sums, or it was not the same work.
struct Checksum: Equatable {
  var recipients = 0
  var pushes = 0
  /// The codes of all members, each weighted by its place.
  var codes: UInt64 = 0

  mutating func add(_ codes: UnsafeBufferPointer<UInt8>) {
    for place in 0..<codes.count {
      let code = unsafe codes[place]
      recipients &+= code == 0 ? 0 : 1
      pushes &+= Int(code & 1)
      self.codes &+= UInt64(code) &* UInt64(place &+ 1)
    }
  }
}
