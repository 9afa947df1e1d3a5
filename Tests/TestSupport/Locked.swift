import Foundation

/// A value that several threads use in turns.
///
/// Foundation's lock instead of the standard library's `Mutex`: the thread sanitizer knows it.
public final class Locked<Value>: @unchecked Sendable {
  // SAFETY: touched only while the lock is held.
  private var value: Value
  private let lock = NSLock()

  public init(_ value: Value) { self.value = value }

  public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
