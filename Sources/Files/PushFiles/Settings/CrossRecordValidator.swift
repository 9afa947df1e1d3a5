internal import PushFanout
package import PushModel

/// Checks references between records when all are read, each by the
/// ``CrossRecordRules``; a problem is reported at the line of the record.
struct CrossRecordValidator {
  private struct Membership {
    let conversation: Identifier
    let user: Identifier
    let present: PresentFields
    let location: SettingsLoader.Location

    init(
      conversation: Identifier, user: Identifier, present: PresentFields,
      location: SettingsLoader.Location
    ) {
      self.conversation = conversation
      self.user = user
      self.present = present
      self.location = location
    }

    /// A row of columns.
    init(
      _ conversation: Identifier, _ columns: MembershipColumns, _ row: Int,
      behind location: SettingsLoader.Location
    ) {
      self.init(
        conversation: conversation, user: columns.user(at: row),
        present: columns.member(at: row).present,
        location: SettingsLoader.Location(
          file: location.file, line: location.line + columns.line(at: row)))
    }
  }

  /// Memberships to be judged when all records are read.
  private enum NotedMembers {
    case member(Membership)
    /// Stretches of columns, and the line before the first of the columns' piece.
    indirect case stretches([Int], MembershipColumns, SettingsLoader.Location)
  }

  /// The last record of each conversation, and its location.
  private var kinds: [Identifier: (kind: ConversationKind, location: SettingsLoader.Location)] = [:]
  private var threads: [(id: Identifier, location: SettingsLoader.Location)] = []
  private var memberships: [NotedMembers] = []
  /// Whether a record says what only some conversations have: each is then noted.
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
    saysChannels = saysChannels || present.channels || present.roles || present.follow
    guard notesMembers(of: conversation, kindsAreFinal: kindsAreFinal) else { return }
    memberships.append(
      .member(
        Membership(conversation: conversation, user: user, present: present, location: location)))
  }

  /// Whether memberships of a conversation are to be noted, as far as is known by now.
  private func notesMembers(
    of conversation: @autoclosure () -> Identifier, kindsAreFinal: Bool
  ) -> Bool {
    // Once a record has channels, each is noted: it may replace that one.
    if saysChannels { return true }
    if kindsAreFinal, threads.isEmpty { return false }
    return kinds[conversation()]?.kind ?? (kindsAreFinal ? .group : .thread) == .thread
  }

  /// Notes memberships without channels, as ``noteMember(_:_:_:_:kindsAreFinal:)`` does.
  ///
  /// - Parameter location: the line before the first of the columns' piece.
  mutating func noteMembers(
    _ columns: MembershipColumns, _ stretches: Range<Int>, _ location: SettingsLoader.Location,
    kindsAreFinal: Bool
  ) {
    if kindsAreFinal, threads.isEmpty, !saysChannels { return }
    let noted = stretches.filter {
      notesMembers(of: columns.conversation(of: $0), kindsAreFinal: kindsAreFinal)
    }
    if !noted.isEmpty { memberships.append(.stretches(noted, columns, location)) }
  }

  /// What is wrong between the records. One that another has replaced is not judged.
  ///
  /// - Parameter overlay: the records over those of a world that they are added to, if they are.
  func problems<Lookup: RecordLookup>(
    in settings: Lookup, over overlay: SettingsOverlay? = nil
  ) -> [SettingsLoader.Located] where Lookup.LookupFailure == Never {
    threadProblems(in: settings) + membershipProblems(in: settings, isAdded: overlay != nil)
      + kinds.compactMap { id, last in
        overlay?.problem(replacing: id).map { problem(last.location, $0) }
      }
  }

  private func threadProblems<Lookup: RecordLookup>(
    in settings: Lookup
  ) -> [SettingsLoader.Located] where Lookup.LookupFailure == Never {
    var locations: [Identifier: SettingsLoader.Location] = [:]
    for thread in threads { locations[thread.id] = thread.location }
    let rules = CrossRecordRules(settings)
    return locations.compactMap { id, location in
      settings.conversation(id).flatMap { rules.problem(of: id, $0) }.map { problem(location, $0) }
    }
  }

  private func membershipProblems<Lookup: RecordLookup>(
    in settings: Lookup, isAdded: Bool
  ) -> [SettingsLoader.Located] where Lookup.LookupFailure == Never {
    guard saysChannels || !threads.isEmpty || isAdded else { return [] }
    let rules = CrossRecordRules(settings)
    func contradiction(_ membership: Membership, _ own: ConversationSettings)
      -> RecordContradiction?
    {
      rules.problem(
        of: membership.user, in: membership.conversation, own, MemberSettings(), membership.present)
    }
    // Mostly none is wrong, and nothing about any need be kept.
    var areRight = true
    forEachMembership(in: settings) { areRight = areRight && contradiction($0, $1) == nil }
    if areRight { return [] }
    var problems: [SettingsLoader.Located] = []
    var judged: Set<[Identifier]> = []
    // From the last record to the first, as only the last of a member counts.
    forEachMembership(in: settings) { membership, own in
      guard judged.insert([membership.conversation, membership.user]).inserted else { return }
      if let wrong = contradiction(membership, own) {
        problems.append(problem(membership.location, wrong))
      }
    }
    return problems
  }

  /// Calls a function with the noted memberships that something is asked of, from the last to the first,
  /// and their conversations.
  private func forEachMembership<Lookup: RecordLookup>(
    in settings: Lookup, _ body: (Membership, ConversationSettings) -> Void
  ) where Lookup.LookupFailure == Never {
    for noted in memberships.reversed() {
      switch noted {
      case .member(let membership):
        let conversation = settings.conversation(membership.conversation) ?? ConversationSettings()
        if conversation.kind == .thread || saysChannels { body(membership, conversation) }
      case .stretches(let stretches, let columns, let location):
        for stretch in stretches.reversed() {
          let id = columns.conversation(of: stretch)
          let conversation = settings.conversation(id) ?? ConversationSettings()
          guard conversation.kind == .thread || saysChannels else { continue }
          for row in columns.rows(of: stretch).reversed() {
            body(Membership(id, columns, row, behind: location), conversation)
          }
        }
      }
    }
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
      case .parentWithoutThreads(_, let parent, let kind):
        .parentWithoutThreads(parent.text, kind)
      case .followOutsideThread(_, let id): .followOutsideThread(id.text)
      case .rolesInThread(_, let thread): .rolesInThread(thread.text)
      case .noParent(_, let thread): .noParent(thread.text)
      case .notInParent(let user, _, let parent):
        .notInParent(user: user.text, parent: parent.text)
      }
  }
}
