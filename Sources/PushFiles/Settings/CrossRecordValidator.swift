package import PushModel

/// Checks references between records when all are read, each by the
/// ``CrossRecordRules``; a problem is reported at the line of the record.
struct CrossRecordValidator {
  private struct Membership {
    let conversation: Identifier
    let user: Identifier
    let present: PresentFields
    let location: SettingsLoader.Location
  }

  /// The last record of each conversation, and its location.
  private var kinds: [Identifier: (kind: ConversationKind, location: SettingsLoader.Location)] = [:]
  private var threads: [(id: Identifier, location: SettingsLoader.Location)] = []
  private var memberships: [Membership] = []
  private var saysChannels = false

  mutating func noteConversation(
    _ id: Identifier, _ conversation: ConversationSettings, _ location: SettingsLoader.Location
  ) {
    kinds[id] = (conversation.kind, location)
    if conversation.kind == .thread { threads.append((id: id, location: location)) }
  }

  /// Notes a membership unless its conversation is known to be of a kind that asks nothing of it.
  ///
  /// - Parameter kindsAreFinal: whether all settings files are read; other files have no kinds.
  mutating func noteMember(
    _ conversation: Identifier, _ user: Identifier, _ present: PresentFields,
    _ location: SettingsLoader.Location, kindsAreFinal: Bool
  ) {
    if kindsAreFinal, threads.isEmpty, !saysChannels { return }
    saysChannels = saysChannels || present.channels
    // Once a record has channels, each is noted: it may replace that one.
    if !saysChannels, kinds[conversation]?.kind ?? (kindsAreFinal ? .group : .thread) != .thread {
      return
    }
    memberships.append(
      Membership(conversation: conversation, user: user, present: present, location: location))
  }

  /// What is wrong between the records. One that another has replaced is not judged.
  func problems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    threadProblems(in: settings) + membershipProblems(in: settings) + overlayProblems(in: settings)
  }

  /// What is wrong between the records and those of the world that they are added to.
  private func overlayProblems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    guard settings.isAdded else { return [] }
    return kinds.compactMap { id, last in
      settings.problem(replacing: id).map { problem(last.location, $0) }
    }
  }

  private func threadProblems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    var locations: [Identifier: SettingsLoader.Location] = [:]
    for thread in threads { locations[thread.id] = thread.location }
    let rules = CrossRecordRules(settings)
    return locations.compactMap { id, location in
      settings.conversation(id).flatMap { rules.problem(of: id, $0) }.map { problem(location, $0) }
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
      if let wrong { problems.append(problem(membership.location, wrong)) }
    }
    return problems
  }

  private func problem(
    _ location: SettingsLoader.Location, _ wrong: RecordContradiction
  ) -> SettingsLoader.Located {
    problem(location, FileProblem.Problem(wrong))
  }

  private func problem(
    _ location: SettingsLoader.Location, _ problem: FileProblem.Problem
  ) -> SettingsLoader.Located {
    SettingsLoader.Located(location: location, hasLine: true, problem: problem)
  }
}

extension FileProblem.Problem {
  /// A contradiction between records, as a problem of a line of a file.
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
