internal import PushRules

/// Decides messages of any instants on one version, for one thread: its moment moves with them.
@safe final class Cursor: @unchecked Sendable {
  // SAFETY: one thread has it at a time; handing it over goes through a lock.
  let base: World
  private var world: World
  private var moment = Moment()
  private let store = PageStore()
  private var agenda = Agenda()
  private let cache: StateCache
  private var patience = Patience()

  init(_ base: World) {
    self.base = base
    world = World(base, moment)
    cache = StateCache(slotCount: 4096, byteLimit: 1 << 30)
  }

  deinit {
    cache.removeAll()
    freeRetired()
    moment.free()
  }

  func decide(_ message: Message, into result: inout FanoutResult) {
    // A result of an earlier message may share a state with the cache.
    result.state = nil
    let now = message.at.milliseconds
    let place = base.tables.conversationIDs.place(of: message.conversation)
    if let place {
      let (kind, members) = base.tables.size(place)
      if patience.wantsMove(
        moment, to: now, kind: kind, members: members, users: base.tables.userCount)
      {
        moment.move(to: now, base.tables, &agenda, store)
        moment.add(kind: kind, at: now, base.tables, &agenda, store)
        world = World(base, moment)
        freeRetired()
      }
    }
    Decider(world: world, cache: cache, threads: 1).decide(message, in: place, into: &result)
    result.world = base
  }

  /// Nobody else reads the moment, so what it does without is free at once.
  private func freeRetired() {
    for page in store.commit() { PageStore.free(page) }
  }
}

/// When it is worth while to work out the classes of all users anew.
///
/// Without them a member costs some ten times as much. A pass over all users pays once so many
/// members have been decided without it; as with skis, one rents until the rent has come to the
/// price.
struct Patience {
  private var rented = 0

  /// - Parameter users: how many users there are.
  mutating func wantsMove(
    _ moment: Moment, to now: Int64, kind: Int, members: Int, users: Int
  ) -> Bool {
    let hasClasses = moment.hasClasses(kind)
    if hasClasses, moment.holds(at: now) { return false }
    if hasClasses, !moment.needsPass(at: now) { return true }
    rented += members
    guard rented >= users / 16 else { return false }
    rented = 0
    return true
  }
}
