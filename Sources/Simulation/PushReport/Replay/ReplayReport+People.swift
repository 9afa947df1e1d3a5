internal import PushModel
internal import PushReplay

/// Who is never reached.
extension ReplayReport {
  /// nil for results without people, and without somebody who never gets a push.
  var neverReached: Section? {
    guard let people = result.people, people.neverReached > 0 else { return nil }
    let table = Table(
      columns: [
        ("Mostly because", .text), ("Reason", .text), ("People", .number), ("Share", .number),
      ],
      rows: people.neverReasons.map { reason in
        [
          Table.Cell(OutcomeFamily(action: "none", reason: reason.reason).name),
          Table.Cell(reason.reason), Table.Cell(reason.people),
          Table.Cell(reason.people, of: people.neverReached)
            .bar(
              reason.people, of: people.neverReached,
              color: OutcomeFamily(action: "none", reason: reason.reason).color),
        ]
      }, caption: "Why people never get a push: the reason of most of their decisions",
      file: "never-reached")
    return Section(
      name: "people", heading: "People who never get a push",
      note: "<strong>\(Figures.exact(people.neverReached))</strong> of "
        + "\(Figures.count(people.people, "person", "people")).", charts: [], tables: [table])
  }
}
