internal import PushRules

/// What records say of each other, to be judged when all are read.
struct Relations {
  private struct Membership {
    let conversation: Identifier
    let user: Identifier
    let said: SettingsRecord.Said
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
    _ conversation: Identifier, _ user: Identifier, _ said: SettingsRecord.Said,
    _ place: SettingsLoader.Place, kindsAreFinal: Bool
  ) {
    if kindsAreFinal, threads.isEmpty, !saysChannels { return }
    saysChannels = saysChannels || said.channels
    // Once some record says channels, each is noted: it may replace that one.
    if !saysChannels, kinds[conversation]?.kind ?? (kindsAreFinal ? .group : .thread) != .thread {
      return
    }
    memberships.append(
      Membership(conversation: conversation, user: user, said: said, place: place))
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
    return places.compactMap { id, place in
      guard let thread = settings.conversation(id), thread.kind == .thread,
        let parent = thread.parent
      else { return nil }
      switch settings.conversation(parent)?.kind {
      case nil: return problem(place, .parentMissing(parent.text))
      case .group: return nil
      default: return problem(place, .parentNotGroup(parent.text))
      }
    }
  }

  private func membershipProblems(in settings: some SettingsSink) -> [SettingsLoader.Located] {
    guard saysChannels || !threads.isEmpty || settings.isAdded else { return [] }
    var problems: [SettingsLoader.Located] = []
    var judged: Set<[Identifier]> = []
    for membership in memberships.reversed() {
      let id = membership.conversation
      let conversation = settings.conversation(id) ?? ConversationSettings()
      let isThread = conversation.kind == .thread
      guard isThread || saysChannels, judged.insert([id, membership.user]).inserted else {
        continue
      }
      if membership.said.channels, conversation.kind != .ultraGroup {
        problems.append(problem(membership.place, .channelsOutsideUltraGroup(id.text)))
      } else if isThread, membership.said.since {
        problems.append(problem(membership.place, .sinceInThread(id.text)))
      } else if isThread, let parent = conversation.parent,
        settings.conversation(parent)?.kind == .group,
        !settings.isMember(membership.user, of: parent)
      {
        problems.append(
          problem(
            membership.place, .notInParent(user: membership.user.text, parent: parent.text)))
      }
    }
    return problems
  }

  private func problem(
    _ place: SettingsLoader.Place, _ problem: FileProblem.Problem
  ) -> SettingsLoader.Located {
    SettingsLoader.Located(place: place, hasLine: true, problem: problem)
  }
}
