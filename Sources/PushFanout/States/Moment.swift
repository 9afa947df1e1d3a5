internal import PushRules
internal import QuietTime

/// The users' classes, worked out for a stretch of time in which none of them changes by itself.
///
/// A value is one version of it; versions share the pages that are the same.
struct Moment {
  /// Valid from this instant on, until before the other; milliseconds.
  private(set) var from: Int64 = 0
  private(set) var until: Int64 = 0
  /// A byte a user: under Easemob one table, under RongCloud one for each kind of conversation that
  /// was asked for.
  private(set) var classes = [PagedTable<UInt8>](repeating: PagedTable(), count: 8)
  /// Which of the tables there are.
  private(set) var kinds: UInt8 = 0
  /// Counts the times at which many users may have changed at once.
  private(set) var epoch: UInt64 = 0
  /// Who changed since the epoch began: a user above, a conversation or ``everywhere`` below.
  private(set) var log = PagedTable<UInt64>()
  /// The bits of each schedule's users now.
  private(set) var quiet: [UInt8] = []
  private(set) var plan: DayPlan?
  /// The day after, prepared ahead of its midnight.
  private(set) var tomorrow: DayPlan?

  static let everywhere = UInt32.max
  private static let second: Int64 = 1000
  private static let day: Int64 = 86_400_000

  @inline(__always)
  func holds(at now: Int64) -> Bool { from <= now && now < until }

  /// Whether the classes for a kind of conversation are worked out.
  func hasClasses(_ kind: Int) -> Bool { kinds >> UInt8(kind) & 1 != 0 }

  var byteCount: Int { classes.reduce(log.byteCount) { $0 + $1.byteCount } + quiet.count }

  func free() {
    for table in classes { table.free() }
    log.free()
  }

  // MARK: Time

  /// Which of the tables hold the classes for conversations of a kind.
  static func place(of kind: ConversationKind, _ rules: RuleSet) -> Int {
    rules == .easemob ? 0 : kind.place
  }

  /// Whether moving to an instant costs a pass over all users, and not only over those whose mute
  /// or background grace is over.
  func needsPass(at now: Int64) -> Bool {
    guard let plan, from <= now else { return true }
    let second = Int(now / Self.second - plan.day * 86_400)
    return second >= plan.nextTurn(after: Int(max(from / Self.second - plan.day * 86_400, 0)))
  }

  /// Moves to an instant, which may be any.
  ///
  /// - Complexity: O(users whose mute or grace is over), and O(users) when a window has turned or
  ///   when time goes back.
  mutating func move(
    to now: Int64, _ tables: Tables, _ agenda: inout Agenda, _ store: PageStore
  ) {
    if holds(at: now) { return }
    guard until > 0, from <= now else {
      return rebuild(at: now, tables, &agenda, store)
    }
    var start = from
    while let entry = agenda.pop(upTo: now) {
      start = max(start, entry.at)
      if refresh(entry.user, at: now, tables, store) {
        note(entry.user, in: Self.everywhere, store)
      }
    }
    turn(to: now, tables, store)
    setBounds(at: now, start, agenda)
  }

  /// Works out the classes for one more kind of conversation.
  mutating func add(
    kind: Int, at now: Int64, _ tables: Tables, _ agenda: inout Agenda, _ store: PageStore
  ) {
    guard !hasClasses(kind) else { return }
    kinds |= 1 << UInt8(kind)
    if !holds(at: now) { return rebuild(at: now, tables, &agenda, store) }
    fill(kind, at: now, tables, store)
  }

  /// Everything anew: for the first instant, one in the past, or other settings of the app.
  mutating func rebuild(
    at now: Int64, _ tables: Tables, _ agenda: inout Agenda, _ store: PageStore
  ) {
    updateQuiet(at: now, tables)
    agenda.removeAll()
    var start: Int64 = 0
    for user in 0..<UInt32(tables.userCount) {
      tables.forEachTurn(of: user) { at in
        if at > now { agenda.add(Agenda.Entry(at: at, user: user)) } else { start = max(start, at) }
      }
    }
    for kind in 0..<8 where hasClasses(kind) { fill(kind, at: now, tables, store) }
    beginEpoch(store)
    setBounds(at: now, start, agenda)
  }

  private mutating func setBounds(at now: Int64, _ start: Int64, _ agenda: Agenda) {
    guard let plan else { return }
    let midnight = plan.day * Self.day
    let second = Int((now - midnight) / Self.second)
    from = max(start, midnight + Int64(plan.lastTurn(upTo: second)) * Self.second)
    until = midnight + Int64(plan.nextTurn(after: second)) * Self.second
    if let next = agenda.next { until = min(until, next) }
  }

  private mutating func fill(
    _ kind: Int, at now: Int64, _ tables: Tables, _ store: PageStore
  ) {
    classes[kind].removeAll(store)
    classes[kind].grow(to: tables.userCount, repeating: 0, store)
    for user in 0..<UInt32(tables.userCount) {
      let value = tables.userClass(
        of: user, kind: kind, quiet: quiet[Int(tables.schedules[Int(user)])], at: now)
      classes[kind].set(Int(user), value.bits, store)
    }
  }

  // MARK: Windows

  /// Sets the windows' bits of all users, if any window has turned.
  private mutating func turn(to now: Int64, _ tables: Tables, _ store: PageStore) {
    let before = quiet
    updateQuiet(at: now, tables)
    if quiet == before { return }
    let mask = tables.app.rules == .easemob ? UserClass.windowBit : UserClass.quietMask
    for kind in 0..<8 where hasClasses(kind) {
      var user = 0
      while user < classes[kind].count {
        let count = min(PagedTable<UInt8>.pageSize, classes[kind].count - user)
        let page = unsafe classes[kind].ownPage(at: user, store)
        unsafe turn(page, user..<user + count, mask, tables)
        user += count
      }
    }
    beginEpoch(store)
  }

  /// Sets the windows' bits of the users of a page.
  private func turn(
    _ page: UnsafeMutablePointer<UInt8>, _ users: Range<Int>, _ mask: UInt8, _ tables: Tables
  ) {
    unsafe quiet.withUnsafeBufferPointer { (quiet) -> Void in
      unsafe tables.schedules.forEachStretch(users) { (offset, schedules) -> Void in
        for place in 0..<schedules.count {
          let bits = unsafe quiet[Int(schedules[place])]
          unsafe page[offset &+ place] = unsafe page[offset &+ place] & ~mask | bits
        }
      }
    }
  }

  /// The bits of all schedules at an instant.
  private mutating func updateQuiet(at now: Int64, _ tables: Tables) {
    let day = now / Self.day
    if plan?.day != day {
      plan = tomorrow?.day == day ? tomorrow : DayPlan(day: day, tables.scheduleTable)
      tomorrow = nil
    }
    guard let plan else { return }
    let levels = plan.levels(second: Int((now - day * Self.day) / Self.second))
    quiet = levels.map { tables.quietBits($0) }
  }

  /// Prepares the bitmaps of the day after, in the last hour before it.
  mutating func prepareTomorrow(_ now: Int64, _ tables: Tables) {
    let day = now / Self.day + 1
    guard day * Self.day - now <= 3_600_000, plan?.day == day - 1, tomorrow?.day != day else {
      return
    }
    tomorrow = DayPlan(day: day, tables.scheduleTable)
  }

  /// Makes room for users and schedules that were added. A new user who has set nothing has the
  /// class 0.
  mutating func extend(_ tables: Tables, _ store: PageStore) {
    for kind in 0..<8 where hasClasses(kind) {
      classes[kind].grow(to: tables.userCount, repeating: 0, store)
    }
    guard plan != nil, quiet.count < tables.scheduleTable.count else { return }
    plan?.extend(tables.scheduleTable)
    tomorrow?.extend(tables.scheduleTable)
    guard let plan else { return }
    let second = Int((from - plan.day * Self.day) / Self.second)
    for index in quiet.count..<tables.scheduleTable.count {
      quiet.append(tables.quietBits(plan.level(UInt32(index), second: second)))
    }
    // A new window may turn before the others do.
    until = min(
      until, plan.day * Self.day + Int64(plan.nextTurn(after: second)) * Self.second)
  }

  // MARK: Users

  /// Works out one user's classes again.
  ///
  /// - Returns: whether one has changed.
  mutating func refresh(
    _ user: UInt32, at now: Int64, _ tables: Tables, _ store: PageStore
  ) -> Bool {
    let quiet = quiet[Int(tables.schedules[Int(user)])]
    var hasChanged = false
    for kind in 0..<8 where hasClasses(kind) {
      let value = tables.userClass(of: user, kind: kind, quiet: quiet, at: now)
      if classes[kind][Int(user)] != value.bits {
        classes[kind].set(Int(user), value.bits, store)
        hasChanged = true
      }
    }
    return hasChanged
  }

  /// Takes in what was changed of a user.
  mutating func update(
    _ user: UInt32, _ tables: Tables, _ agenda: inout Agenda, _ store: PageStore
  ) {
    note(user, in: Self.everywhere, store)
    guard until > 0 else { return }
    _ = refresh(user, at: from, tables, store)
    schedule(user, at: from, tables, &agenda)
  }

  /// What a user's settings will bring by themselves.
  private mutating func schedule(
    _ user: UInt32, at now: Int64, _ tables: Tables, _ agenda: inout Agenda
  ) {
    tables.forEachTurn(of: user) { at in
      guard at > now else { return }
      agenda.add(Agenda.Entry(at: at, user: user))
      until = min(until, at)
    }
  }

  /// Notes that a user may be in another state, in one conversation or everywhere.
  mutating func note(_ user: UInt32, in conversation: UInt32, _ store: PageStore) {
    if log.count > 1 << 16 { beginEpoch(store) }
    log.append(UInt64(user) << 32 | UInt64(conversation), store)
  }

  /// Forgets all classes, as when the app's settings are replaced.
  mutating func removeAll(_ store: PageStore) {
    for kind in 0..<8 { classes[kind].removeAll(store) }
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
  /// The class of a user whose schedule's bits are known.
  @inline(__always)
  func userClass(of user: UInt32, kind: Int, quiet: UInt8, at now: Int64) -> UserClass {
    let word = words[Int(user)]
    var bits = app.rules == .easemob ? word.level : word.level(kind: kind)
    bits |= quiet
    if app.rules == .easemob, mute(of: user, word) > now { bits |= UserClass.muteBit }
    bits |= reach(of: user, word, at: now).rawValue << 5
    return UserClass(bits: bits)
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
  func quietBits(_ level: NotificationLevel?) -> UInt8 {
    guard let level else { return 0 }
    guard app.rules == .rongcloud else { return UserClass.windowBit }
    let quiet: UserClass.Quiet =
      switch level {
      case .blocked: .blocked
      case .mention: .mention
      default: app.rongcloud.quietZero == .all ? .all : .outside
      }
    return quiet.rawValue << 3
  }

  /// Calls `body` with the instants at which a user's class changes, but for windows.
  func forEachTurn(of user: UInt32, _ body: (Int64) -> Void) {
    let word = words[Int(user)]
    switch app.rules {
    case .easemob:
      if word.hasMute { body(mute(of: user, word)) }
    case .rongcloud:
      guard hasOwnDevices(user) else { return }
      forEachDevice(of: user) { device in
        guard device.state == Device.State.background.place, device.backgroundSince >= 0 else {
          return
        }
        // A grace that ends after the last instant there is never ends.
        let (end, isTooLate) = device.backgroundSince.addingReportingOverflow(
          app.rongcloud.backgroundGraceSeconds * 1000)
        if !isTooLate { body(end) }
        body(device.backgroundSince)
      }
    }
  }
}
