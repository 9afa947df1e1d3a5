public import PushReplay

/// What a comparison says, in a sentence.
extension CompareReport {
  /// The decision's price: how many pushes fewer or more, for how many people, and how many mentions
  /// are lost. Plain text.
  ///
  /// - Complexity: O(1).
  public static func answer(_ result: CompareResult) -> String {
    let (a, b) = (result.a.pushes, result.b.pushes)
    let counts = "(\(Figures.short(a)) \u{2192} \(Figures.short(b)))"
    var text =
      a == b && result.gained == 0
      ? "No push changes \(counts)." : "Pushes \(change(a, b)) \(counts)."
    if let people = result.people {
      text +=
        " \(Figures.exact(result.users.fewer)) of \(Figures.exact(people.people)) people get "
        + "fewer"
      if result.users.more > 0 { text += ", \(Figures.exact(result.users.more)) more" }
      text += ", \(Figures.exact(people.noneAnyMore)) get none any more"
    } else {
      text +=
        " \(Figures.count(result.users.fewer, "person gets", "people get")) fewer, "
        + "\(Figures.exact(result.users.more)) more"
    }
    text += "; mentions lost: \(Figures.exact(result.mentionsLost))"
    let all = result.everyoneMentionsLost
    if all > 0 { text += " by name, \(Figures.exact(all)) of everyone" }
    return text + "."
  }

  /// `−95 %`, `+3.2 %`; of nothing the difference.
  private static func change(_ a: Int, _ b: Int) -> String {
    if a == b { return "\u{B1}0" }
    let sign = b > a ? "+" : "\u{2212}"
    guard a > 0 else { return "+" + Figures.short(b) }
    let share = Double((b - a).magnitude) / Double(a)
    return sign + Figures.percent(share, isExact: b == 0)
  }

  /// Whom the changes were for: `B: 2,310 memberships in 1 room`; nil if the result does not say.
  var reachInWords: String? {
    let sides = [("A", result.a), ("B", result.b)].compactMap { name, side -> String? in
      let parts = zip(side.what, side.reach).compactMap { what, reach -> String? in
        let words = Self.words(reach)
        return words.isEmpty
          ? nil : "<code><bdi>\(Escaping.identifier(what))</bdi></code> is for \(words)"
      }
      return parts.isEmpty ? nil : "\(name): " + parts.joined(separator: "; ")
    }
    return sides.isEmpty ? nil : sides.joined(separator: ". ") + "."
  }

  private static func words(_ reach: ChangeReach) -> String {
    if reach.users > 0 { return "the own settings of \(Figures.count(reach.users, "user"))" }
    if reach.rooms == 0 { return "" }
    return "\(Figures.count(reach.members, "membership")) in \(Figures.count(reach.rooms, "room"))"
  }
}
