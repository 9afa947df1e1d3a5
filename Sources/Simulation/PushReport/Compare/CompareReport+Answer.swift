internal import PushModel
public import PushReplay

/// What a comparison says, in a few sentences.
extension CompareReport {
  /// The decision's price: how many pushes fewer or more, for how many people, and how many mentions
  /// are lost; or why nothing changes. Plain text.
  ///
  /// - Complexity: O(1).
  public static func answer(_ result: CompareResult) -> String {
    let unmet = unmet(result)
    if unmet.count == result.a.what.count + result.b.what.count, !unmet.isEmpty {
      return unmet.map { "\(sentence($0.why)), so nothing changes." }.joined(separator: " ")
    }
    let (a, b) = (result.a.pushes, result.b.pushes)
    let counts = "(\(Figures.short(a)) \u{2192} \(Figures.short(b)))"
    var text =
      "\(sentence(what(result))): "
      + (a == b && result.gained == 0
        ? "no push changes \(counts)." : "pushes \(change(a, b)) \(counts).")
    let users = result.users
    if let people = result.people {
      let all = Figures.count(people.people, "person", "people")
      text += " \(Figures.exact(users.fewer)) of \(all) \(users.fewer == 1 ? "gets" : "get") fewer"
      if users.fewer == 1 {
        if people.noneAnyMore == 1 { text += ", and none any more" }
      } else if users.fewer > 0 {
        text += ", \(Figures.exact(people.noneAnyMore)) of them none any more"
      }
      if users.more > 0 {
        text += "; \(Figures.exact(users.more)) \(users.more == 1 ? "gets" : "get") more"
      }
    } else {
      text +=
        " \(Figures.count(users.fewer, "person gets", "people get")) fewer, "
        + "\(Figures.exact(users.more)) more"
    }
    text += "; mentions lost: \(Figures.exact(result.mentionsLost))"
    let all = result.everyoneMentionsLost
    if all > 0 { text += " by name, \(Figures.exact(all)) of everyone" }
    let classes = lostClasses(result).filter { $0.count > 0 }
    if !classes.isEmpty {
      let counts = classes.map { "\($0.name) \(Figures.exact($0.count))" }
      text += "; lost by class: \(counts.joined(separator: ", "))"
    }
    return unmet.reduce(text + ".") { text, unmet in
      text + " \(sentence(unmet.why)), so \(unmet.what) changes nothing."
    }
  }

  /// The changes whose conditions nothing meets, and why.
  static func unmet(_ result: CompareResult) -> [(what: String, why: String)] {
    [result.a, result.b].flatMap { side in
      zip(side.what, side.reach).compactMap { what, reach in reach.unmet.map { (what, $0) } }
    }
  }

  /// What is asked: B, or B instead of A.
  static func what(_ result: CompareResult) -> String {
    result.a.what.isEmpty && result.a.name == ComparedSide(what: [], rules: "").name
      ? result.b.name : "\(result.b.name) instead of \(result.a.name)"
  }

  /// Who lost mentions by name, and where: `198 mentions by name lost by 57 people: u12 41 in r5, u7
  /// 30 in r2, u9 12 in r5, …`; nil without any. Plain text.
  ///
  /// - Complexity: O(rooms).
  public static func mentions(_ result: CompareResult) -> String? {
    guard let people = result.users.lostMentions, let losers = result.users.mentionLosers,
      !losers.isEmpty, result.mentionsLost > 0
    else { return nil }
    let shown = losers.prefix(3)
    let names = result.conversationTable.reduce(into: [String: String]()) {
      if let name = $1.name, !name.isEmpty { $0[$1.id] = name }
    }
    let parts = shown.map { loser in
      "\(loser.id.prefix(60)) \(Figures.exact(loser.mentions)) in "
        + "\((names[loser.conversation] ?? loser.conversation).prefix(60))"
    }
    let isAll = shown.reduce(0) { $0 + $1.mentions } == result.mentionsLost
    return "\(Figures.count(result.mentionsLost, "mention")) by name lost by "
      + "\(Figures.count(people, "person", "people")): \(parts.joined(separator: ", "))"
      + (isAll ? "." : ", \u{2026}")
  }

  /// The names of the rooms that have one, by their ids.
  var roomNames: [String: String] {
    result.conversationTable.reduce(into: [:]) { names, room in
      if let name = room.name, !name.isEmpty { names[room.id] = name }
    }
  }

  /// Lost pushes by other classes than mentions; none where the rules have none.
  static func lostClasses(_ result: CompareResult) -> [(name: String, count: Int)] {
    guard let lost = result.classesLost else { return [] }
    return [
      ("role", lost.role), ("reply", lost.reply), ("keyword", lost.keyword),
      ("sender", lost.sender),
    ]
  }

  /// Words at the beginning of a sentence; what may be a file's name stays.
  static func sentence(_ words: String) -> String {
    let cut = words.count > 120 ? words.prefix(119) + "\u{2026}" : words[...]
    let word = words.prefix { $0 != " " }
    guard let first = cut.first, !word.contains("."), !word.contains("/") else {
      return String(cut)
    }
    return first.uppercased() + cut.dropFirst()
  }

  /// `−95 %`, `+3.2 %`; `less than 0.1 %`; of nothing the difference.
  static func change(_ a: Int, _ b: Int) -> String {
    if a == b { return "\u{B1}0" }
    let sign = b > a ? "+" : "\u{2212}"
    guard a > 0 else { return "+" + Figures.short(b) }
    let share = Double((b - a).magnitude) / Double(a)
    if share < 0.0005 { return "less than 0.1 %" }
    return sign + Figures.percent(share, isExact: b == 0)
  }

  /// What people get no more, for the first time, or never. Plain text.
  ///
  /// - Complexity: O(1).
  public static func peopleInWords(_ people: ComparedPeople) -> String {
    let none =
      people.noneAnyMore == 0
      ? "Nobody loses the last push"
      : "\(Figures.count(people.noneAnyMore, "person gets", "people get")) no push at all any more"
    let first =
      people.firstTime == 0
      ? "nobody gets a first one"
      : "\(Figures.count(people.firstTime, "person gets", "people get")) a first one"
    let never =
      people.never == 0 ? "" : "\(Figures.exact(people.never)) had none before and have none now; "
    return "\(none); \(never)\(first)."
  }

  // MARK: The two worlds

  /// `A, as it is`: what a legend says.
  func name(_ letter: String) -> String {
    let name = letter == "A" ? result.a.name : result.b.name
    return "\(letter), \(name.count > 60 ? name.prefix(59) + "\u{2026}" : name)"
  }

  var legend: [(name: String, color: String)] { [(name("A"), "a"), (name("B"), "b")] }

  /// What each of them is, and whom its changes were for; HTML.
  var worlds: String {
    let isSame = result.a.rules == result.b.rules
    func rules(_ side: ComparedSide) -> String {
      Escaping.text(RuleSet(rawValue: side.rules)?.vendorName ?? side.rules)
    }
    func world(_ letter: String, _ side: ComparedSide) -> String {
      var text = "<strong>\(letter)</strong>: \(Escaping.identifier(side.name, limit: 200))"
      if !isSame { text += ", rules of \(rules(side))" }
      let parts = side.what.indices.map { index in
        let reach = index < side.reach.count ? Self.words(side.reach[index]) : ""
        return "<code><bdi>\(Escaping.identifier(side.what[index]))</bdi></code>"
          + (reach.isEmpty ? "" : ", \(reach)")
      }
      return text + (parts.isEmpty ? "" : " (\(parts.joined(separator: "; ")))")
    }
    return "\(world("A", result.a)). \(world("B", result.b))."
      + (isSame ? " Rules of \(rules(result.a))." : "")
  }

  private static func words(_ reach: ChangeReach) -> String {
    if let unmet = reach.unmet { return Escaping.text(unmet) }
    if reach.users > 0 { return "the own settings of \(Figures.count(reach.users, "user"))" }
    if reach.rooms == 0 { return "" }
    return "\(Figures.count(reach.members, "membership")) in \(Figures.count(reach.rooms, "room"))"
  }
}
