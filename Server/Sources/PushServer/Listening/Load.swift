internal import Synchronization

/// What is under way of those who share a limit: requests, and bytes of their bodies. It may have
/// more than the limit only as long as something waited.
final class Load: Sendable {
  /// Why a request without a key gets no answer.
  enum Refusal: Error { case closes }

  private let requestLimit, byteLimit, waitLimit: Int
  private let requests = Atomic<Int>(0)
  private let bytes = Atomic<Int>(0)
  private let waits = Atomic<Int>(0)

  /// - Parameter waits: how many may wait, which is no load.
  init(requests: Int, bytes: Int, waits: Int = .max) {
    (requestLimit, byteLimit, waitLimit) = (requests, bytes, waits)
  }

  /// What those without a key may have under way, answers that they do not take among it.
  static var keyless: Load { Load(requests: 1000, bytes: 1 << 20) }
  /// What administration has, whatever others do.
  static var administration: Load { Load(requests: 100, bytes: 16 << 20) }

  var counts: (requests: Int, bytes: Int) {
    (requests.load(ordering: .relaxed), bytes.load(ordering: .relaxed))
  }

  private func take() -> Bool {
    let count = requests.wrappingAdd(1, ordering: .relaxed).newValue
    if count <= requestLimit { return true }
    requests.wrappingSubtract(1, ordering: .relaxed)
    return false
  }

  /// Counts a request without a key.
  ///
  /// - Throws: ``Refusal`` when there are too many: each takes some kilobytes until its answer was
  ///   taken. Health has a reserve.
  func takeKeyless(isHealth: Bool) throws(Refusal) -> Ticket {
    guard isHealth || counts.requests < requestLimit * 3 / 4, let ticket = Ticket([self]) else {
      throw .closes
    }
    return ticket
  }

  /// A request that counts until it ends.
  final class Ticket: Sendable {
    private let loads: [Load]
    private let held = Atomic<Int>(0)
    private let hasEnded = Atomic<Bool>(false)
    private let isWaiting = Atomic<Bool>(false)

    /// - Returns: nil when one of the loads is at its limit.
    init?(_ loads: [Load]) {
      self.loads = loads
      for (index, load) in loads.enumerated() where !load.take() {
        for taken in loads[..<index] { taken.requests.wrappingSubtract(1, ordering: .relaxed) }
        return nil
      }
    }

    /// Counts bytes of its body.
    ///
    /// - Returns: false when there are too many.
    func add(_ count: Int) -> Bool {
      held.wrappingAdd(count, ordering: .relaxed)
      var fits = true
      for load in loads {
        let bytes = load.bytes.wrappingAdd(count, ordering: .relaxed).newValue
        if bytes > load.byteLimit { fits = false }
      }
      return fits
    }

    /// It waits from now on: its bytes count, but it does not.
    ///
    /// - Returns: false when too many wait.
    @discardableResult func wait() -> Bool {
      guard !hasEnded.load(ordering: .acquiring),
        !isWaiting.exchange(true, ordering: .acquiringAndReleasing)
      else { return true }
      var fits = true
      for load in loads {
        load.requests.wrappingSubtract(1, ordering: .relaxed)
        let count = load.waits.wrappingAdd(1, ordering: .relaxed).newValue
        if count > load.waitLimit { fits = false }
      }
      return fits
    }

    /// It goes on.
    func resume() {
      guard isWaiting.exchange(false, ordering: .acquiringAndReleasing) else { return }
      for load in loads {
        load.waits.wrappingSubtract(1, ordering: .relaxed)
        load.requests.wrappingAdd(1, ordering: .relaxed)
      }
    }

    /// It has ended, and its answer was taken. May be called again.
    func end() {
      guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
      resume()
      let count = held.load(ordering: .relaxed)
      for load in loads {
        load.requests.wrappingSubtract(1, ordering: .relaxed)
        if count > 0 { load.bytes.wrappingSubtract(count, ordering: .relaxed) }
      }
    }
  }
}
