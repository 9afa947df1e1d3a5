internal import PushModel
internal import PushReplay
internal import PushSupport

/// Who is never reached, and who gets most.
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

  // MARK: Who gets most

  /// nil for results without people.
  var top: Section? {
    guard let top = result.top, let first = top.people.first else { return nil }
    let names = roomNames
    let sum = top.people.reduce(0) { $0 + $1.pushes }
    let people = Table(
      columns: [
        ("User", .text), ("Pushes", .number), ("Days with one", .number), ("Most from", .text),
        ("Share", .number),
      ],
      rows: top.people.map { person in
        [
          Table.Cell(id: person.id),
          Table.Cell(person.pushes).bar(
            person.pushes, of: first.pushes, color: OutcomeFamily.pushed.color),
          Table.Cell(person.days),
          Table.Cell(room: person.conversation, name: names[person.conversation]),
          Table.Cell(person.share, of: person.pushes),
        ]
      }, becomesCards: true, caption: "People by pushes", file: "top-people")
    let reached = (result.people?.people ?? 0) - (result.people?.neverReached ?? 0)
    let command = "\(top.follow ?? "replay --follow-user") \(TerminalText.shellWord(first.id))"
    let isAll = top.people.count == reached
    let note =
      (isAll
        ? "All \(Figures.count(reached, "person", "people")) who got one. "
        : "The first \(Figures.exact(top.people.count)) of "
          + "\(Figures.exact(reached)) people who got one have "
          + "<strong>\(Figures.share(sum, of: result.pushes))</strong> of all pushes. ")
      + "What the first one got, message by message: "
      + "<code>\(Escaping.identifier(command, limit: 2000))</code>"
    let (rooms, senders) = (topRooms(top.limit), topSenders(top))
    return Section(
      name: "top", heading: "People with most pushes", note: note,
      body: people.boxed + "<div class=\"pair\">\n\(rooms.boxed)\(senders.boxed)</div>\n",
      tables: [people, rooms, senders])
  }

  private func topRooms(_ limit: Int) -> Table {
    let rooms = result.conversationTable.filter { $0.pushes > 0 }.sorted {
      $0.pushes != $1.pushes
        ? $0.pushes > $1.pushes : $0.id.utf8.lexicographicallyPrecedes($1.id.utf8)
    }
    return Table(
      columns: [("Room", .text), ("Messages", .number), ("Pushes", .number), ("Share", .number)],
      rows: rooms.prefix(limit).map { room in
        [
          Table.Cell(room: room.id, name: room.name), Table.Cell(room.messages),
          Table.Cell(room.pushes), Table.Cell(room.pushes, of: result.pushes),
        ]
      }, becomesCards: true, caption: "Rooms by pushes", file: "top-rooms")
  }

  private func topSenders(_ top: TopPushes) -> Table {
    Table(
      columns: [("Sender", .text), ("Messages", .number), ("Pushes", .number), ("Share", .number)],
      rows: top.senders.map { sender in
        [
          Table.Cell(id: sender.id), Table.Cell(sender.messages), Table.Cell(sender.pushes),
          Table.Cell(sender.pushes, of: result.pushes),
        ]
      }, becomesCards: true, caption: "Senders by the pushes of their messages",
      file: "top-senders")
  }
}
