public import PushModel

/// Distinguishes records that occur in rows of users.csv and members.csv only from those of a
/// settings.ndjson, and merges such a row with the record that is stored: a row replaces the fields
/// that its file has columns of, and no more.
///
/// - Memory: 8 bytes a conversation.
/// - Source: formats.md, "CSV".
public struct CSVMerge: PartialRecords {
  /// How many users had records, and how many members each conversation had, when the rows began.
  private let userCount: Int
  private let memberCounts: [Int]
  /// What the files have columns of; nil before the first.
  private var userFields: RowFields?
  private var memberFields: RowFields?

  /// All records of users and members that are new from now on are rows.
  init(rowsAfter settings: FanoutSettings) {
    userCount = settings.declaredCount
    memberCounts = settings.memberCounts
  }

  /// Begins a file.
  ///
  /// - Returns: whether its rows have the fields of the files before: a field of one file and not of
  ///   another would be both replaced and kept.
  mutating func begin(_ columns: CSVColumns, isUsers: Bool) -> Bool {
    let fields = isUsers ? UserColumns.fields(columns) : MemberColumns.fields(columns)
    let before = isUsers ? userFields : memberFields
    if isUsers { userFields = fields } else { memberFields = fields }
    return before == nil || before == fields
  }

  /// Whether the user occurs in rows of users.csv only.
  public func isPartial(_ user: UserIndex, in settings: FanoutSettings) -> Bool {
    settings.recordOrder(of: user).map { $0 >= userCount } ?? false
  }

  /// Whether the member occurs in rows of members.csv only.
  public func isPartial(
    _ user: UserIndex, of conversation: Identifier, in settings: FanoutSettings
  ) -> Bool {
    guard let order = settings.recordOrder(of: user, in: conversation) else { return false }
    return order.conversation >= memberCounts.count
      || order.member >= memberCounts[order.conversation]
  }

  /// - Complexity: O(rows) and, for rows of members, O(levels of channels that are stored).
  public func complete(
    _ settings: inout FanoutSettings, from stored: some StoredRecords
  ) throws {
    guard try stored.hasRecords() else { return }
    if let userFields { try completeUsers(userFields, &settings, from: stored) }
    if let memberFields { try completeMembers(memberFields, &settings, from: stored) }
  }

  private func completeUsers(
    _ fields: RowFields, _ settings: inout FanoutSettings, from stored: some StoredRecords
  ) throws {
    // Nothing to merge where rows have every field that any record has.
    guard
      try fields != UserColumns.allFields
        || stored.hasUsers(withDevicesOr: UserSettings.list.besideRows)
    else { return }
    for number in 0..<UInt32(settings.userCount) {
      let index = UserIndex(number)
      guard isPartial(index, in: settings) else { continue }
      let id = settings.id(of: index)
      guard var user = try stored.user(id) else { continue }
      user.replace(fields, with: settings.user(index))
      settings.setUser(id, user)
    }
  }

  private func completeMembers(
    _ fields: RowFields, _ settings: inout FanoutSettings, from stored: some StoredRecords
  ) throws {
    // What rules have beside channels is read with the whole record.
    let others = MemberColumns.fieldsBeside.subtracting(.channels)
    guard
      fields != MemberColumns.allFields || !others.isDisjoint(with: settings.app.rules.fields)
    else {
      return try stored.forEachChannelLevel { user, conversation, channel, level in
        guard let index = settings.index(of: user),
          isPartial(index, of: conversation, in: settings),
          var member = settings.member(index, of: conversation)
        else { return }
        member.channels[channel] = level
        settings.setMember(user, of: conversation, member)
      }
    }
    for conversation in settings.conversationIDs {
      for index in settings.members(of: conversation)
      where isPartial(index, of: conversation, in: settings) {
        let user = settings.id(of: index)
        guard let row = settings.member(index, of: conversation),
          var member = try stored.member(user, of: conversation)
        else { continue }
        member.replace(fields, with: row)
        settings.setMember(user, of: conversation, member)
      }
    }
  }
}
