import CBuildCommit

/// The version of this program, which `scripts/release` sets, and the commit of packages and releases.
enum Version {
  static let number = "0.1.0"
  static let text = unsafe "push-fanout \(number) (\(String(cString: build_commit())))"
}
