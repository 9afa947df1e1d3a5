public import PushModel

/// What a writer of the crash tests has written after so many writes: known to the one who writes
/// and to the one who looks at what is left.
///
/// The numbered writes of a writer change several records each; the writer's own user says the number
/// of the last one. A store is right when every record is as that number says.
public struct WriterModel: Sendable {
  /// What one write sets, all or nothing.
  public struct Write: Sendable {
    public var users: [Identifier: UserSettings] = [:]
    public var members: [Identifier: MemberSettings] = [:]
  }

  public let writer: Int
  /// Whether its writes are imports of many records.
  public let imports: Bool
  /// How many writes there were.
  public private(set) var count: Int64 = 0
  /// What there is after them.
  public private(set) var state = Write()

  /// So many users an import has.
  public static let importedUsers = 1000

  public init(writer: Int, imports: Bool) {
    self.writer = writer
    self.imports = imports
  }

  /// The user that says the number of the last write.
  public var counter: Identifier { Identifier("w\(writer)") }
  public var group: Identifier { Identifier("g\(writer)") }

  /// The write of a number, from 1.
  public func write(_ number: Int64) -> Write {
    var write = Write()
    write.users[counter] = Self.user(number)
    if imports {
      for place in 0..<Self.importedUsers {
        let id = Identifier("w\(writer)-i\(place)")
        write.users[id] = Self.user(number)
        if place % 4 == 0 { write.members[id] = Self.member(number) }
      }
    } else {
      for place in 0..<number % 4 {
        let id = Identifier("w\(writer)-\((number * 7 + place) % 60)")
        write.users[id] = Self.user(number)
        write.members[id] = Self.member(number)
      }
    }
    return write
  }

  /// Takes over the writes up to a number.
  public mutating func advance(to number: Int64) {
    // Each import sets the same records.
    if imports, count < number - 1 { count = number - 1 }
    while count < number {
      count += 1
      let write = write(count)
      state.users.merge(write.users) { _, new in new }
      state.members.merge(write.members) { _, new in new }
    }
  }

  /// What differs from the model, nil for nothing.
  public func difference(
    users: (Identifier) -> UserSettings?, members: (Identifier) -> MemberSettings?
  ) -> String? {
    for (id, user) in state.users where users(id) != user {
      return "user \(id) after write \(count): \(String(describing: users(id))), not \(user)"
    }
    for (id, member) in state.members where members(id) != member {
      return "member \(id) after write \(count): \(String(describing: members(id))), not \(member)"
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
