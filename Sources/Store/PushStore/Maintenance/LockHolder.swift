internal import Foundation
internal import Glibc
internal import PushModel

/// Finds the process that has the right to write a store, as far as the system tells.
enum LockHolder {
  /// - Returns: nil when no process has the right, or this process may not see who.
  static func of(_ inode: StoreInode) -> StoreStatistics.Writer? {
    guard let status = inode.status,
      let locks = FileManager.default.contents(atPath: "/proc/locks"),
      let process = process(
        locking: status.st_dev, UInt64(status.st_ino), String(decoding: locks, as: UTF8.self))
    else { return nil }
    let stat = FileManager.default.contents(atPath: "/proc/\(process)/stat")
    let system = FileManager.default.contents(atPath: "/proc/stat")
    return StoreStatistics.Writer(
      process: process,
      started: stat.flatMap { stat in
        system.flatMap {
          started(String(decoding: stat, as: UTF8.self), String(decoding: $0, as: UTF8.self))
        }
      })
  }

  /// - Parameter locks: lines as in proc(5), `/proc/locks`.
  static func process(locking device: dev_t, _ inode: UInt64, _ locks: String) -> Int? {
    // As glibc's gnu_dev_major and gnu_dev_minor; the numbers are hexadecimal there.
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    for line in locks.split(separator: "\n") {
      let words = line.split(separator: " ")
      // A process that waits for a lock has an arrow before the kind.
      guard words.count > 5, words[1] == "FLOCK", let process = Int(words[4]), process > 0 else {
        continue
      }
      let parts = words[5].split(separator: ":")
      if parts.count == 3, dev_t(parts[0], radix: 16) == major,
        dev_t(parts[1], radix: 16) == minor, UInt64(parts[2]) == inode
      {
        return process
      }
    }
    return nil
  }

  /// - Parameters:
  ///   - process: as in proc(5), `/proc/pid/stat`.
  ///   - system: as in proc(5), `/proc/stat`.
  static func started(_ process: String, _ system: String) -> Instant? {
    // The name, which may contain anything, ends with the last parenthesis.
    guard let end = process.lastIndex(of: ")") else { return nil }
    let words = process[process.index(after: end)...].split(separator: " ")
    let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }
    guard words.count > 19, let ticks = Int64(words[19]),
      let seconds = boot.flatMap({ Int64($0.dropFirst(6)) })
    else { return nil }
    let rate = Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))
    return Instant(milliseconds: seconds * 1000 + ticks * 1000 / rate)
  }
}

extension stat {
  /// When the file was last written.
  var modified: Instant {
    Instant(milliseconds: Int64(st_mtim.tv_sec) * 1000 + Int64(st_mtim.tv_nsec) / 1_000_000)
  }
}
