internal import PushModel
public import PushReplay

/// What a replay says, in a few sentences.
extension ReplayReport {
  /// Pushes a person and day, the busiest minute, the morning peak, and who never gets one; of one
  /// user or room what became of its messages. Plain text.
  ///
  /// - Complexity: O(outcomes).
  public static func answer(_ result: ReplayResult) -> String {
    if let follow = result.follow { return answer(follow, result) }
    var parts: [String] = []
    if let people = result.people, people.personDays > 0 {
      let pushes = people.pushes
      let half =
        pushes.median == 0 ? "no push" : "at most \(Figures.count(pushes.median, "push", "pushes"))"
      parts.append(
        "Half of the person-days had \(half), nine in ten at most \(Figures.exact(pushes.p90)), "
          + "99 in a hundred at most \(Figures.exact(pushes.p99))")
    } else {
      parts.append(
        "\(Figures.short(result.pushes)) \(result.pushes == 1 ? "push" : "pushes"), "
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
    if let people = result.people, people.people > 0 {
      var text =
        "\(Figures.exact(people.neverReached)) of \(Figures.exact(people.people)) people never got "
        + "one"
      if let most = people.neverReasons.first {
        let family = OutcomeFamily(action: "none", reason: most.reason)
        text += ", the most frequent reason: \(family.name) (\(Figures.exact(most.people)))"
      }
      parts.append(text)
    }
    return parts.joined(separator: ". ") + "."
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
