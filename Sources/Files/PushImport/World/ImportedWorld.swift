internal import PushFiles
internal import PushModel
internal import PushSupport

/// The world that an import makes: settings in memory, in packed form, and messages in runs on the disk.
///
/// Ids are written through ``append(id:)``, which hashes them where that was asked for.
final class ImportedWorld {
  var report: ImportReport
  /// Whether texts hold keywords alone.
  let isWithoutTexts: Bool
  private let hash: IDHash?
  private let app: AppSettings
  let messages: RunSorter

  private var users = IdentifierTable()
  private var userTexts: [UInt32?] = []
  private var hasKeywords: [Bool] = []
  private var texts = RecordTexts()
  private let keywords = KeywordIndex()
  private var lastMember: (record: ImportedMember, number: UInt32)?

  private var conversationIDs = IdentifierTable()
  private var conversations: [Conversation] = []
  /// The conversation of an id, by the id's number.
  private var conversationsByID: [UInt32] = []
  private(set) var memberships = Memberships()

  private struct Conversation {
    var kind: ConversationKind
    /// A thread's; itself for others.
    let parent: UInt32
    /// The number of its id; of a thread without a name, its number in the parent.
    let number: UInt64
    var memberCount: UInt32 = 0
    var hasKeywords = false
    let hasName: Bool
  }

  init(
    system: String, app: AppSettings, hash: IDHash?, isWithoutTexts: Bool, messages: RunSorter
  ) {
    report = ImportReport(system: system)
    self.app = app
    self.hash = hash
    self.isWithoutTexts = isWithoutTexts
    self.messages = messages
  }

  // MARK: People

  /// The number of a person, who is made where there is none; a record comes with ``setUser(_:_:)``.
  func user(_ id: String) -> UInt32 {
    let user = users.insert(Identifier(id))
    if Int(user) == userTexts.count {
      userTexts.append(nil)
      hasKeywords.append(false)
    }
    return user
  }

  func userNumber(_ id: Span<UInt8>) -> UInt32? { users.index(ofUTF8: unsafe id.bytes) }
  func userNumber(_ id: String) -> UInt32? { users.index(of: Identifier(id)) }
  func userID(_ user: UInt32) -> String { users[user].text }

  /// Writes a person's record; a later one takes the place of an earlier one.
  func setUser(_ user: UInt32, _ record: ImportedUser) {
    if userTexts[Int(user)] == nil { report.records.users += 1 }
    var text: [UInt8] = []
    text.append(record) { self.shown($0) }
    userTexts[Int(user)] = texts.insert(text)
    if isWithoutTexts {
      if hasKeywords[Int(user)] { keywords.remove(user) }
      for keyword in record.keywords { keywords.add(keyword, of: user) }
    }
    hasKeywords[Int(user)] = !record.keywords.isEmpty
  }

  // MARK: Conversations

  /// The number of a conversation, which is made where there is none.
  func conversation(_ id: String, _ kind: ConversationKind, parent: UInt32? = nil) -> UInt32 {
    let name = conversationIDs.insert(Identifier(id))
    if Int(name) < conversationsByID.count { return conversationsByID[Int(name)] }
    let number = UInt32(conversations.count)
    conversationsByID.append(number)
    conversations.append(
      Conversation(kind: kind, parent: parent ?? number, number: UInt64(name), hasName: true))
    if kind == .thread { report.records.threads += 1 } else { report.records.conversations += 1 }
    return number
  }

  func conversationNumber(_ id: Span<UInt8>) -> UInt32? {
    conversationIDs.index(ofUTF8: unsafe id.bytes).map { conversationsByID[Int($0)] }
  }

  /// A thread `PARENT#NUMBER`, which is not looked for.
  func thread(_ parent: UInt32, _ number: Int) -> UInt32 {
    conversations.append(
      Conversation(kind: .thread, parent: parent, number: UInt64(number), hasName: false))
    report.records.threads += 1
    return UInt32(conversations.count - 1)
  }

  func memberCount(_ conversation: UInt32) -> Int {
    Int(conversations[Int(conversation)].memberCount)
  }

  // MARK: Members

  func isMember(_ user: UInt32, of conversation: UInt32) -> Bool {
    memberships.contains(conversation, user)
  }

  /// Writes a record in a conversation or a thread; a later one takes the place of an earlier one.
  func setMember(_ user: UInt32, of conversation: UInt32, _ record: ImportedMember) {
    let isNew = memberships.set(
      Memberships.Record(conversation: conversation, user: user, text: number(of: record)))
    if hasKeywords[Int(user)] { conversations[Int(conversation)].hasKeywords = true }
    guard isNew else { return }
    report.records.members += 1
    conversations[Int(conversation)].memberCount += 1
  }

  /// Writes a record that there is none of yet, and that is not looked for.
  func addMember(_ user: UInt32, ofThread thread: UInt32, _ record: ImportedMember) {
    memberships.append(
      Memberships.Record(conversation: thread, user: user, text: number(of: record)))
    report.records.members += 1
  }

  private func number(of record: ImportedMember) -> UInt32 {
    // Most members have set nothing, or what the one before has.
    if let last = lastMember, last.record == record { return last.number }
    var text: [UInt8] = []
    text.append(record)
    let number = texts.insert(text)
    lastMember = (record, number)
    return number
  }

  // MARK: Texts

  /// Whether a text is of use in a conversation: a member has keywords (I-7).
  func wantsText(_ conversation: UInt32) -> Bool {
    conversations[Int(conversation)].hasKeywords
  }

  /// The keywords that occur in a text, in place of it; nil for none.
  func keywords(in text: String, of conversation: UInt32) -> String? {
    let found = keywords.found(in: text, of: conversation) {
      memberships.contains(conversation, $0)
    }
    return found.isEmpty ? nil : found.joined(separator: " _ ")
  }

  // MARK: Ids

  /// An id as it is written.
  func shown(_ id: String) -> String { hash?.text(id.utf8) ?? id }

  func append(id: Span<UInt8>, to line: inout [UInt8]) {
    if let hash {
      line.appendJSON(unsafe id.withUnsafeBufferPointer { unsafe hash.text($0) })
    } else {
      unsafe id.withUnsafeBytes { unsafe line.appendJSON($0) }
    }
  }

  /// Appends the id `NUMBER`, or `NUMBER.n` of its n-th part.
  func append(number: Int, _ part: Int = 0, to line: inout [UInt8]) {
    if hash != nil {
      return line.appendJSON(shown(part > 0 ? "\(number).\(part)" : "\(number)"))
    }
    line.append(UInt8(ascii: "\""))
    line.appendDecimal(number)
    if part > 0 {
      line.append(UInt8(ascii: "."))
      line.appendDecimal(part)
    }
    line.append(UInt8(ascii: "\""))
  }

  func append(user: UInt32, to line: inout [UInt8]) {
    let id = users[user].text
    if let hash { line.appendJSON(hash.text(id.utf8)) } else { line.appendJSON(id) }
  }

  func append(conversation: UInt32, to line: inout [UInt8]) {
    let conversation = conversations[Int(conversation)]
    if conversation.hasName {
      let id = conversationIDs[UInt32(conversation.number)].text
      if let hash { line.appendJSON(hash.text(id.utf8)) } else { line.appendJSON(id) }
    } else {
      append(thread: Int(conversation.number), of: conversation.parent, to: &line)
    }
  }

  /// Appends the id of a thread `PARENT#NUMBER`.
  func append(thread number: Int, of parent: UInt32, to line: inout [UInt8]) {
    if hash != nil {
      line.appendJSON(shown("\(id(of: conversations[Int(parent)]))#\(number)"))
    } else {
      append(conversation: parent, to: &line)
      line[line.count - 1] = UInt8(ascii: "#")
      line.appendDecimal(number)
      line.append(UInt8(ascii: "\""))
    }
  }

  /// Appends the fields of who is mentioned, if anybody is.
  func append(mentions users: [UInt32], all: Bool, to line: inout [UInt8]) {
    if !users.isEmpty {
      line.append(",\"mentions\":[")
      for (index, user) in users.enumerated() {
        if index > 0 { line.append(UInt8(ascii: ",")) }
        append(user: user, to: &line)
      }
      line.append("]")
    }
    if all { line.append(",\"mentionsAll\":true") }
  }

  private func id(of conversation: Conversation) -> String {
    if conversation.hasName { return conversationIDs[UInt32(conversation.number)].text }
    return "\(id(of: conversations[Int(conversation.parent)]))#\(conversation.number)"
  }

  // MARK: Writing

  /// The names of the files (I-1).
  static let fileNames = ["settings.ndjson", "messages.ndjson", "report.json"]

  /// Writes the files into a folder.
  func write(into folder: OutputFolder) throws -> ImportReport {
    let settings = try folder.file("settings.ndjson")
    try writeSettings(to: settings)
    let file = try folder.file("messages.ndjson")
    var buffer: [UInt8] = []
    try messages.drain { _, line in
      buffer.append(contentsOf: line)
      report.records.messages += 1
      if buffer.count >= 1 << 18 {
        try file.write(whole: buffer)
        buffer.removeAll(keepingCapacity: true)
      }
    }
    try file.write(whole: buffer)
    try file.finish()
    let text = try folder.file("report.json")
    try text.write(report.json)
    try text.finish()
    return report
  }

  private func writeSettings(to file: OutputFile) throws {
    var buffer = SettingsEncoder.app(app)
    let flush = { (limit: Int) in
      if buffer.count < limit { return }
      try file.write(whole: buffer)
      buffer.removeAll(keepingCapacity: true)
    }
    for (user, text) in userTexts.enumerated() {
      guard let text else { continue }
      buffer.append("{\"kind\":\"user\",\"id\":")
      append(user: UInt32(user), to: &buffer)
      buffer.append(contentsOf: texts[text])
      try flush(1 << 18)
    }
    for (number, conversation) in conversations.enumerated() {
      buffer.append("{\"kind\":\"conversation\",\"id\":")
      append(conversation: UInt32(number), to: &buffer)
      buffer.append(",\"type\":\"")
      buffer.append(contentsOf: conversation.kind.rawValue.utf8)
      buffer.append("\"")
      if conversation.kind == .thread {
        buffer.append(",\"parent\":")
        append(conversation: conversation.parent, to: &buffer)
      }
      buffer.append("}\n")
      try flush(1 << 18)
    }
    for member in memberships.records {
      buffer.append("{\"kind\":\"member\",\"conversation\":")
      append(conversation: member.conversation, to: &buffer)
      buffer.append(",\"user\":")
      append(user: member.user, to: &buffer)
      buffer.append(contentsOf: texts[member.text])
      try flush(1 << 18)
    }
    try flush(0)
    try file.finish()
  }
}
