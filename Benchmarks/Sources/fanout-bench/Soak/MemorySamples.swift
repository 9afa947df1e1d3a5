import Foundation

/// How much memory of the process is resident, in the course of a soak.
struct MemorySamples {
  private(set) var samples: [(seconds: Double, bytes: Double)] = []
  /// What the engines report at the same instants.
  private var reported: [Int] = []
  /// How long the soak lasts.
  let seconds: Double

  /// A soak of at least this many seconds is judged by the slope.
  static let leastForSlope = 120.0
  private static let mostInTenMinutes = 0.01
  private static let mostOfThirds = 0.10

  init(seconds: Double) { self.seconds = seconds }

  mutating func add(_ bytes: Int, _ reported: Int, at seconds: Double) {
    samples.append((seconds, Double(bytes)))
    self.reported.append(reported)
  }

  /// The resident bytes of this process.
  static func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return 0
    }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
  }

  /// By which share memory grows, over what, and how much it may.
  ///
  /// Pages of tables, caches and the allocator's arenas fill in the first half, which is not
  /// counted. A few seconds say nothing of ten minutes: a short soak compares the means of its last
  /// two thirds, coarsely.
  var growth: (share: Double, most: Double, text: String) {
    if seconds >= Self.leastForSlope {
      let line = line(from: seconds / 2)
      return (
        line.slope * 600 / line.start, Self.mostInTenMinutes,
        "in ten minutes, by the fitted line after the first half"
      )
    }
    let (middle, last) = (mean(seconds / 3..<seconds * 2 / 3), mean(seconds * 2 / 3..<seconds * 2))
    return (last / middle - 1, Self.mostOfThirds, "from the middle third to the last")
  }

  /// Whether memory grows more than it may, or was not sampled.
  var grows: Bool {
    let growth = growth
    return !(growth.share <= growth.most)
  }

  /// Lines for people.
  var lines: [String] {
    let tenth = max(1, samples.count / 10)
    let chosen = stride(from: 0, to: samples.count, by: tenth)
    func course(_ bytes: (Int) -> Double) -> String {
      chosen.map { Self.text(bytes($0)) }.joined(separator: " ")
    }
    let growth = growth
    return [
      "resident memory, \(samples.count) samples, in MB: " + course { samples[$0].bytes },
      "  reported by the engines: " + course { Double(reported[$0]) },
      String(
        format: "growth %+.2f %% \(growth.text); must be at most %g %%", growth.share * 100,
        growth.most * 100),
    ]
  }

  private static func text(_ bytes: Double) -> String { String(format: "%.1f", bytes / 1e6) }

  private func mean(_ range: Range<Double>) -> Double {
    let chosen = samples.filter { range.contains($0.seconds) }
    return chosen.reduce(0) { $0 + $1.bytes } / Double(chosen.count)
  }

  /// The line of least squares: bytes at its start, and bytes a second.
  private func line(from start: Double) -> (start: Double, slope: Double) {
    let chosen = samples.filter { $0.seconds >= start }
    let count = Double(chosen.count)
    let time = chosen.reduce(0) { $0 + $1.seconds } / count
    let bytes = chosen.reduce(0) { $0 + $1.bytes } / count
    var (products, squares) = (0.0, 0.0)
    for sample in chosen {
      products += (sample.seconds - time) * (sample.bytes - bytes)
      squares += (sample.seconds - time) * (sample.seconds - time)
    }
    let slope = products / squares
    return (bytes + slope * (start - time), slope)
  }
}
