/// When it is worth while to work out the classes of all users anew.
///
/// Without them a member costs some ten times as much. A pass over all users pays once so many
/// members have been decided without it; as with skis, one rents until the rent has come to the
/// price.
struct RebuildHeuristic {
  private var missedMembers = 0

  /// - Parameter users: how many users there are.
  mutating func shouldRebuild(
    _ userClasses: UserClasses, to now: Int64, kind: Int, members: Int, users: Int
  ) -> Bool {
    let hasClasses = userClasses.hasClasses(kind)
    if hasClasses, userClasses.holds(at: now) { return false }
    if hasClasses, !userClasses.needsPass(at: now) { return true }
    missedMembers += members
    guard missedMembers >= users / 16 else { return false }
    missedMembers = 0
    return true
  }
}
