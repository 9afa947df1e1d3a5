public import PushModel

/// What is done with users whose time zone the system's database does not have, neither by its name
/// nor as a link (``ZoneLinks``).
///
/// Zones are added to the database and renamed, and packages leave some out: settings that were
/// written with one database may name a zone that another machine does not have.
public enum UnknownZones: String, Hashable, Sendable, CaseIterable {
  /// They cannot be added: adding them is an error. For settings that are written now.
  case fail
  /// They are kept, and not decided for: they are no recipients of any message, and a question about
  /// one of them is an error. For settings that were accepted elsewhere or earlier.
  case refuse
  /// They are decided as if they had no quiet hours.
  case ignore
}

/// Users whose time zone the system's database does not have, for a message that says what to do.
public struct UnknownZoneUsers: Hashable, Sendable, CustomStringConvertible {
  /// One of them.
  public struct User: Hashable, Sendable {
    /// The user.
    public let id: Identifier
    /// The zone that the user's settings need, as it is written there.
    public let timeZone: String

    /// A user and the zone.
    public init(_ id: Identifier, timeZone: String) {
      self.id = id
      self.timeZone = timeZone
    }
  }

  /// How many are named.
  public static let limit = 5

  /// The first of them, up to ``limit``.
  public private(set) var first: [User] = []
  /// How many there are.
  public private(set) var count = 0

  /// No users.
  public init() {}

  /// One user.
  public init(_ user: User) { add(user) }

  /// Adds a user, who was not added before.
  public mutating func add(_ user: User) {
    count += 1
    if first.count < Self.limit { first.append(user) }
  }

  /// Adds users who are known by their number.
  public mutating func add(moreUsers more: Int) { count += more }

  /// Who they are, and their zones.
  public var names: String {
    let named = first.map { "user \"\($0.id)\" (time zone \"\($0.timeZone)\")" }
    let more = count - first.count
    return named.joined(separator: ", ")
      + (more > 0 ? " and \(more) more user\(more == 1 ? "" : "s")" : "")
  }

  /// What to do about it.
  public static var remedy: String {
    let data = (try? ZoneDatabase.system.get()).map { " (\($0.version), \($0.folder))" } ?? ""
    return "this machine's time-zone data\(data) lack the zone: install tzdata-legacy or a later "
      + "tzdata, or set TZDIR to the folder of compiled time zones; --unknown-zones ignore decides "
      + "without quiet hours"
  }

  /// Who they are and what to do, in one line.
  public var description: String { "\(names): \(Self.remedy)" }
}
