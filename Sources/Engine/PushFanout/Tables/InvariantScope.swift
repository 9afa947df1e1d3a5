/// How much of a structure is checked.
enum InvariantScope {
  /// Everything: linear, for tests.
  case all
  /// At most ``sampleSize`` elements per table; successive numbers select successive ranges.
  case sample(UInt64)

  static let sampleSize = 64

  func indices(below count: Int) -> Range<Int> {
    switch self {
    case .all: return 0..<count
    case .sample(let number):
      let sampleCount = (count + Self.sampleSize - 1) / Self.sampleSize
      guard sampleCount > 0 else { return 0..<0 }
      let start = Int(number % UInt64(sampleCount)) * Self.sampleSize
      return start..<min(start + Self.sampleSize, count)
    }
  }
}

/// Whether this build checks its assertions, and with them what ``checkInDebugBuilds(_:)`` is given.
var checksAssertions: Bool {
  var isChecked = false
  checkInDebugBuilds { isChecked = true }
  return isChecked
}

@inline(__always)
func checkInDebugBuilds(_ check: () -> Void) {
  assert(
    {
      check()
      return true
    }())
}
