public import Glibc

/// What one contestant took for one case, round by round.
public struct Samples: Sendable {
  public private(set) var seconds: [Double] = []

  public init() {}

  public mutating func add(_ seconds: Double) { self.seconds.append(seconds) }

  public var median: Double {
    let sorted = seconds.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// The distance between the fastest and the slowest round, as a share of the median.
  public var spread: Double {
    guard let least = seconds.min(), let most = seconds.max(), median > 0 else { return 0 }
    return (most - least) / median
  }
}

/// How long something takes, in seconds.
public func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = ContinuousClock.now
  try body()
  return (ContinuousClock.now - start) / .seconds(1)
}

/// What a clock of the system says, in nanoseconds.
public func nanoseconds(_ clock: clockid_t) -> Int {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Stops the compiler from leaving out what nobody reads.
@inline(never) public func keep(_ value: Int) {
  if value == Int.min { print(value) }
}

/// What a contestant decided: equal sums, or it was not the same work.
public struct Checksum: Hashable, Sendable {
  public private(set) var recipients = 0
  public private(set) var pushes = 0
  /// The codes of all members, each weighted by its place.
  public private(set) var codes: UInt64 = 0

  public init() {}

  public init(_ codes: some Sequence<UInt8>) {
    var place: UInt64 = 0
    for code in codes {
      place &+= 1
      recipients &+= code == 0 ? 0 : 1
      pushes &+= Int(code & 1)
      self.codes &+= UInt64(code) &* place
    }
  }
}

/// Stops the program when something that must hold does not; says what, in release builds too.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}
