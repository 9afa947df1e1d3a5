public import PushModel

/// What a writer of the crash tests has written after so many writes: known to the one who writes
/// and to the one who looks at what is left.
///
/// The numbered writes of a writer change and remove several records each; the writer's own user
/// says the number of the last one. A store is right when every record is as that number says.
public struct WriterModel: Sendable {
  /// The key of a membership.
  public struct Place: Hashable, Sendable {
    public let user: Identifier
    public let conversation: Identifier
  }

  /// What one write sets and removes, all or nothing.
  public struct Write: Sendable {
    public var users: [Identifier: UserSettings] = [:]
    public var members: [Place: MemberSettings] = [:]
    /// A user who goes with all memberships.
    public var removedUser: Identifier?
    public var removedMember: Place?
    /// A conversation that goes with all memberships.
    public var removedConversation: Identifier?
  }

  public let writer: Int
  /// Whether its writes are imports of many records.
  public let imports: Bool
  /// How many writes there were.
  public private(set) var count: Int64 = 0
  /// What there is after them; nil was removed.
  private var users: [Identifier: UserSettings?] = [:]
  private var members: [Place: MemberSettings?] = [:]

  /// So many users an import has.
  public static let importedUsers = 1000

  public init(writer: Int, imports: Bool) {
    self.writer = writer
    self.imports = imports
  }

  /// The user that says the number of the last write.
  public var counter: Identifier { Identifier("w\(writer)") }
  /// A conversation that stays, and one that is removed now and then.
  public var group: Identifier { Identifier("g\(writer)") }
  public var hall: Identifier { Identifier("h\(writer)") }

  /// The write of a number, from 1.
  public func write(_ number: Int64) -> Write {
    var write = Write()
    write.users[counter] = Self.user(number)
    if imports {
      for place in 0..<Self.importedUsers {
        let id = Identifier("w\(writer)-i\(place)")
        write.users[id] = Self.user(number)
        if place % 4 == 0 {
          write.members[Place(user: id, conversation: group)] = Self.member(number)
        }
      }
      return write
    }
    for place in 0..<number % 4 {
      let id = id(number * 7 + place)
      write.users[id] = Self.user(number)
      for conversation in [group, hall] {
        write.members[Place(user: id, conversation: conversation)] = Self.member(number)
      }
    }
    // Each of what an earlier write has made, and of no write of this number.
    switch number % 16 {
    case 4: write.removedUser = id((number - 1) * 7)
    case 8: write.removedMember = Place(user: id((number - 1) * 7 + 1), conversation: group)
    case 12: write.removedConversation = hall
    default: break
    }
    return write
  }

  private func id(_ number: Int64) -> Identifier { Identifier("w\(writer)-\(number % 60)") }

  /// Takes over the writes up to a number.
  public mutating func advance(to number: Int64) {
    // Each import sets the same records.
    if imports, count < number - 1 { count = number - 1 }
    while count < number {
      count += 1
      let write = write(count)
      users.merge(write.users.mapValues { $0 }) { _, new in new }
      members.merge(write.members.mapValues { $0 }) { _, new in new }
      if let user = write.removedUser { users[user] = .some(nil) }
      if let place = write.removedMember { members[place] = .some(nil) }
      for place in Array(members.keys)
      where place.user == write.removedUser || place.conversation == write.removedConversation {
        members[place] = .some(nil)
      }
    }
  }

  /// Adds what there is to settings.
  public func add(to settings: inout FanoutSettings) {
    for (id, user) in users { if let user { settings.setUser(id, user) } }
    for (place, member) in members {
      if let member { settings.setMember(place.user, of: place.conversation, member) }
    }
  }

  /// What differs from the model, nil for nothing.
  public func difference(
    users found: (Identifier) -> UserSettings?, members foundMember: (Place) -> MemberSettings?
  ) -> String? {
    // Engines know no difference between a user who was removed and one without settings.
    for (id, user) in users where found(id) ?? UserSettings() != user ?? UserSettings() {
      return "user \(id) after write \(count): \(String(describing: found(id))), not "
        + String(describing: user)
    }
    for (place, member) in members where foundMember(place) != member {
      return "\(place) after write \(count): \(String(describing: foundMember(place))), not "
        + String(describing: member)
    }
    return nil
  }

  private static func user(_ number: Int64) -> UserSettings {
    var user = UserSettings()
    user.level = [.all, .mention, .blocked, .unset][Int(number % 4)]
    user.mutedUntil = Instant(milliseconds: number)
    let hour = Int(number % 24)
    let interval = try? QuietInterval(startHour: hour, startMinute: 0, endHour: 7, endMinute: 30)
    user.quietHours = interval.map { .interval($0) }
    if number % 3 == 0 { user.devices = [Device(id: Identifier("p\(number)")), Device(id: "q")] }
    return user
  }

  private static func member(_ number: Int64) -> MemberSettings {
    MemberSettings(
      level: number % 2 == 0 ? .mention : .unset, mutedUntil: Instant(milliseconds: number),
      since: Instant(milliseconds: 1))
  }
}
