import Foundation

/// Waits for what happens soon, however slow the machine is: five minutes at most.
///
/// - Parameter isWorth: whether it can still happen.
/// - Returns: whether it happened.
@discardableResult
public func waits(
  while isWorth: () -> Bool = { true }, for hasHappened: () throws -> Bool
) rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  while try !hasHappened() {
    guard isWorth(), ContinuousClock.now < end else { return false }
    Thread.sleep(forTimeInterval: 0.002)
  }
  return true
}
