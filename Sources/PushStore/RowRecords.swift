internal import Foundation
internal import GRDB
internal import PushRules

// Rows of users.csv and members.csv replace what such a row can say, and no more.

extension Rows {
  /// Settings in which every record is whole: where only rows say something, the rest is what is
  /// stored.
  ///
  /// - Complexity: O(rows) and, for rows of members, O(levels of channels that are stored); O(1) for
  ///   settings without rows.
  func completed(_ settings: FanoutSettings) throws -> FanoutSettings {
    guard settings.hasRows else { return settings }
    var settings = settings
    try completeUsers(&settings)
    try completeMembers(&settings)
    return settings
  }

  private func completeUsers(_ settings: inout FanoutSettings) throws {
    // Nothing is to be kept where nobody has what a row cannot say.
    let hasMore = try Bool.fetchOne(
      db,
      sql: """
        SELECT EXISTS (SELECT 1 FROM users WHERE has_devices OR type_levels IS NOT NULL
          OR push_when_desktop_online OR local_information_missing OR local_handled_by_app)
        """)
    guard hasMore == true else { return }
    for place in 0..<UInt32(settings.userCount) where settings.isRow(UserIndex(place)) {
      let id = settings.id(of: UserIndex(place))
      guard var user = try user(id) else { continue }
      user.replaceWhatRowsSay(with: settings.user(UserIndex(place)))
      settings.setUser(id, user)
    }
  }

  private func completeMembers(_ settings: inout FanoutSettings) throws {
    let channels = try Row.fetchCursor(
      db,
      sql: """
        SELECT u.id, c.id, s.channel, s.level FROM member_channels s
          JOIN users u ON u.number = s.user JOIN conversations c ON c.number = s.conversation
        """)
    while let row = try channels.next() {
      let user = try id(row, 0, "users.id")
      let conversation = try id(row, 1, "conversations.id")
      guard let index = settings.index(of: user), settings.isRow(index, of: conversation),
        var member = settings.member(index, of: conversation)
      else { continue }
      member.channels[try id(row, 2, "member_channels.channel")] = try level(
        row, 3, "member_channels.level")
      settings.setMember(user, of: conversation, member)
    }
  }
}
