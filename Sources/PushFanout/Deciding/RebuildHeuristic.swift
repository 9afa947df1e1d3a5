/// Decides when to recompute the classes of all users.
///
/// Without classes a member costs about ten times as much. Ski-rental heuristic: rebuild once the
/// members decided without classes have cost as much as a rebuild.
struct RebuildHeuristic {
  private var missedMembers = 0

  /// - Parameter users: the number of users.
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
