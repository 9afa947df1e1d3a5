import Foundation
import PushRules

/// What time it is, for what is written now. Only the command line reads a clock.
enum Clock {
  /// - Throws: ``Failure`` for a clock that is set to before 1970, or to later than files can say.
  static var now: Instant {
    get throws { try instant(secondsSince1970: Date().timeIntervalSince1970) }
  }

  static func instant(secondsSince1970 seconds: Double) throws -> Instant {
    let milliseconds = (seconds * 1000).rounded(.down)
    guard let whole = Int64(exactly: milliseconds), let instant = Instant(exactMilliseconds: whole)
    else {
      throw Failure(
        text: "the system's clock is \(seconds) s from 1970, which is no time that "
          + "settings can have; set it")
    }
    return instant
  }
}
