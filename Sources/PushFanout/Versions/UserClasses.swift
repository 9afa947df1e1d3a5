internal import PushModel
internal import QuietTime

/// The users' classes, valid for an interval of time in which none of them changes without an
/// update.
///
/// A copy is a version of its own; versions share unchanged pages.
struct UserClasses {
  /// The half-open interval ``from`` ..< ``until`` in which the value is valid, in milliseconds
  /// since the epoch.
  private(set) var from: Int64 = 0
  private(set) var until: Int64 = 0
  /// One byte per user. Easemob uses one table, RongCloud one per kind of conversation that a
  /// message was sent to.
  private(set) var byKind = [PagedTable<UInt8>](repeating: PagedTable(), count: 8)
  /// A bit for each table of ``byKind`` that has been computed.
  private(set) var kinds: UInt8 = 0
  /// Incremented whenever many users may have changed at once; the log starts anew.
  private(set) var epoch: UInt64 = 0
  /// The changes since the epoch began: the user in the upper 32 bits, the conversation or
  /// ``everywhere`` in the lower.
  private(set) var log = PagedTable<UInt64>()
  /// The quiet-hours bits of each schedule's users at ``from``.
  private(set) var quiet: [UInt8] = []
  private(set) var plan: DayPlan?
  /// The next day's plan, prepared before its midnight.
  private(set) var tomorrow: DayPlan?

  static let everywhere = UInt32.max
  private static let second: Int64 = 1000
  private static let day: Int64 = 86_400_000

  @inline(__always)
  func holds(at now: Int64) -> Bool { from <= now && now < until }

  /// Whether the table for a kind of conversation has been computed.
  func hasClasses(_ kind: Int) -> Bool { kinds >> UInt8(kind) & 1 != 0 }

  var byteCount: Int { byKind.reduce(log.byteCount) { $0 + $1.byteCount } + quiet.count }

  func free() {
    for table in byKind { table.free() }
    log.free()
  }

  // MARK: Time

  /// The index in ``byKind`` of the table for a kind of conversation.
  static func tableIndex(for kind: ConversationKind, _ rules: RuleSet) -> Int {
    rules.hasClassesByKind ? kind.ordinal : 0
  }

  /// Whether moving to an instant requires a pass over all users rather than only over those whose
  /// mute or background grace has ended.
  func needsPass(at now: Int64) -> Bool {
    guard let plan, from <= now else { return true }
    let second = Int(now / Self.second - plan.day * 86_400)
    return second >= plan.nextTransition(after: Int(max(from / Self.second - plan.day * 86_400, 0)))
  }

  /// Moves to an instant, which may be earlier or later.
  ///
  /// - Complexity: O(users whose mute or grace has ended); O(users) after a window transition, or
  ///   when the instant is earlier.
  mutating func move(
    to now: Int64, _ tables: Tables, _ expiries: inout ExpiryQueue, _ store: PageStore
  ) {
    if holds(at: now) { return }
    guard until > 0, from <= now else {
      return rebuild(at: now, tables, &expiries, store)
    }
    var start = from
    while let entry = expiries.pop(upTo: now) {
      start = max(start, entry.at)
      if refresh(entry.user, at: now, tables, store) {
        note(entry.user, in: Self.everywhere, store)
      }
    }
    applyWindows(at: now, tables, store)
    setBounds(at: now, start, expiries)
  }

  /// Computes the table for one more kind of conversation.
  mutating func add(
    kind: Int, at now: Int64, _ tables: Tables, _ expiries: inout ExpiryQueue, _ store: PageStore
  ) {
    guard !hasClasses(kind) else { return }
    kinds |= 1 << UInt8(kind)
    if !holds(at: now) { return rebuild(at: now, tables, &expiries, store) }
    fill(kind, at: now, tables, store)
  }

  /// Recomputes everything: at the first instant, an earlier one, or after the app's settings
  /// changed.
  mutating func rebuild(
    at now: Int64, _ tables: Tables, _ expiries: inout ExpiryQueue, _ store: PageStore
  ) {
    updateQuiet(at: now, tables)
    expiries.removeAll()
    var start: Int64 = 0
    for user in 0..<UInt32(tables.userCount) {
      tables.forEachTransition(of: user) { at in
        if at > now {
          expiries.add(ExpiryQueue.Entry(at: at, user: user))
        } else {
          start = max(start, at)
        }
      }
    }
    for kind in 0..<8 where hasClasses(kind) { fill(kind, at: now, tables, store) }
    beginEpoch(store)
    setBounds(at: now, start, expiries)
  }

  private mutating func setBounds(at now: Int64, _ start: Int64, _ expiries: ExpiryQueue) {
    guard let plan else { return }
    let midnight = plan.day * Self.day
    let second = Int((now - midnight) / Self.second)
    from = max(start, midnight + Int64(plan.lastTransition(upTo: second)) * Self.second)
    until = midnight + Int64(plan.nextTransition(after: second)) * Self.second
    if let next = expiries.next { until = min(until, next) }
  }

  private mutating func fill(
    _ kind: Int, at now: Int64, _ tables: Tables, _ store: PageStore
  ) {
    byKind[kind].removeAll(store)
    byKind[kind].grow(to: tables.userCount, repeating: 0, store)
    for user in 0..<UInt32(tables.userCount) {
      let value = tables.userClass(
        of: user, kind: kind, quiet: quiet[Int(tables.schedules[Int(user)])], at: now)
      byKind[kind].set(Int(user), value.bits, store)
    }
  }

  // MARK: Windows

  /// Updates the quiet-hours bits of all users after a window transition.
  private mutating func applyWindows(at now: Int64, _ tables: Tables, _ store: PageStore) {
    let before = quiet
    updateQuiet(at: now, tables)
    if quiet == before { return }
    let mask = tables.app.rules.quietMask
    for kind in 0..<8 where hasClasses(kind) {
      var user = 0
      while user < byKind[kind].count {
        let count = min(PagedTable<UInt8>.pageSize, byKind[kind].count - user)
        let page = unsafe byKind[kind].ownPage(at: user, store)
        unsafe setQuietBits(page, user..<user + count, mask, tables)
        user += count
      }
    }
    beginEpoch(store)
  }

  /// Updates the quiet-hours bits of the users of one page.
  private func setQuietBits(
    _ page: UnsafeMutablePointer<UInt8>, _ users: Range<Int>, _ mask: UInt8, _ tables: Tables
  ) {
    unsafe quiet.withUnsafeBufferPointer { (quiet) -> Void in
      unsafe tables.schedules.forEachStretch(users) { (offset, schedules) -> Void in
        for index in 0..<schedules.count {
          let bits = unsafe quiet[Int(schedules[index])]
          unsafe page[offset &+ index] = unsafe page[offset &+ index] & ~mask | bits
        }
      }
    }
  }

  /// Computes the bits of all schedules at an instant.
  private mutating func updateQuiet(at now: Int64, _ tables: Tables) {
    let day = now / Self.day
    if plan?.day != day {
      plan = tomorrow?.day == day ? tomorrow : DayPlan(day: day, tables.scheduleTable)
      tomorrow = nil
    }
    guard let plan else { return }
    let bits = QuietLevelBits(tables.app)
    quiet = plan.bytes(second: Int((now - day * Self.day) / Self.second)) { bits[$0] }
  }

  /// Prepares the next day's bitmaps during the last hour of a day.
  mutating func prepareTomorrow(_ now: Int64, _ tables: Tables) {
    let day = now / Self.day + 1
    guard day * Self.day - now <= 3_600_000, plan?.day == day - 1, tomorrow?.day != day else {
      return
    }
    tomorrow = DayPlan(day: day, tables.scheduleTable)
  }

  /// Adds users and schedules that were added to the tables. A new user without settings has class
  /// 0.
  mutating func extend(_ tables: Tables, _ store: PageStore) {
    for kind in 0..<8 where hasClasses(kind) {
      byKind[kind].grow(to: tables.userCount, repeating: 0, store)
    }
    guard plan != nil, quiet.count < tables.scheduleTable.count else { return }
    plan?.extend(tables.scheduleTable)
    tomorrow?.extend(tables.scheduleTable)
    guard let plan else { return }
    let second = Int((from - plan.day * Self.day) / Self.second)
    let bits = QuietLevelBits(tables.app)
    for index in quiet.count..<tables.scheduleTable.count {
      quiet.append(bits[plan.level(UInt32(index), second: second)])
    }
    // A new window may have an earlier transition than the others.
    until = min(
      until, plan.day * Self.day + Int64(plan.nextTransition(after: second)) * Self.second)
  }

  // MARK: Users

  /// Recomputes one user's classes.
  ///
  /// - Returns: whether any of them changed.
  mutating func refresh(
    _ user: UInt32, at now: Int64, _ tables: Tables, _ store: PageStore
  ) -> Bool {
    let quiet = quiet[Int(tables.schedules[Int(user)])]
    var hasChanged = false
    for kind in 0..<8 where hasClasses(kind) {
      let value = tables.userClass(of: user, kind: kind, quiet: quiet, at: now)
      if byKind[kind][Int(user)] != value.bits {
        byKind[kind].set(Int(user), value.bits, store)
        hasChanged = true
      }
    }
    return hasChanged
  }

  /// Applies a change of a user's settings.
  mutating func update(
    _ user: UInt32, _ tables: Tables, _ expiries: inout ExpiryQueue, _ store: PageStore
  ) {
    note(user, in: Self.everywhere, store)
    guard until > 0 else { return }
    _ = refresh(user, at: from, tables, store)
    schedule(user, at: from, tables, &expiries)
  }

  /// Queues the instants at which a user's class will change without an update.
  private mutating func schedule(
    _ user: UInt32, at now: Int64, _ tables: Tables, _ expiries: inout ExpiryQueue
  ) {
    tables.forEachTransition(of: user) { at in
      guard at > now else { return }
      expiries.add(ExpiryQueue.Entry(at: at, user: user))
      until = min(until, at)
    }
  }

  /// Logs that a user's state may have changed, in one conversation or everywhere.
  mutating func note(_ user: UInt32, in conversation: UInt32, _ store: PageStore) {
    if log.count > 1 << 16 { beginEpoch(store) }
    log.append(UInt64(user) << 32 | UInt64(conversation), store)
  }

  /// Discards all classes, as when the app's settings are replaced.
  mutating func removeAll(_ store: PageStore) {
    for kind in 0..<8 { byKind[kind].removeAll(store) }
    kinds = 0
    from = 0
    until = 0
    quiet = []
    plan = nil
    tomorrow = nil
    beginEpoch(store)
  }

  mutating func beginEpoch(_ store: PageStore) {
    epoch += 1
    log.removeAll(store)
  }
}

extension Tables {
  /// The class of a user, given the bits of the user's schedule.
  @inline(__always)
  func userClass(of user: UInt32, kind: Int, quiet: UInt8, at now: Int64) -> UserClass {
    let packed = packedUsers[Int(user)]
    return UserClass(bits: classBits(of: user, packed, kind: kind, at: now) | quiet)
  }

  /// The class of a user at any instant.
  func userClass(of user: UInt32, kind: Int, at now: Int64) -> UserClass {
    let quiet = quietBits(schedules[Int(user)], at: now)
    return userClass(of: user, kind: kind, quiet: quiet, at: now)
  }

  /// The bits of a schedule's users at an instant.
  func quietBits(_ schedule: UInt32, at now: Int64) -> UInt8 {
    if schedule == 0 { return 0 }
    return quietBits(scheduleTable.level(schedule, at: now / 1000))
  }

  /// The bits of users whose schedule lets a level through; nil for one that is not quiet.
  func quietBits(_ level: NotificationLevel?) -> UInt8 { QuietLevelBits(app)[level] }
}
