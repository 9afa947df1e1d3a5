package import PushRules

/// Checks the records of a world against each other when all are read, each by the
/// ``CrossRecordRules``; a problem is reported at the line of the record.
struct CrossRecordValidator {
  private struct Membership {
    let conversation: Identifier
    let user: Identifier
    let present: PresentFields
    let place: SettingsLoader.Place
  }

  /// What each conversation was last said to be, and where.
  private var kinds: [Identifier: (kind: ConversationKind, place: SettingsLoader.Place)] = [:]
  private var threads: [(id: Identifier, place: SettingsLoader.Place)] = []
  private var memberships: [Membership] = []
  private var saysChannels = false

  mutating func noteConversation(
    _ id: Identifier, _ conversation: ConversationSettings, _ place: SettingsLoader.Place
  ) {
    kinds[id] = (conversation.kind, place)
    if conversation.kind == .thread { threads.append((id: id, place: place)) }
  }

  /// Notes a membership unless its conversation is known to be of a kind that asks nothing of it.
  ///
  /// - Parameter kindsAreFinal: whether all settings files are read; other files say no kinds.
  mutating func noteMember(
    _ conversation: Identifier, _ user: Identifier, _ present: PresentFields,
    _ place: SettingsLoader.Place, kindsAreFinal: Bool
  ) {
    if kindsAreFinal, threads.isEmpty, !saysChannels { return }
    saysChannels = saysChannels || present.channels
    // Once some record says channels, each is noted: it may replace that one.
    if !saysChannels, kinds[conversation]?.kind ?? (kindsAreFinal ? .group : .thread) != .thread {
      return
    }
    memberships.append(
      Membership(conversation: conversation, user: user, present: present, place: place))
  }

  /// What is wrong between the records. One that another has replaced is not judged.
  func problems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    threadProblems(in: settings) + membershipProblems(in: settings) + worldProblems(in: settings)
  }

  /// What is wrong between the records and those of the world that they are added to.
  private func worldProblems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    guard settings.isAdded else { return [] }
    return kinds.compactMap { id, last in
      settings.problem(replacing: id).map { problem(last.place, $0) }
    }
  }

  private func threadProblems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    var places: [Identifier: SettingsLoader.Place] = [:]
    for thread in threads { places[thread.id] = thread.place }
    let rules = CrossRecordRules(settings)
    return places.compactMap { id, place in
      settings.conversation(id).flatMap { rules.problem(of: id, $0) }.map { problem(place, $0) }
    }
  }

  private func membershipProblems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    guard saysChannels || !threads.isEmpty || settings.isAdded else { return [] }
    let rules = CrossRecordRules(settings)
    var problems: [SettingsLoader.Located] = []
    var judged: Set<[Identifier]> = []
    for membership in memberships.reversed() {
      let id = membership.conversation
      let conversation = settings.conversation(id) ?? ConversationSettings()
      guard conversation.kind == .thread || saysChannels,
        judged.insert([id, membership.user]).inserted
      else { continue }
      let wrong = rules.problem(
        of: membership.user, in: id, conversation, MemberSettings(), membership.present)
      if let wrong { problems.append(problem(membership.place, wrong)) }
    }
    return problems
  }

  private func problem(
    _ place: SettingsLoader.Place, _ wrong: RecordContradiction
  ) -> SettingsLoader.Located {
    problem(place, FileProblem.Problem(wrong))
  }

  private func problem(
    _ place: SettingsLoader.Place, _ problem: FileProblem.Problem
  ) -> SettingsLoader.Located {
    SettingsLoader.Located(place: place, hasLine: true, problem: problem)
  }
}

extension FileProblem.Problem {
  /// A contradiction between records, as it is said of a line of a file.
  package init(_ contradiction: RecordContradiction) {
    self =
      switch contradiction {
      case .parentMissing(_, let parent): .parentMissing(parent.text)
      case .parentNotGroup(_, let parent, _): .parentNotGroup(parent.text)
      case .channelsOutsideUltraGroup(_, let id, _): .channelsOutsideUltraGroup(id.text)
      case .sinceInThread(_, let thread): .sinceInThread(thread.text)
      case .notInParent(let user, _, let parent):
        .notInParent(user: user.text, parent: parent.text)
      }
  }
}
