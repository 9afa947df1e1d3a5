internal import CPushFiles
public import PushModel

extension ArrowStream {
  /// The rest of the rows as messages.
  ///
  /// - Parameters:
  ///   - rules: those that decide them.
  ///   - willRead: called now and then with how many were read; what it throws ends the call.
  /// - Throws: what is wrong with the stream or, with its line, with a row.
  public func messages(
    under rules: RuleSet, willRead: (Int) throws -> Void = { _ in }
  ) throws -> [Message] {
    var messages: [Message] = []
    var parser = try ArrowMessageParser(rules)
    while let batch = try next() {
      defer { batch.release() }
      for start in stride(from: 0, to: batch.count, by: ArrowMessageParser.rowCount) {
        try willRead(messages.count)
        let end = min(start + ArrowMessageParser.rowCount, batch.count)
        do throws(FileProblem.Problem) {
          try parser.add(
            ArrowPiece(batch: batch, range: start..<end, isUsers: false), to: &messages)
        } catch {
          throw FileProblem(file: name, line: messages.count + 1, problem: error)
        }
      }
    }
    return messages
  }
}

/// Reads rows of messages. What is usual is taken from the columns; a row with anything else, or with
/// a problem, is read as a line of NDJSON is.
private struct ArrowMessageParser {
  /// A field that is a text.
  private struct TextField {
    let name: String
    /// Whether an integer is the text of its digits, and an empty text a problem.
    var isID = false
    /// Which rules have it; nil for all.
    var owner: VendorFields?
    /// Sets it.
    ///
    /// - Returns: whether it may be so.
    let set: @Sendable (inout Message, Identifier, RuleSet) -> Bool
  }

  /// A field that is a flag.
  private struct FlagField {
    let name: String
    var owner: VendorFields?
    let set: @Sendable (inout Message, Bool) -> Void
  }

  /// So many rows are read together.
  static let rowCount = 1024

  private static let texts = [
    TextField(name: "sender", isID: true) { message, text, _ in
      message.sender = text
      return true
    },
    TextField(name: "body") { message, text, _ in
      let body = MessageBody(rawValue: text.text)
      message.body = body ?? .text
      return body != nil
    },
    TextField(name: "channel", owner: .messageChannel) { message, text, _ in
      message.channel = text
      return true
    },
    TextField(name: "pushContent", owner: .pushContent) { message, text, _ in
      message.pushContent = text.text
      return true
    },
    TextField(name: "replyToUser", isID: true, owner: .replyToUser) { message, text, _ in
      message.replyToUser = text
      return true
    },
    // It decides under open rules alone; the other two decide nothing.
    TextField(name: "text") { message, text, rules in
      if rules.fields.contains(.text) { message.text = text.text }
      return true
    },
    TextField(name: "replyTo") { _, _, _ in true },
  ]

  private static let flags = [
    FlagField(name: "mentionsAll") { $0.mentionsAll = $1 },
    FlagField(name: "silent") { $0.silent = $1 },
    FlagField(name: "force", owner: .force) { $0.force = $1 },
    FlagField(name: "onlineOnly", owner: .onlineOnly) { $0.onlineOnly = $1 },
    FlagField(name: "isMentioned", owner: .isMentioned) { $0.isMentioned = $1 },
    FlagField(name: "persisted", owner: .persisted) { $0.persisted = $1 },
    FlagField(name: "backlog", owner: .backlog) { $0.backlog = $1 },
    FlagField(name: "reply") { _, _ in },
  ]

  private static let names =
    ["id", "conversation", "at", "sentAt", "mentions"] + texts.map(\.name) + flags.map(\.name)

  private let rules: RuleSet
  private let json: JSONParser
  private var line: [UInt8] = []
  private var rare = RareRows()
  private var ids = ArrowTexts()
  private var conversations = ArrowTexts()
  private var instants: [Int64] = []
  private var sentAts: [Int64] = []
  private var mentions = ArrowTexts()
  private var rareMentions = RareRows()
  private var texts: [ArrowTexts] = Self.texts.map { _ in ArrowTexts() }

  init(_ rules: RuleSet) throws(FileProblem.Problem) {
    self.rules = rules
    json = try JSONParser()
  }

  /// Appends the messages of a piece, up to the first problem.
  mutating func add(
    _ piece: ArrowPiece, to messages: inout [Message]
  ) throws(FileProblem.Problem) {
    let (columns, others) = piece.columns(named: Self.names)
    let rows = piece.rows
    rare.reset(count: rows.count)
    rare.add(others, rows)
    guard let id = columns[0], let conversation = columns[1], columns[2] != nil else {
      for row in piece.range { messages.append(try read(row, of: piece)) }
      return
    }
    ids.read(id, rows, takesNumbers: true, &rare)
    conversations.read(conversation, rows, takesNumbers: true, &rare)
    rare.readInstants(columns[2], rows, isAllowed: true, into: &instants)
    rare.readInstants(columns[3], rows, isAllowed: true, into: &sentAts)
    let items = readMentions(columns[4], rows)
    var (hasText, hasFlag): ([Int], [(index: Int, cells: ArrowCells)]) = ([], [])
    for (index, field) in Self.texts.enumerated() {
      guard let column = columns[5 + index] else { continue }
      if isAllowed(field.owner) {
        texts[index].read(column, rows, takesNumbers: field.isID, &rare)
        hasText.append(index)
      } else {
        rare.add([column], rows)
      }
    }
    for (index, field) in Self.flags.enumerated() {
      guard let column = columns[5 + texts.count + index] else { continue }
      if case .bool = column.kind, isAllowed(field.owner) {
        hasFlag.append((index, column.cells))
      } else {
        rare.add([column], rows)
      }
    }
    for row in 0..<rows.count {
      let isUsual =
        unsafe !rare[row] && !ids.texts[row].isEmpty && !conversations.texts[row].isEmpty
        && instants[row] >= 0
      var message = Message(id: "", conversation: "", at: .zero)
      if isUsual, set(&message, row, hasText, items) {
        for (index, cells) in hasFlag where !cells.isNull(rows.lowerBound + row) {
          Self.flags[index].set(&message, cells.flag(rows.lowerBound + row))
        }
        if message.mentions != nil {
          try MessageFields.check(message, VendorFieldUse(under: rules), under: rules)
        }
        messages.append(message)
      } else {
        messages.append(try read(piece.range.lowerBound + row, of: piece))
      }
    }
  }

  private func isAllowed(_ owner: VendorFields?) -> Bool {
    owner.map { rules.fields.contains($0) } ?? true
  }

  /// Sets what is no flag.
  ///
  /// - Returns: whether all of it may be so.
  @inline(__always)
  private func set(
    _ message: inout Message, _ row: Int, _ hasText: [Int], _ items: [Range<Int>?]
  ) -> Bool {
    message.id = unsafe Identifier(utf8: ids.texts[row])
    message.conversation = unsafe Identifier(utf8: conversations.texts[row])
    message.at = Instant(milliseconds: instants[row])
    if !sentAts.isEmpty, sentAts[row] >= 0 {
      message.sentAt = Instant(milliseconds: sentAts[row])
    }
    for index in hasText {
      let text = unsafe texts[index].texts[row]
      guard unsafe text.baseAddress != nil else { continue }
      if unsafe text.isEmpty && Self.texts[index].isID { return false }
      let isSet = unsafe Self.texts[index].set(&message, Identifier(utf8: text), rules)
      if !isSet { return false }
    }
    if !items.isEmpty, let items = items[row] {
      message.mentions = items.map { unsafe Identifier(utf8: mentions.texts[$0]) }
    }
    return true
  }

  /// Reads lists of ids; those with anything else are rare.
  ///
  /// - Returns: for each row which of the texts are its mentions, nil for none; nothing if there is no
  ///   column.
  private mutating func readMentions(
    _ column: ArrowValues?, _ rows: Range<Int>
  ) -> [Range<Int>?] {
    guard let column else { return [] }
    let ranges = rows.map { column.isNull($0) ? nil : column.items($0) }
    let lower = ranges.lazy.compactMap { $0?.lowerBound }.min() ?? 0
    let upper = ranges.lazy.compactMap { $0?.upperBound }.max() ?? 0
    if upper > lower {
      rareMentions.reset(count: upper - lower)
      mentions.read(column.children[0], lower..<upper, takesNumbers: true, &rareMentions)
    }
    return rows.map { row in
      let index = row - rows.lowerBound
      guard let range = ranges[index] else {
        if !column.isNull(row) { rare.add(index) }
        return nil
      }
      let items = range.lowerBound - lower..<range.upperBound - lower
      if items.contains(where: { unsafe rareMentions[$0] || mentions.texts[$0].isEmpty }) {
        rare.add(index)
      }
      return items
    }
  }

  /// Reads a row of a batch as a line.
  private mutating func read(
    _ row: Int, of piece: ArrowPiece
  ) throws(FileProblem.Problem) -> Message {
    var isReply = false
    let (json, rules) = (json, rules)
    return try unsafe piece.batch.withJSON(row, in: &line) {
      (bytes) throws(FileProblem.Problem) in
      if bytes.count > PieceReader.maximumLineBytes { throw .tooLong }
      guard let value = try unsafe json.parse(bytes, isFirst: false) else { throw .notJSON }
      return try MessageFields.read(value, under: rules, isReply: &isReply)
    }
  }
}
