internal import PushModel
internal import PushReplay

/// The figures that come first.
extension ReplayReport {
  private struct Tile {
    let name: String
    let figure: String
    /// HTML.
    let more: String
  }

  var headline: Section {
    let names = roomNames
    var tiles = [
      Tile(
        name: "Messages", figure: Figures.exact(result.messages),
        more: roomsInWords),
      Tile(
        name: "Decisions", figure: Figures.short(result.decisions),
        more: "\(exact(result.decisions)); \(recipients) recipients a message"),
      Tile(
        name: "Pushes", figure: Figures.short(result.pushes),
        more: "\(exact(result.pushes)); \(pushesPerMessage) a message"),
      Tile(
        name: "Push rate", figure: Figures.share(result.pushes, of: result.decisions),
        more: "of all decisions; most of the rest: \(mostStopped)"),
    ]
    for unit in ["minute", "second"] {
      guard let peak = result.peaks.first(where: { $0.unit == unit && $0.by == "pushes" }),
        peak.pushes > 0
      else { continue }
      tiles.append(
        Tile(
          name: "Peak \(unit)", figure: "\(Figures.short(peak.pushes)) pushes",
          more: "\(Self.instant(peak)), \(Figures.count(peak.messages, "message")); "
            + "most in <bdi>\(Escaping.identifier(names[peak.conversation] ?? peak.conversation))</bdi>"
        ))
    }
    if let hold = result.hold, let peak = hold.releasePeak {
      tiles.append(
        Tile(
          name: "Held messages", figure: "\(Figures.short(peak.count)) pushes",
          more: "would be released in the minute \(CivilTime.text(peak.at)), if held pushes were "
            + "sent when they may be"))
    }
    let entries = tiles.map {
      "<div><dt>\($0.name)</dt><dd class=\"figure\">\($0.figure)</dd>"
        + "<dd class=\"more\">\($0.more)</dd></div>\n"
    }
    return Section(
      name: "headline", heading: "At a glance", note: "",
      body: "<dl class=\"tiles\">\n\(entries.joined())</dl>\n")
  }

  private func exact(_ number: Int) -> String { Figures.exact(number) }

  private var recipients: String {
    Figures.short(Double(result.decisions) / Double(max(1, result.messages)))
  }

  private var pushesPerMessage: String {
    Figures.short(Double(result.pushes) / Double(max(1, result.messages)))
  }

  /// The family that stopped most.
  private var mostStopped: String {
    let stopped = families.filter { $0.family != .pushed }.map { entry in
      (entry.family.name, entry.indices.reduce(0) { $0 + result.outcomes[$1].count })
    }
    guard let most = stopped.max(by: { $0.1 < $1.1 }) else { return "none" }
    return "\(most.0), \(Figures.share(most.1, of: result.decisions))"
  }

  /// When a peak was: to the second, if it is of a second.
  static func instant(_ peak: Peak) -> String {
    let time = CivilTime(peak.at)
    return "\(time.date) \(peak.unit == "second" ? time.timeWithSeconds : time.time)"
  }
}
