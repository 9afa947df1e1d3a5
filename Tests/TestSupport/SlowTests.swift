internal import Foundation
package import Testing

extension Tag {
  /// Takes more than five seconds of processor time in a debug build.
  @Tag package static var slow: Tag
}

extension Trait where Self == ConditionTrait {
  /// Leaves a test out of `make test-fast`, which sets `PUSH_FAST=1`; goes with the tag `slow`, as
  /// `swift test` cannot select by tags.
  package static var unlessFast: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["PUSH_FAST"] != "1",
      "slow, and PUSH_FAST=1 leaves slow tests out")
  }
}
