internal import PushModel
public import PushReplay

/// What a replay says, in a few sentences.
extension ReplayReport {
  /// Pushes a person and day, the busiest minute, the morning peak, and who is never reached. Plain
  /// text.
  ///
  /// - Complexity: O(1).
  public static func answer(_ result: ReplayResult) -> String {
    var parts: [String] = []
    if let people = result.people, people.personDays > 0 {
      parts.append(
        "Pushes a person and day: median \(Figures.exact(people.pushes.median)), 90 % at most "
          + "\(Figures.exact(people.pushes.p90)), 99 % at most \(Figures.exact(people.pushes.p99))")
    } else {
      parts.append(
        "\(Figures.short(result.pushes)) pushes, "
          + "\(Figures.share(result.pushes, of: result.decisions)) of all decisions")
    }
    if let peak = result.peaks.first(where: { $0.unit == "minute" && $0.by == "pushes" }),
      peak.pushes > 0
    {
      parts.append(
        "Busiest minute: \(Figures.short(peak.pushes)) pushes (\(CivilTime.text(peak.at)) UTC)")
    }
    if let peak = result.hold?.releasePeak {
      parts.append(
        "Held pushes would make \(Figures.short(peak.count)) in the minute "
          + "\(CivilTime.text(peak.at)) UTC")
    }
    if let people = result.people, people.people > 0 {
      var text =
        "Never reached: \(Figures.exact(people.neverReached)) of "
        + "\(Figures.exact(people.people)) people"
      if let most = people.neverReasons.first {
        let family = OutcomeFamily(action: "none", reason: most.reason)
        text += ", mostly by \u{201C}\(family.name)\u{201D} (\(Figures.exact(most.people)))"
      }
      parts.append(text)
    }
    return parts.joined(separator: ". ") + "."
  }
}
