internal import PushModel
internal import PushSupport

/// What an importer says of a person.
struct ImportedUser {
  var level: MessageClasses?
  var mutedUntil: Int64 = 0
  var mutedAllow: MessageClasses = []
  var keywords: [String] = []
  var blockedSenders: [String] = []
  var timeZone: String?
  /// Whether `devices` is written, as an empty list.
  var hasNoDevices = false
}

/// What an importer says of a member of a conversation, or of someone in a thread.
struct ImportedMember: Hashable {
  var level: MessageClasses?
  var mutedUntil: Int64 = 0
  var follows: Bool?

  /// For ever.
  static var always: Int64 { Instant.maximumMilliseconds }
}

extension MessageClasses {
  /// The classes that stand for N in the rules (I-9).
  static let named: MessageClasses = [.mentionsMe, .role, .reply, .keyword, .sender]

  /// The classes in the order in which importers write them (I-9).
  private static let inOrder: [MessageClasses] = [
    .private, .thread, .plain, .mentionsMe, .role, .mentionsEveryone, .reply, .keyword, .sender,
  ]

  /// The level as JSON: its word, or the list of its classes (I-9).
  var json: [UInt8] {
    if let word { return Array("\"\(word)\"".utf8) }
    let names = Self.inOrder.filter { contains($0) }.flatMap(\.names)
    return Array("[\(names.map { "\"\($0)\"" }.joined(separator: ","))]".utf8)
  }
}

extension [UInt8] {
  mutating func append(_ text: StaticString) {
    unsafe append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a JSON array of strings.
  mutating func appendJSON(_ texts: [String]) {
    append(UInt8(ascii: "["))
    for (index, text) in texts.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      appendJSON(text)
    }
    append(UInt8(ascii: "]"))
  }

  /// What a user's record says behind the id.
  ///
  /// - Parameter id: how the id of another person is written.
  mutating func append(_ user: ImportedUser, id: (String) -> String) {
    if let level = user.level {
      append(",\"level\":")
      append(contentsOf: level.json)
    }
    if user.mutedUntil > 0 {
      append(",\"mutedUntil\":")
      appendDecimal(Int(user.mutedUntil))
    }
    if !user.mutedAllow.isEmpty {
      append(",\"mutedAllow\":")
      append(contentsOf: user.mutedAllow.json)
    }
    if !user.keywords.isEmpty {
      append(",\"keywords\":")
      appendJSON(user.keywords)
    }
    if !user.blockedSenders.isEmpty {
      append(",\"blockedSenders\":")
      appendJSON(user.blockedSenders.map(id))
    }
    if let zone = user.timeZone {
      append(",\"timeZone\":")
      appendJSON(zone)
    }
    if user.hasNoDevices { append(",\"devices\":[]") }
    append("}\n")
  }

  /// What a member's record says behind the ids.
  mutating func append(_ member: ImportedMember) {
    if let level = member.level {
      append(",\"level\":")
      append(contentsOf: level.json)
    }
    if member.mutedUntil > 0 {
      append(",\"mutedUntil\":")
      appendDecimal(Int(member.mutedUntil))
    }
    if let follows = member.follows { append(follows ? ",\"follow\":true" : ",\"follow\":false") }
    append("}\n")
  }
}
