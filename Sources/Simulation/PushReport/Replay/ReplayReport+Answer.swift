internal import PushModel
public import PushReplay

/// What a replay says, in a few sentences.
extension ReplayReport {
  /// All pushes, those of a person's day, the busiest minute, the morning peak, and who never gets
  /// one; of one
  /// user or room what became of its messages. Plain text.
  ///
  /// - Complexity: O(outcomes).
  public static func answer(_ result: ReplayResult) -> String {
    if let follow = result.follow { return answer(follow, result) }
    var parts: [String] = []
    if let people = result.people, people.people > 0 {
      let reached = people.people - people.neverReached
      let all = Figures.count(people.people, "person", "people")
      parts.append(
        reached == people.people
          ? "\(Figures.pushes(result.pushes)) to \(all)"
          : reached == 0
            ? "No push to \(all)"
            : "\(Figures.pushes(result.pushes)) to \(Figures.exact(reached)) of \(all)")
      if people.personDays > 1 {
        parts.append(spread(people.pushes, isOneDay: isOneDay(result)))
      }
    } else {
      parts.append(
        "\(Figures.pushes(result.pushes)), "
          + "\(Figures.share(result.pushes, of: result.decisions)) of all decisions")
    }
    if let peak = result.peaks.first(where: { $0.unit == "minute" && $0.by == "pushes" }),
      peak.pushes > 0
    {
      parts.append(
        "Busiest minute: \(Figures.short(peak.pushes)) \(peak.pushes == 1 ? "push" : "pushes"), "
          + "\(CivilTime.text(peak.at)) UTC")
    }
    if let peak = result.hold?.releasePeak {
      parts.append(
        "If pushes were held until they may be sent, \(Figures.short(peak.count)) would go out in "
          + "one minute, \(CivilTime.text(peak.at)) UTC"
          + (result.hold?.windowsEnd.first.map { " (\($0.time) in \($0.zone))" } ?? ""))
    }
    if let people = result.people, people.neverReached > 0 {
      var text = Figures.count(people.neverReached, "person", "people") + " never got one"
      if let most = people.neverReasons.first {
        let family = OutcomeFamily(action: "none", reason: most.reason)
        text += ", the most frequent reason: \(family.name) (\(Figures.exact(most.people)))"
      }
      parts.append(text)
    }
    return parts.joined(separator: ". ") + "."
  }

  /// Whether all messages are of one day, so that person-days are people.
  static func isOneDay(_ result: ReplayResult) -> Bool {
    result.dayCount(ofHours: result.hours.at) == 1
  }

  /// `Half of the people had none that day, one in ten more than 76, one in a hundred more than 788`:
  /// who is said to have more is at most so many.
  private static func spread(_ pushes: DailyPushes, isOneDay: Bool) -> String {
    let who = isOneDay ? "people" : "person-days"
    let day = isOneDay ? " that day" : ""
    if pushes.most == 0 { return isOneDay ? "Nobody had one that day" : "No day had one" }
    func atMost(_ count: Int) -> String {
      count == 0 ? "none" : "at most \(Figures.count(count, "push", "pushes"))"
    }
    if pushes.most == pushes.median {
      let most = Figures.count(pushes.most, "push", "pushes")
      return "\(isOneDay ? "Nobody" : "No person-day") had more than \(most)\(day)"
    }
    var steps = [
      ("Half", pushes.median), ("Nine in ten", pushes.p90), ("99 in a hundred", pushes.p99),
    ]
    // Of equal steps the last one says most.
    while steps.count > 1, steps[1].1 == steps[0].1 { steps.removeFirst() }
    var parts = ["\(steps[0].0) of the \(who) had \(atMost(steps[0].1))\(day)"]
    for (name, count) in steps.dropFirst() where count < pushes.most {
      let few = name == "Nine in ten" ? "one in ten" : "one in a hundred"
      if parts.count == 1 || count > pushes.p90 {
        parts.append("\(few) more than \(Figures.exact(count))")
      }
    }
    if parts.count == 1 || pushes.p99 == pushes.p90 || pushes.p99 == pushes.most {
      parts.append("the most \(Figures.exact(pushes.most))")
    }
    return parts.joined(separator: ", ")
  }

  /// `u3: 91 messages, 41 pushed (45.1 %); 38 quiet hours, 12 not mentioned.`
  private static func answer(_ follow: FollowResult, _ result: ReplayResult) -> String {
    guard follow.count > 0 else { return "\(follow.name(in: result)): no message." }
    var text = "\(follow.name(in: result)): \(Figures.count(follow.count, "message"))"
    let decisions = follow.decisions
    if follow.user == nil { text += ", \(Figures.count(decisions, "decision"))" }
    let kinds = OutcomeFamily.kinds(of: follow.outcomes)
    let pushed = kinds.first { $0.family == .pushed }?.count ?? 0
    text += ", \(Figures.exact(pushed)) pushed (\(Figures.share(pushed, of: decisions)))"
    let others = kinds.filter { $0.family != .pushed }.sorted { $0.count > $1.count }
    if !others.isEmpty {
      text +=
        "; "
        + others.map { "\(Figures.exact($0.count)) \($0.family.name)" }.joined(separator: ", ")
    }
    return text + "."
  }
}

extension FollowResult {
  /// Decisions on what is followed: messages of a user, recipients of messages of a room.
  var decisions: Int { outcomes.reduce(0) { $0 + $1.count } }

  /// `u3`, `u3 in Tea`, `Tea`: ids are cut, as they may be of any length.
  func name(in result: ReplayResult) -> String {
    let room = conversation.map { id in
      String((result.conversationTable.first { $0.id == id }?.name ?? id).prefix(60))
    }
    return [user.map { String($0.prefix(60)) }, room].compactMap { $0 }.joined(separator: " in ")
  }
}

extension OutcomeFamily {
  /// The families that occur in a list of outcomes, in their order, with their counts.
  static func kinds(of outcomes: [OutcomeTotal]) -> [(family: OutcomeFamily, count: Int)] {
    allCases.compactMap { family in
      let count = outcomes.reduce(0) {
        $0 + (OutcomeFamily(action: $1.action, reason: $1.reason) == family ? $1.count : 0)
      }
      return count > 0 ? (family, count) : nil
    }
  }
}
