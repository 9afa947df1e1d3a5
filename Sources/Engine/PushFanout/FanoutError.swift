public import PushModel
public import QuietTime

/// An error in settings. The update that throws it changes nothing.
public enum FanoutError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The user does not exist.
  case unknownUser(Identifier)
  /// The conversation does not exist.
  case unknownConversation(Identifier)
  /// The user is not a member of the conversation.
  case notAMember(user: Identifier, conversation: Identifier)
  /// A heartbeat is of a device that the user does not have.
  case unknownDevice(Identifier, of: Identifier)
  /// Heartbeats come to an app whose rules have none.
  case noHeartbeats(RuleSet)
  /// The time zone is not in the IANA database.
  case unknownTimeZone(String)
  /// Users whose time zone the system does not have, and who are not decided for.
  case unknownZones(UnknownZoneUsers)
  /// A time zone whose data cannot be used, or a system without a time-zone database.
  case timeZoneData(ZoneDataError)
  /// The id is empty.
  case emptyID
  /// Settings have fields that the app's rules do not have.
  case otherRules(RuleSet)
  /// There are more than 2^32 - 2 of something, or 2^22 distinct quiet hours.
  case tooMany(String)

  static let tooManyQuietHours = FanoutError.tooMany("distinct quiet hours")

  public var description: String {
    switch self {
    case .unknownUser(let id): "there is no user \"\(id)\""
    case .unknownConversation(let id): "there is no conversation \"\(id)\""
    case .notAMember(let user, let conversation):
      "\"\(user)\" is not a member of \"\(conversation)\""
    case .unknownDevice(let device, let user):
      "the user \"\(user)\" has no device \"\(device)\""
    case .noHeartbeats(let rules):
      "the rules \"\(rules.rawValue)\" have no heartbeats; the state of a device is a setting"
    case .unknownTimeZone(let name): "\"\(name)\" is not a time zone; give an IANA name"
    case .unknownZones(let users): "\(users)"
    case .timeZoneData(let error): "\(error)"
    case .emptyID: "an id cannot be empty"
    case .otherRules(let rules):
      "settings have fields that the rules \"\(rules.rawValue)\" do not have"
    case .tooManyQuietHours: "more than \(MemberKey.scheduleCapacity) distinct quiet hours"
    case .tooMany(let what): "more than \(UInt32.max - 1) \(what)"
    }
  }

  package init(_ error: ZoneDataError) {
    if case .unknownName(let name) = error {
      self = .unknownTimeZone(name)
    } else {
      self = .timeZoneData(error)
    }
  }
}
