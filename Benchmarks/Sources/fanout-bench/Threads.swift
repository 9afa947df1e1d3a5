import Foundation

/// Threads that have begun.
struct Threads {
  private let group = DispatchGroup()

  init(_ bodies: [@Sendable () -> Void]) {
    for body in bodies {
      group.enter()
      let thread = Thread { [group] in
        body()
        group.leave()
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
  }

  /// Waits until all have ended.
  func wait() { group.wait() }
}
