/// The version of this program, which `scripts/release` sets.
enum Version {
  static let number = "0.1.0"
}
