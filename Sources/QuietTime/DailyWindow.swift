public import PushRules

/// A window of the local day in its canonical form: a start and a span, in seconds.
///
/// Inside is `(localSecond - start) mod 86,400 < span`; a span of 86,400 is always (§1). Both
/// vendors' quiet hours come down to this, with every option of theirs already applied.
///
/// - Memory: 8 bytes.
public struct DailyWindow: Hashable, Sendable {
  public static let daySeconds: Int64 = 86_400

  /// 0 ..< 86,400, in seconds since local midnight.
  public let startSecond: Int32
  /// 0 ... 86,400, in seconds.
  public let spanSeconds: Int32

  public init(startSecond: Int32, spanSeconds: Int32) {
    precondition(0 <= startSecond && startSecond < 86_400)
    precondition(0 <= spanSeconds && spanSeconds <= 86_400)
    self.startSecond = startSecond
    self.spanSeconds = spanSeconds
  }

  /// Whether a second of the local day is inside.
  public func contains(localSecond: Int64) -> Bool {
    (localSecond - Int64(startSecond) + Self.daySeconds) % Self.daySeconds < Int64(spanSeconds)
  }

  /// How many seconds after `localSecond` the answer turns, if no clock change comes before; nil
  /// when it never does.
  func secondsUntilTurn(after localSecond: Int64) -> Int64? {
    guard 0 < spanSeconds, Int64(spanSeconds) < Self.daySeconds else { return nil }
    let into =
      (localSecond - Int64(startSecond) + Self.daySeconds) % Self.daySeconds
    return into < Int64(spanSeconds) ? Int64(spanSeconds) - into : Self.daySeconds - into
  }
}

extension DailyWindow {
  /// The window of Easemob's quiet hours; nil when they are off (E-30 to E-34).
  public init?(_ interval: QuietInterval, options: EasemobOptions) {
    if interval.startMinute == 0, interval.endMinute == 0, options.zeroZeroMeans == .off {
      return nil  // E-32
    }
    let minutes = (interval.endMinute - interval.startMinute + 1440) % 1440
    let span = minutes == 0 ? 86_400 : minutes * 60  // E-31
    let extra: Int32 = options.intervalEnd == .inclusiveMinute ? 60 : 0  // E-34
    self.init(startSecond: interval.startMinute * 60, spanSeconds: min(span + extra, 86_400))
  }

  /// The window of RongCloud's quiet hours.
  public init(_ span: QuietSpan, options: RongCloudOptions) {
    if span.spanMinutes == 1439, options.span1439 == .allDay {
      self.init(startSecond: span.startSecond, spanSeconds: 86_400)
      return
    }
    let seconds = span.spanMinutes * 60
    switch options.boundary {
    case .halfOpen: self.init(startSecond: span.startSecond, spanSeconds: seconds)
    case .closed: self.init(startSecond: span.startSecond, spanSeconds: seconds + 1)
    case .open:
      self.init(startSecond: (span.startSecond + 1) % 86_400, spanSeconds: seconds - 1)
    }
  }
}

/// A daily window on the wall clock of a zone, at real instants.
public struct ZonedWindow: Hashable, Sendable {
  public let window: DailyWindow
  public let zone: ZoneTable

  public init(window: DailyWindow, zone: ZoneTable) {
    self.window = window
    self.zone = zone
  }

  /// Whether an instant, in whole seconds since the epoch, is inside.
  public func contains(utcSeconds: Int64) -> Bool {
    window.contains(localSecond: zone.localSecond(at: utcSeconds))
  }

  /// The first second after `utcSeconds` at which ``contains(utcSeconds:)`` answers otherwise; nil
  /// when it never does.
  ///
  /// The answer turns at an edge of the window, or in the middle of it where a clock change jumps
  /// over an edge. An edge whose local time does not exist on a day is passed over with the gap.
  ///
  /// - Complexity: O(log transitions) a clock change; rarely more than one is looked at.
  public func nextTurn(after utcSeconds: Int64) -> Int64? {
    guard window.secondsUntilTurn(after: 0) != nil else { return nil }
    let inside = contains(utcSeconds: utcSeconds)
    var now = utcSeconds
    while true {
      // An offset holds until `change`, so local time runs evenly up to it.
      let change = zone.nextTransition(after: now)
      guard let wait = window.secondsUntilTurn(after: zone.localSecond(at: now)) else { return nil }
      let edge = now + wait
      guard let change, change <= edge else { return edge }
      if contains(utcSeconds: change) != inside { return change }
      now = change
    }
  }
}
