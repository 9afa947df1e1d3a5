public import PushRules
public import QuietTime

/// Why settings were refused. Nothing has then changed.
public enum FanoutError: Error, Hashable, Sendable, CustomStringConvertible {
  /// An update of a user who does not exist.
  case unknownUser(Identifier)
  /// An update of a conversation that does not exist.
  case unknownConversation(Identifier)
  /// An update of a member who is none.
  case notAMember(user: Identifier, conversation: Identifier)
  /// A time zone that is not in the IANA database.
  case unknownTimeZone(String)
  /// A time zone whose data cannot be used, or a system without a time-zone database.
  case timeZoneData(ZoneDataError)
  /// An id that is empty.
  case emptyID
  /// More than 2^32 - 2 of something.
  case tooMany(String)

  public var description: String {
    switch self {
    case .unknownUser(let id): "there is no user \"\(id)\""
    case .unknownConversation(let id): "there is no conversation \"\(id)\""
    case .notAMember(let user, let conversation):
      "\"\(user)\" is not a member of \"\(conversation)\""
    case .unknownTimeZone(let name): "\"\(name)\" is not a time zone; give an IANA name"
    case .timeZoneData(let error): "\(error)"
    case .emptyID: "an id cannot be empty"
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
