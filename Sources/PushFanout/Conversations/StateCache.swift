internal import PushModel
internal import PushSupport
internal import Synchronization

/// The states of recently decided conversations, shared by all threads.
///
/// A slot's lock is held to look up, take or replace a state, never while states are computed.
final class StateCache: Sendable {
  let pool = BufferPool()
  private let slots: [Slot]
  private let byteCount = Atomic<Int>(0)
  private let hand = Atomic<Int>(0)
  private let byteLimit: Int

  private final class Slot: Sendable {
    let state = Lock<ConversationState?>(nil)
  }

  /// - Parameter byteLimit: the memory that the states may take, in bytes.
  init(slotCount: Int, byteLimit: Int) {
    slots = (0..<slotCount).map { _ in Slot() }
    self.byteLimit = byteLimit
  }

  var bytes: Int { byteCount.load(ordering: .relaxed) }

  /// The states of a target at an instant: cached, refreshed or rebuilt.
  func state(
    _ target: ConversationStates.Target, at now: Int64, _ states: ConversationStates
  ) -> ConversationState {
    let slot = slots[Int(truncatingIfNeeded: hash(target)) & (slots.count - 1)]
    var found: ConversationState?
    var old: ConversationState?
    var isTaken = false
    slot.state.withLock { held in
      guard held != nil else { return }
      if let state = held, states.isCurrent(state, target, at: now) {
        found = state
      } else if let state = held, let distance = states.distance(state, target, at: now),
        distance <= max(64, state.count)
      {
        // Mutated in place if uniquely referenced, otherwise copied.
        isTaken = true
      } else {
        old = held
      }
      if isTaken {
        if isKnownUniquelyReferenced(&held) {
          found = held.take()
          byteCount.subtract(found?.byteCount ?? 0, ordering: .relaxed)
        } else {
          found = held
        }
      }
    }
    if let found, !isTaken { return found }
    if var state = found.take() {
      if !isKnownUniquelyReferenced(&state) { state = state.copied() }
      states.refresh(state, target, at: now)
      keep(state, in: slot)
      return state
    }
    let state = states.build(target, at: now, pool: pool, old: old)
    keep(state, in: slot)
    return state
  }

  private func keep(_ state: ConversationState, in slot: Slot) {
    let size = state.byteCount
    guard size <= byteLimit else { return }
    let old = slot.state.withLock { held -> ConversationState? in
      let old = held
      held = state
      return old
    }
    var total = byteCount.add(size - (old?.byteCount ?? 0), ordering: .relaxed).newValue
    var steps = 0
    while total > byteLimit, steps < slots.count {
      steps += 1
      let index = hand.add(1, ordering: .relaxed).newValue & (slots.count - 1)
      let victim = slots[index].state.withLock { held in
        held === state ? nil : held.take()
      }
      total = byteCount.subtract(victim?.byteCount ?? 0, ordering: .relaxed).newValue
    }
  }

  func removeAll() {
    for slot in slots {
      let old = slot.state.withLock { $0.take() }
      byteCount.subtract(old?.byteCount ?? 0, ordering: .relaxed)
    }
  }

  private func hash(_ target: ConversationStates.Target) -> UInt64 {
    var hash = UInt64(target.conversation) &* 0x9E37_79B9_7F4A_7C15
    if !target.channel.isEmpty { hash ^= UInt64(bitPattern: Int64(target.channel.hashValue)) }
    return hash ^ (hash >> 32)
  }
}
