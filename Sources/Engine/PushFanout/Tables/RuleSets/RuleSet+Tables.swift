internal import PushModel

// Each switch leads to the file of a rule set.

extension RuleSet {
  /// The position in a ``PackedUser`` of the level for a kind of conversation.
  func levelShift(for kind: ConversationKind) -> UInt32 {
    switch self {
    case .easemob: 0
    case .rongcloud: PackedUser.levelShift(kind: kind.ordinal)
    case .open: 0
    }
  }

  /// What computes stored keys by open rules; nil where they are read from tables.
  @inline(__always)
  func openKeys(_ tables: borrowing Tables) -> OpenKeys? {
    switch self {
    case .easemob, .rongcloud: nil
    case .open: OpenKeys(tables)
    }
  }
}

extension Tables {
  /// By what programs tell whether they can read members' keys.
  ///
  /// - Complexity: that of creating the rules, the first time.
  var keysMark: UInt64 {
    switch app.rules {
    case .easemob, .rongcloud: rules.mark
    case .open: OpenKeys.mark
    }
  }

  /// Whether nothing is pushed to an online user without background devices.
  @inline(__always)
  func isUnreached(online user: UInt32) -> Bool {
    switch app.rules {
    case .easemob: easemobReach(of: user, .foreground) == .online
    case .rongcloud:
      rongcloudReach(of: user, packedUsers[Int(user)], at: 0, .foreground) == .online
    case .open: true  // O-31
    }
  }

  /// Calls `body` with the instants at which a user's class changes, quiet windows aside.
  func forEachTransition(of user: UInt32, _ body: (Int64) -> Void) {
    switch app.rules {
    case .easemob:
      let packed = packedUsers[Int(user)]
      if packed.hasMute { body(mute(of: user, packed)) }
    case .rongcloud: forEachGrace(of: user, body)
    case .open:
      let packed = packedUsers[Int(user)]
      if packed.hasMute { body(mute(of: user, packed)) }
      forEachStaleness(of: user, body)
    }
  }
}

extension DeviceReader {
  /// Calls `body` with the listed devices that a push or local notification goes to.
  @inline(never)
  func forEachListedTarget<Failure: Error>(
    of user: UInt32, _ action: Action, _ filter: DeviceFilter?, at now: Int64,
    _ body: (DeviceRecord) throws(Failure) -> Void
  ) throws(Failure) {
    if action == .suppress { return }
    switch rules {
    case .easemob: try forEachEasemobTarget(of: user, filter, body)
    case .rongcloud:
      try forEachRongCloudTarget(of: user, isLocal: action == .local, at: now, body)
    case .open: try forEachOpenTarget(of: user, body)
    }
  }
}
