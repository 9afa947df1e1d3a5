internal import PushFiles
internal import PushModel
internal import PushSupport

/// The world that an import makes: settings in memory, in packed form, and messages in runs on the disk.
///
/// Ids are written through ``append(id:to:)``, which hashes them where that was asked for.
///
/// SAFETY: while several threads read it, none changes it.
final class ImportedWorld: @unchecked Sendable {
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
  /// The numbers of what members say: there are few different texts.
  private var memberTexts: [ImportedMember: UInt32] = [:]
  /// The one that was asked for last: most are as the one before.
  private var lastMember: (record: ImportedMember, text: UInt32)?

  private var conversationIDs = IdentifierTable()
  private var conversations: [Conversation] = []
  /// The conversation of an id, by the id's number.
  private var conversationsByID: [UInt32] = []
  private(set) var memberships = Memberships()

  private struct Conversation {
    var kind: ConversationKind
    /// A thread's; itself for others.
    let parent: UInt32
    /// The number of its id.
    let id: UInt32
    var memberCount: UInt32 = 0
    var hasKeywords = false
  }

  /// Threads `PARENT#NUMBER` and their records. They are kept apart: they are added while other threads
  /// of execution read conversations and memberships.
  private var threads: [Thread] = []
  private var threadMembers: [ThreadMember] = []

  private struct Thread: BitwiseCopyable {
    let parent: UInt32
    /// How many conversations came before it.
    let place: UInt32
    let number: Int
  }

  private struct ThreadMember: BitwiseCopyable {
    let thread: UInt32
    let user: UInt32
    let text: UInt32
    /// How many memberships came before it.
    let place: UInt32
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
    var text: [UInt8] = []
    append(record, to: &text)
    setUser(user, text[...], record.keywords)
  }

  /// The same with the text of ``append(_:to:)``.
  func setUser(_ user: UInt32, _ text: ArraySlice<UInt8>, _ words: [String]) {
    if userTexts[Int(user)] == nil { report.records.users += 1 }
    userTexts[Int(user)] = texts.insert(Array(text))
    if isWithoutTexts {
      if hasKeywords[Int(user)] { keywords.remove(user) }
      for keyword in words { keywords.add(keyword, of: user) }
    }
    hasKeywords[Int(user)] = !words.isEmpty
  }

  /// Appends what a person's record says behind the id.
  func append(_ record: ImportedUser, to text: inout [UInt8]) {
    text.append(record) { self.shown($0) }
  }

  // MARK: Conversations

  /// The number of a conversation, which is made where there is none.
  func conversation(_ id: String, _ kind: ConversationKind, parent: UInt32? = nil) -> UInt32 {
    let name = conversationIDs.insert(Identifier(id))
    if Int(name) < conversationsByID.count { return conversationsByID[Int(name)] }
    let number = UInt32(conversations.count)
    conversationsByID.append(number)
    conversations.append(
      Conversation(kind: kind, parent: parent ?? number, id: name))
    if kind == .thread { report.records.threads += 1 } else { report.records.conversations += 1 }
    return number
  }

  func conversationNumber(_ id: Span<UInt8>) -> UInt32? {
    conversationIDs.index(ofUTF8: unsafe id.bytes).map { conversationsByID[Int($0)] }
  }

  /// Makes a thread `PARENT#NUMBER`, which is not looked for.
  ///
  /// - Returns: its number among such threads.
  func thread(_ parent: UInt32, _ number: Int) -> UInt32 {
    threads.append(
      Thread(parent: parent, place: UInt32(conversations.count), number: number))
    report.records.threads += 1
    return UInt32(threads.count - 1)
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

  /// Writes a record in a thread of ``thread(_:_:)``.
  func addMember(_ user: UInt32, ofThread thread: UInt32, _ record: ImportedMember) {
    threadMembers.append(
      ThreadMember(
        thread: thread, user: user, text: number(of: record),
        place: UInt32(memberships.records.count)))
    report.records.members += 1
  }

  private func number(of record: ImportedMember) -> UInt32 {
    if let lastMember, lastMember.record == record { return lastMember.text }
    var number = memberTexts[record]
    if number == nil {
      var text: [UInt8] = []
      text.append(record)
      number = texts.insert(text)
      memberTexts[record] = number
    }
    lastMember = (record, number!)
    return number!
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
    let id = conversationIDs[conversations[Int(conversation)].id].text
    if let hash { line.appendJSON(hash.text(id.utf8)) } else { line.appendJSON(id) }
  }

  /// Appends the id of a thread `PARENT#NUMBER`.
  func append(thread number: Int, of parent: Span<UInt8>, to line: inout [UInt8]) {
    if let hash {
      let id = unsafe parent.withUnsafeBufferPointer { unsafe Array($0) }
      line.appendJSON(hash.text(id + "#\(number)".utf8))
    } else {
      append(id: parent, to: &line)
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

  // MARK: Writing

  /// The names of the files (I-1).
  static let fileNames = ["settings.ndjson", "messages.ndjson", "report.json"]

  /// Writes the files into a folder.
  func write(into folder: OutputFolder) throws -> ImportReport {
    let files = Files(
      settings: try folder.file("settings.ndjson"), messages: try folder.file("messages.ndjson"))
    let (settings, count) = Parallel.both {
      try self.writeSettings(to: files.settings)
    } _: {
      try self.writeMessages(to: files.messages)
    }
    try settings.get()
    report.records.messages = try count.get()
    let text = try folder.file("report.json")
    try text.write(report.json)
    try text.finish()
    return report
  }

  /// SAFETY: a thread writes each of them.
  private struct Files: @unchecked Sendable {
    let settings: OutputFile
    let messages: OutputFile
  }

  /// - Returns: how many there are.
  private func writeMessages(to file: OutputFile) throws -> Int {
    var (count, buffer): (Int, [UInt8]) = (0, [])
    try messages.drain { _, line in
      buffer.append(contentsOf: line)
      count += 1
      if buffer.count >= 1 << 18 {
        try file.write(whole: buffer)
        buffer.removeAll(keepingCapacity: true)
      }
    }
    try file.write(whole: buffer)
    try file.finish()
    return count
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
    var next = 0
    for number in 0...conversations.count {
      while next < threads.count, threads[next].place <= number {
        buffer.append("{\"kind\":\"conversation\",\"id\":")
        append(thread: next, to: &buffer)
        buffer.append(",\"type\":\"thread\",\"parent\":")
        append(conversation: threads[next].parent, to: &buffer)
        buffer.append("}\n")
        next += 1
        try flush(1 << 18)
      }
      if number == conversations.count { break }
      append(record: UInt32(number), to: &buffer)
      try flush(1 << 18)
    }
    next = 0
    for number in 0...memberships.records.count {
      while next < threadMembers.count, threadMembers[next].place <= number {
        let member = threadMembers[next]
        buffer.append("{\"kind\":\"member\",\"conversation\":")
        append(thread: Int(member.thread), to: &buffer)
        append(user: member.user, text: member.text, to: &buffer)
        next += 1
        try flush(1 << 18)
      }
      if number == memberships.records.count { break }
      let member = memberships.records[number]
      buffer.append("{\"kind\":\"member\",\"conversation\":")
      append(conversation: member.conversation, to: &buffer)
      append(user: member.user, text: member.text, to: &buffer)
      try flush(1 << 18)
    }
    try flush(0)
    try file.finish()
  }

  private func append(thread: Int, to line: inout [UInt8]) {
    let parent = conversationIDs[conversations[Int(threads[thread].parent)].id].text
    append(thread: threads[thread].number, of: parent.utf8Span.span, to: &line)
  }

  /// Appends the record of a conversation.
  private func append(record number: UInt32, to line: inout [UInt8]) {
    let conversation = conversations[Int(number)]
    line.append("{\"kind\":\"conversation\",\"id\":")
    append(conversation: number, to: &line)
    line.append(",\"type\":\"")
    line.append(contentsOf: conversation.kind.rawValue.utf8)
    line.append("\"")
    if conversation.kind == .thread {
      line.append(",\"parent\":")
      append(conversation: conversation.parent, to: &line)
    }
    line.append("}\n")
  }

  /// Appends the end of a member's record.
  private func append(user: UInt32, text: UInt32, to line: inout [UInt8]) {
    line.append(",\"user\":")
    append(user: user, to: &line)
    line.append(contentsOf: texts[text])
  }
}
