import Foundation
import PushModel

/// What time it is, for what is written now. Only the command line reads a clock.
enum Clock {
  /// - Throws: ``Failure`` for a clock that is set to before 1970, or to later than files can
  ///   represent.
  static var now: Instant {
    get throws { try instant(secondsSince1970: Date().timeIntervalSince1970) }
  }

  static func instant(secondsSince1970 seconds: Double) throws -> Instant {
    guard let milliseconds = Int64(exactly: (seconds * 1000).rounded()),
      let instant = Instant(exactMilliseconds: milliseconds)
    else {
      throw Failure(
        text: "the system's clock is \(seconds) s from 1970, outside of what "
          + "settings can hold; set it")
    }
    return instant
  }
}
