internal import PushModel
internal import PushReplay

/// What became of each message to one user or in one room.
extension ReplayReport {
  var follow: Section? {
    guard let follow = result.follow else { return nil }
    guard let first = follow.messages.first?.at, let last = follow.messages.last?.at else {
      return Section(
        name: "follow", heading: heading(follow),
        note: "No message of the replay was to be followed.", body: "")
    }
    let hour: Int64 = 3_600_000
    let lanes = OutcomeFamily.allCases.compactMap { family -> Strip.Lane? in
      let at = follow.messages.filter { Self.family($0) == family }.map(\.at)
      return at.isEmpty ? nil : Strip.Lane(name: family.laneName, at: at, color: family.color)
    }
    let strip = Strip(
      range: first / hour * hour...(last / hour + 1) * hour, lanes: lanes,
      label: "\(heading(follow)), a mark for each message by what became of it. "
        + lanes.map { "\($0.name): \(Figures.exact($0.at.count))" }.joined(separator: ", ")
        + ". The table below has every message.")
    let figure = ChartFigure(
      title: "Messages by what became of them, UTC", draw: strip.draw,
      remark: follow.user == nil
        ? "Each mark is a message, in the lane of what became of it for most recipients." : nil)
    return Section(
      name: "follow", heading: heading(follow), note: Self.note(follow), charts: [[figure]],
      tables: [table(follow)])
  }

  private func heading(_ follow: FollowResult) -> String {
    let room = follow.conversation.map { Self.name(roomNames[$0] ?? $0) }
    return switch (follow.user, room) {
    case (let user?, let room?): "Messages to \(Self.name(user)) in \(room)"
    case (let user?, nil): "Messages to \(Self.name(user))"
    case (nil, let room?): "Messages in \(room)"
    case (nil, nil): "Messages"
    }
  }

  /// An id in a heading, which is escaped there.
  private static func name(_ id: String) -> String { String(id.prefix(60)) }

  private static func note(_ follow: FollowResult) -> String {
    let pushed =
      follow.user == nil
      ? "of their recipients "
        + "\(Figures.exact(follow.messages.reduce(0) { $0 + ($1.pushes ?? 0) })) got a push"
      : "\(Figures.exact(follow.messages.count { family($0) == .pushed })) of them were pushed"
    let listed = follow.messages.count
    let left = follow.count - listed
    return "\(Figures.count(listed, "message")), \(pushed)."
      + (left == 0
        ? ""
        : " <strong>\(Figures.exact(left)) later messages are not listed</strong>: a result lists "
          + "the first \(Figures.exact(listed)); replay fewer messages, or follow one user in one "
          + "room, to see them.")
  }

  private static func family(_ message: FollowedMessage) -> OutcomeFamily {
    message.outcome.map { OutcomeFamily(action: $0.action, reason: $0.reason) } ?? .other
  }

  private func table(_ follow: FollowResult) -> Table {
    let names = roomNames
    let ofUser = follow.user != nil
    var columns: [(name: String, kind: Table.Kind)] = [("Time, UTC", .text)]
    if follow.conversation == nil { columns.append(("Room", .text)) }
    columns += [("From", .text), ("Mentions", .text)]
    if !ofUser { columns += [("Recipients", .number), ("Pushes", .number)] }
    columns.append((ofUser ? "What became of it, and why" : "Most often", .text))
    let rows = follow.messages.map { message in
      let time = CivilTime(message.at)
      var row = [Table.Cell("\(time.date) \(time.timeWithSeconds)")]
      if follow.conversation == nil {
        row.append(Table.Cell(room: message.conversation, name: names[message.conversation]))
      }
      row += [
        message.sender.map { Table.Cell(id: $0) } ?? Table.Cell("\u{2013}", value: ""),
        Table.Cell(Self.mentions(message, ofUser)),
      ]
      if !ofUser {
        row += [Table.Cell(message.recipients ?? 0), Table.Cell(message.pushes ?? 0)]
      }
      guard let outcome = message.outcome else {
        return row + [Table.Cell("There was no recipient.")]
      }
      return row + [Self.outcome(outcome.action, outcome.reason, outcome.scope)]
    }
    return Table(
      columns: columns, rows: rows, becomesCards: true, scrolls: true,
      caption: "Every message of the strip, and why it did or did not push", file: "messages")
  }

  private static func mentions(_ message: FollowedMessage, _ ofUser: Bool) -> String {
    switch (message.mentions, message.mentionsEveryone) {
    case (true, true): ofUser ? "by name, everyone" : "some by name, everyone"
    case (true, false): ofUser ? "by name" : "some by name"
    case (false, true): "everyone"
    case (false, false): "\u{2013}"
    }
  }
}

extension OutcomeFamily {
  /// As short as a lane wants it.
  fileprivate var laneName: String { self == .noDevice ? "no device" : name }
}
