internal import PushFanout
internal import PushFiles
internal import PushModel

/// Finds settings that other rules do not have and would ignore.
struct RuleSwitch {
  private let version: FanoutVersion
  private let from: RuleSet
  /// Records that replace those of the version, and the app with the new rules.
  private let settings: FanoutSettings

  init(_ fanout: Fanout, _ settings: FanoutSettings) {
    version = fanout.currentVersion
    from = fanout.app.rules
    self.settings = settings
  }

  /// The first record that stays and sets what only the old rules have; nil for none.
  ///
  /// - Complexity: O(users + memberships).
  var problem: String? {
    guard from != settings.app.rules else { return nil }
    var found: String?
    func note(_ record: @autoclosure () -> String, _ field: String?) {
      guard found == nil, let field else { return }
      let what = "\(field) of \(record())"
      found = "\(FileProblem.Problem.fieldOfOtherRules(what, from, rules: settings.app.rules))"
    }
    version.forEachUser { id, user in
      if settings.index(of: id).map({ settings.isDeclared($0) }) ?? false { return }
      note("the user \"\(id)\"", field(of: user))
    }
    version.forEachConversation { id, conversation in
      if !settings.isDeclared(id) { note("the conversation \"\(id)\"", field(of: conversation)) }
      guard found == nil else { return }
      version.forEachMember(of: id) { user, member in
        if settings.index(of: user).flatMap({ settings.member($0, of: id) }) != nil { return }
        note("the member \"\(user)\" of \"\(id)\"", field(of: member))
      }
    }
    return found
  }

  /// What the old rules have and the new ones do not.
  private var lost: VendorFields { from.fields.subtracting(settings.app.rules.fields) }

  private func field(of user: UserSettings) -> String? { field(of: user, user.level) }
  private func field(of member: MemberSettings) -> String? { field(of: member, member.level) }

  private func field(of conversation: ConversationSettings) -> String? {
    if !conversation.kind.exists(under: settings.app.rules) {
      return "the type \(conversation.kind.rawValue)"
    }
    return conversation.level.isSet && lost.contains(.groupLevel) ? "the \"level\"" : nil
  }

  private func field<Record: RecordFields>(
    of record: Record, _ level: NotificationLevel
  ) -> String? {
    var first = FirstField(of: lost, in: record)
    Record.visitFields(&first)
    if let name = first.name { return "the \"\(name)\"" }
    return level.exists(under: settings.app.rules) ? nil : "the level \(level.name)"
  }
}

/// Finds the first field of a record that is set and that some rules have.
private struct FirstField<Record>: FieldVisitor {
  private let fields: VendorFields
  private let record: Record
  private(set) var name: StaticString?

  init(of fields: VendorFields, in record: Record) { (self.fields, self.record) = (fields, record) }

  mutating func visit(_ field: RecordField<Record>) {
    guard name == nil, let owner = field.owner(in: record) else { return }
    if !owner.isDisjoint(with: fields) { name = field.name }
  }
}
