internal import QuietTime

/// What every import is given.
struct ImportRun {
  let threads: Int
  /// Told the share of the input that was read; nil when it is not known.
  let progress: (Double?) -> Void

  func reading(_ input: InputFile) -> ParallelReading {
    ParallelReading(threads: threads) { progress(input.share) }
  }

  /// Whether a name is that of a time zone, as far as that can be found out.
  static func isZone(_ name: String) -> Bool {
    switch ZoneDatabase.system {
    case .success(let zones): zones.isName(name)
    case .failure: true
    }
  }
}
