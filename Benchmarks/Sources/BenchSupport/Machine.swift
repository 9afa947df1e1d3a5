import Dispatch
import Foundation
import QuietTime

/// What a measurement depends on besides the code.
public struct Machine: Codable, Sendable {
  public let cpu: String
  public let cores: Int
  /// How much more two threads do than one, in a loop without memory; 2 on an idle machine.
  public let secondCore: Double
  public let system: String
  public let compiler: String
  /// The revision of the sources, "-dirty" when more than reports was changed since.
  public let commit: String
  /// The version of the time-zone data.
  public let timeZoneData: String

  public static func current() -> Machine {
    Machine(
      cpu: cpuName() ?? "unknown", cores: ProcessInfo.processInfo.activeProcessorCount,
      secondCore: (secondCoreGain() * 100).rounded() / 100,
      system: ProcessInfo.processInfo.operatingSystemVersionString,
      compiler: firstLine(["swift", "--version"]) ?? "unknown",
      commit: commit(),
      timeZoneData: (try? ZoneDatabase.system.get().version) ?? "none")
  }

  public var lines: [String] {
    [
      "CPU: \(cpu), \(cores) cores, second core \(String(format: "%.2f", secondCore))x in a spin loop",
      "system: \(system); time-zone data \(timeZoneData)",
      "compiler: \(compiler)",
      "commit: \(commit)",
    ]
  }

  private static func cpuName() -> String? {
    let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }

  private static func commit() -> String {
    guard let root = firstLine(["git", "rev-parse", "--show-toplevel"]),
      let commit = firstLine(["git", "rev-parse", "--short", "HEAD"])
    else { return "unknown" }
    // What a report writes is not what it measures.
    let changes = firstLine([
      "git", "-C", root, "status", "--porcelain", "--", ".", ":!reports", ":!README.md",
      ":!docs/figures.*",
    ])
    return changes == nil ? commit : commit + "-dirty"
  }

  /// The first line that a program prints, nil when there is no such program or it fails.
  private static func firstLine(_ command: [String]) -> String? {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    // Where the program was built, so that the revision is that of its sources.
    process.currentDirectoryURL = Bundle.main.bundleURL
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").first.map(String.init)
  }

  private static func secondCoreGain() -> Double {
    @Sendable func spin() {
      var state: UInt64 = 1
      for _ in 0..<50_000_000 { state = state &* 6_364_136_223_846_793_005 &+ 1 }
      keep(Int(truncatingIfNeeded: state >> 1))
    }
    let single = seconds {
      spin()
      spin()
    }
    return single / seconds { DispatchQueue.concurrentPerform(iterations: 2) { _ in spin() } }
  }
}
