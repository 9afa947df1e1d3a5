internal import PushFanout
internal import PushFiles
internal import PushModel

/// Counts the memberships that begin during a replay.
///
/// One of the initial settings begins with its `since`; one made by a change, at the
/// change or with its `since`, whichever is later. A membership begins once, whatever changes of it
/// afterwards. What a thread has are settings, not memberships.
///
/// - Memory: that of the memberships that changes name.
struct JoinTally {
  private struct Membership: Hashable {
    let conversation: Identifier
    let user: Identifier
  }

  /// What a change replaces.
  struct Replaced {
    fileprivate let kind: ConversationKind?
    fileprivate let member: MemberSettings?
  }

  /// When those that changes name began, or will, in milliseconds; -1 for always.
  private var begins: [Membership: Int64] = [:]

  /// What a change that is about to be applied replaces.
  static func replaced(by change: SettingsChange, in fanout: Fanout) -> Replaced {
    switch change.record {
    case .app, .user: Replaced(kind: nil, member: nil)
    case .conversation(let id, _): Replaced(kind: fanout.conversation(id)?.kind, member: nil)
    case .member(let user, let id, _, _):
      Replaced(kind: fanout.conversation(id)?.kind, member: fanout.member(user, of: id))
    }
  }

  /// Takes in a change that was applied.
  mutating func add(_ change: SettingsChange, replacing old: Replaced, in fanout: Fanout) {
    let at = change.at.milliseconds
    switch change.record {
    case .app, .user: return
    case .conversation(let id, let conversation):
      guard let kind = old.kind, (kind == .thread) != (conversation.kind == .thread) else {
        return
      }
      fanout.currentVersion.forEachMember(of: id) { user, member in
        let membership = Membership(conversation: id, user: user)
        guard begins[membership] == nil else { return }
        // Records of a thread become memberships; or memberships, which may not have `since`, end.
        begins[membership] = kind == .thread ? at : -1
      }
    case .member(let user, let id, let member, _):
      guard old.kind != .thread else { return }
      let membership = Membership(conversation: id, user: user)
      let known = old.member.map { $0.since > .zero ? $0.since.milliseconds : -1 }
      if let begin = begins[membership] ?? known, begin <= at {
        begins[membership] = begin
      } else {
        begins[membership] = max(at, member.since.milliseconds)
      }
    }
  }

  /// How many began in a range of instants.
  ///
  /// - Complexity: O(memberships).
  func count(in range: ClosedRange<Instant>, _ fanout: Fanout) -> Int {
    var count = fanout.currentVersion.joinCount(in: range)
    for (membership, begin) in begins {
      let since = fanout.member(membership.user, of: membership.conversation)?.since ?? .zero
      if since > .zero, range.contains(since) { count -= 1 }
      if begin >= 0, range.contains(Instant(milliseconds: begin)) { count += 1 }
    }
    return count
  }
}
