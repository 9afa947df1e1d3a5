internal import PushModel

/// Settings that replace others from an instant on.
struct WorkloadChange {
  /// Whose: the whole record.
  enum Settings {
    case user(Int, WorkloadUser)
    case member(room: Int, WorkloadMember)
  }

  var at: Int64
  var settings: Settings
}

extension Workload {
  /// What changes are of: members' levels, users' windows, and users' levels for the rest.
  private static let memberShare = 0.6
  private static let windowShare = 0.25
  private static let changeAttempts = 16

  /// How many changes of settings there are.
  var changeCount: Int {
    guard options.rates != .first else { return 0 }
    let days = Double(options.traffic.durationMilliseconds) / Double(DayCurve.dayMilliseconds)
    return Int(Double(userCount) * days * options.people.changes + 0.5)
  }

  /// A change of settings, 0 ..< ``changeCount``, in the order of time: as in the file of settings,
  /// but for one fact.
  func change(_ number: Int) -> WorkloadChange {
    var draws = Draws(options.seed, .change, UInt64(number))
    let at = changeInstant(number, &draws)
    let kind = draws.share()
    if kind < Self.memberShare, membershipCount > 0 {
      return WorkloadChange(at: at, settings: changedMember(at, &draws))
    }
    var user = Int(draws.below(UInt64(userCount)))
    for _ in 0..<Self.changeAttempts where !isAwake(user, at, &draws) {
      user = Int(draws.below(UInt64(userCount)))
    }
    var settings = drawnUser(user)
    if kind < Self.memberShare + Self.windowShare {
      let removed = settings.isSilent || settings.window != nil && draws.isBelow(0.5)
      settings.isSilent = false
      settings.window = removed ? nil : WorkloadUser.drawnWindow(options.people, &draws)
    } else if settings.level.isSet {
      settings.level = .unset
    } else {
      settings.level = options.level(draws.isBelow(0.5) ? .mention : .blocked)
    }
    return WorkloadChange(at: at, settings: .user(user, settings))
  }

  /// Changes divide the day of all people evenly.
  private func changeInstant(_ number: Int, _ draws: inout Draws) -> Int64 {
    let begin = worldDay.position(at: time.lowerBound)
    let length = worldDay.position(at: time.upperBound) - begin
    let bounds = [number, number + 1].map { length.scaled(by: UInt64($0), of: UInt64(changeCount)) }
    let at = worldDay.milliseconds(
      at: begin + bounds[0] + draws.below(max(1, bounds[1] - bounds[0])))
    return max(time.lowerBound, at)
  }

  private func changedMember(_ at: Int64, _ draws: inout Draws) -> WorkloadChange.Settings {
    var attempt = 0
    while true {
      attempt += 1
      // Of rooms in which much is written.
      let (room, size) = rooms.room(atActivity: draws.below(rooms.totalActivity))
      let members = RoomMembers(room: room, size: size, self)
      let rank = Int(draws.below(UInt64(size)))
      var member = drawnMember(rank, room: room, size: size, of: members)
      let isThere = member.since <= at && isAwake(member.user, at, &draws)
      if !isThere, attempt < Self.changeAttempts { continue }
      let isMuted = member.level.isSet && member.level != .all
      member.level =
        isMuted
        ? .unset
        : options.level(draws.isBelow(options.people.muteMentionShare) ? .mention : .blocked)
      return .member(room: room, member)
    }
  }

  private func isAwake(_ user: Int, _ at: Int64, _ draws: inout Draws) -> Bool {
    let sender = WorkloadSender(user, zone: zones.zone(of: user), self)
    return writing?.accept(sender, at: at, &draws) ?? true
  }
}
