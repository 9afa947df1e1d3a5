public import PushModel

/// Distinguishes records that occur in rows of users.csv and members.csv only from those of a
/// settings.ndjson, and merges such a row with the record that it replaces: a row replaces the
/// fields of its columns, and no more.
///
/// - Memory: 8 bytes a conversation.
/// - Source: formats.md, "CSV".
public struct CSVMerge: PartialRecords {
  /// How many users had records, and how many members each conversation had, when the rows began.
  private let userCount: Int
  private let memberCounts: [Int]

  /// All records of users and members that are new from now on are rows.
  init(rowsAfter settings: FanoutSettings) {
    userCount = settings.declaredCount
    memberCounts = settings.memberCounts
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
    // Nothing to merge where no record has fields beyond the columns.
    if try stored.hasUsers(withDevicesOr: UserSettings.fieldsBesideRows) {
      for number in 0..<UInt32(settings.userCount) {
        let index = UserIndex(number)
        guard isPartial(index, in: settings) else { continue }
        let id = settings.id(of: index)
        guard var user = try stored.user(id) else { continue }
        user.replaceWhatRowsSay(with: settings.user(index))
        settings.setUser(id, user)
      }
    }
    try stored.forEachChannelLevel { user, conversation, channel, level in
      guard let index = settings.index(of: user),
        isPartial(index, of: conversation, in: settings),
        var member = settings.member(index, of: conversation)
      else { return }
      member.channels[channel] = level
      settings.setMember(user, of: conversation, member)
    }
  }
}

extension UserSettings {
  /// A row of users.csv replaces the fields of a user's record that have columns.
  mutating func replaceWhatRowsSay(with row: UserSettings) {
    level = row.level
    quietHours = row.quietHours
    timeZone = row.timeZone
    mutedUntil = row.mutedUntil
  }

  /// The fields without a column, besides the devices.
  fileprivate static var fieldsBesideRows: VendorFields {
    [.kindLevels, .pushWhenDesktopOnline, .localNotification]
  }
}
