public import PushModel

extension SettingsOperation {
  /// Applies an operation of open rules.
  ///
  /// - Returns: whether it is one.
  func applyOpen(to write: inout StoreWrite) throws -> Bool {
    switch self {
    case .setLevel(let user, let conversation, let level):
      try write.setLevel(level, of: user, in: conversation)
    case .muteUntil(let user, let conversation, let end):
      try write.mute(until: end, user, in: conversation)
    case .setMutedAllow(let user, let allow): try write.setMutedAllow(allow, of: user)
    case .setAllowForce(let user, let isOn): try write.setAllowForce(isOn, of: user)
    case .addQuietWindow(let user, let days, let start, let end, let allow):
      let window = try QuietWindows.Window(
        days: days.map { try QuietWindows.Window.days($0) } ?? QuietWindows.Window.everyDay,
        start: start, end: end, allow: allow ?? [])
      try write.addQuietWindow(window, of: user)
    case .removeQuietWindow(let user, let position):
      try write.removeQuietWindow(at: Int(position), of: user)
    case .clearQuietWindows(let user, let keepsNone):
      try write.clearQuietWindows(of: user, keepsNone: keepsNone ?? false)
    case .addKeyword(let user, let keyword): try write.addKeyword(keyword, of: user)
    case .removeKeyword(let user, let keyword): try write.removeKeyword(keyword, of: user)
    case .addSender(let user, let other, let list):
      try write.addSender(other, to: list, of: user)
    case .removeSender(let user, let other, let list):
      try write.removeSender(other, from: list, of: user)
    case .setImportant(let user, let conversation, let isOn):
      try write.setImportant(isOn, of: user, in: conversation)
    case .setFollow(let user, let conversation, let follow):
      try write.setFollow(follow, of: user, in: conversation)
    case .setRoles(let user, let conversation, let roles):
      try write.setRoles(roles, of: user, in: conversation)
    default: return false
    }
    return true
  }
}

extension Instant: Codable {
  /// Milliseconds since 1970.
  public init(from decoder: any Decoder) throws {
    let milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    guard let instant = Instant(exactMilliseconds: milliseconds) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(milliseconds) is no instant"))
    }
    self = instant
  }

  /// Milliseconds since 1970.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

extension MessageClasses: Codable {
  /// A word, or a list of names.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let word = try? container.decode(String.self) {
      guard let classes = MessageClasses(word: word) else {
        throw SettingsWriteError.unknownClass(word)
      }
      self = classes
    } else {
      self = try MessageClasses(names: try container.decode([String].self))
    }
  }

  /// Its word where it has one, otherwise the names.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let word { try container.encode(word) } else { try container.encode(names) }
  }
}
