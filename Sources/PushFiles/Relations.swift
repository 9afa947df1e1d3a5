internal import PushRules

/// What records say of each other, to be judged when all are read.
struct Relations {
  private struct Membership {
    let conversation: Identifier
    let user: Identifier
    let saidSince: Bool
    let saysChannels: Bool
    let place: SettingsLoader.Place
  }

  private var kinds: [Identifier: ConversationKind] = [:]
  private var threads: [(id: Identifier, place: SettingsLoader.Place)] = []
  private var memberships: [Membership] = []

  mutating func noteConversation(
    _ id: Identifier, _ conversation: ConversationSettings, _ place: SettingsLoader.Place
  ) {
    kinds[id] = conversation.kind
    if conversation.kind == .thread { threads.append((id: id, place: place)) }
  }

  /// Notes a membership unless its conversation is known to be of a kind that asks nothing of it.
  mutating func noteMember(
    _ conversation: Identifier, _ user: Identifier, _ member: MemberSettings, saidSince: Bool,
    _ place: SettingsLoader.Place
  ) {
    let saysChannels = !member.channels.isEmpty
    if !saysChannels, let kind = kinds[conversation], kind != .thread { return }
    memberships.append(
      Membership(
        conversation: conversation, user: user, saidSince: saidSince, saysChannels: saysChannels,
        place: place))
  }

  func problems(in settings: FanoutSettings) -> [SettingsLoader.Located] {
    var problems: [SettingsLoader.Located] = []
    let report = { (place: SettingsLoader.Place, problem: FileProblem.Problem) in
      problems.append(SettingsLoader.Located(place: place, hasLine: true, problem: problem))
    }
    for (id, place) in threads {
      // A record that another one has replaced is not judged.
      guard let thread = settings.conversation(id), thread.kind == .thread,
        let parent = thread.parent, threads.last(where: { $0.id == id })?.place == place
      else { continue }
      switch settings.conversation(parent)?.kind {
      case nil: report(place, .parentMissing(parent.text))
      case .group: break
      default: report(place, .parentNotGroup(parent.text))
      }
    }
    for membership in memberships {
      let conversation = membership.conversation
      let kind = settings.conversation(conversation)?.kind
      if membership.saysChannels, kind != .ultraGroup {
        report(membership.place, .channelsOutsideUltraGroup(conversation.text))
      }
      guard kind == .thread, let parent = settings.conversation(conversation)?.parent else {
        continue
      }
      if membership.saidSince {
        report(membership.place, .sinceInThread(conversation.text))
      } else if let user = settings.index(of: membership.user),
        settings.member(user, of: parent) == nil
      {
        report(membership.place, .notInParent(user: membership.user.text, parent: parent.text))
      }
    }
    return problems
  }
}
