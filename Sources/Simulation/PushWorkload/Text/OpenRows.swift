internal import PushModel

/// What only open rules have, as NDJSON.
extension [UInt8] {
  mutating func append(_ user: OpenUser) {
    append(",\"keywords\":", user.keywords) { bytes, word in bytes.append(contentsOf: word) }
    append(users: ",\"importantSenders\":", user.importantSenders)
    append(users: ",\"blockedSenders\":", user.blockedSenders)
    if user.mutedUntil > 0 {
      append(",\"mutedUntil\":")
      append(number: Int(user.mutedUntil))
    }
    if let word = user.mutedAllow.word, !user.mutedAllow.isEmpty {
      append(text: ",\"mutedAllow\":\"\(word)\"")
    }
  }

  /// Appends what is in a member's record or one of a thread.
  mutating func append(roles: [Int], isImportant: Bool) {
    append(",\"roles\":", roles) { bytes, role in bytes.append(text: Workload.roles[role]) }
    if isImportant { append(",\"important\":true") }
  }

  private mutating func append(users name: StaticString, _ users: [Int]) {
    append(name, users) { bytes, user in
      bytes.append("u")
      bytes.append(number: user)
    }
  }

  /// Appends a list of texts that need no escapes, unless it is empty.
  private mutating func append<Item>(
    _ name: StaticString, _ items: [Item], _ body: (inout [UInt8], Item) -> Void
  ) {
    if items.isEmpty { return }
    append(name)
    for (index, item) in items.enumerated() {
      append(index == 0 ? "[\"" : ",\"")
      body(&self, item)
      append("\"")
    }
    append("]")
  }
}

extension SettingsRows {
  /// Appends the conversation of a room unless it is a group, and its threads.
  func append(conversationsOfRoom room: Int, to bytes: inout [UInt8]) {
    let size = workload.size(ofRoom: room)
    let kind = workload.kind(size: size)
    if kind != .group { append(conversation: room, kind, to: &bytes) }
    for thread in 0..<workload.threadCount(size: size) {
      bytes.append("{\"kind\":\"conversation\",\"id\":\"")
      bytes.append(room: room, thread)
      bytes.append("\",\"type\":\"thread\",\"parent\":\"")
      bytes.append(room: room, nil)
      bytes.append("\"}\n")
    }
  }

  /// Appends the records in a room's threads.
  func append(followersOf part: RoomPieces.Part, _ members: RoomMembers, to bytes: inout [UInt8]) {
    for thread in 0..<workload.threadCount(size: part.size) {
      let followers = workload.followers(
        ofThread: thread, room: part.room, size: part.size, of: members)
      for follower in followers {
        bytes.append("{\"kind\":\"member\",\"conversation\":\"")
        bytes.append(room: part.room, thread)
        bytes.append("\",\"user\":\"u")
        bytes.append(number: follower.user)
        bytes.append("\"")
        append(level: follower.level, to: &bytes)
        if follower.isMuted {
          bytes.append(",\"mutedUntil\":")
          bytes.append(number: Int(Workload.forEver))
        }
        bytes.append(roles: [], isImportant: follower.isImportant)
        if !follower.isFollowing { bytes.append(",\"follow\":false") }
        bytes.append("}\n")
      }
    }
  }

  /// Appends a level, unless it is unset: a name or, of another set of classes, their names.
  func append(level: NotificationLevel, to bytes: inout [UInt8]) {
    guard level.isSet else { return }
    bytes.append(",\"level\":")
    if let names = level.classNames(under: rules) {
      bytes.append(text: "[\(names.map { "\"\($0)\"" }.joined(separator: ","))]")
    } else {
      bytes.append(text: "\"\(level.name(under: rules))\"")
    }
  }
}

extension [UInt8] {
  /// Appends the id of a room, or of a thread of it.
  mutating func append(room: Int, _ thread: Int?) {
    append("c")
    append(number: room)
    guard let thread else { return }
    append("t")
    append(number: thread)
  }
}
