internal import CPushFanoutABI
internal import Glibc
internal import PushFanout
internal import PushModel

/// Messages, the version of the settings that decides them, and how their rows look.
final class RelationObject: HandleObject, Sendable {
  let engine: EngineObject
  let messages: MessagesObject
  let version: FanoutVersion
  let hasIDs: Bool

  init(_ engine: EngineObject, _ messages: MessagesObject, hasIDs: Bool) {
    self.engine = engine
    self.messages = messages
    version = engine.engine.currentVersion
    self.hasIDs = hasIDs
  }

  /// The metadata of the schemas.
  var metadata: [(key: String, value: String)] {
    [
      ("push_fanout.epoch", "\(version.epoch)"), ("push_fanout.sequence", "\(version.number)"),
      ("push_fanout.outcomes", "\(Outcome.registryVersion)"),
    ]
  }
}

func relationNew(
  _ engine: UnsafeMutableRawPointer?, _ messages: UnsafeMutableRawPointer?, _ flags: UInt32,
  _ object: UnsafeMutablePointer<pf_object?>?, _ error: ErrorText
) -> Int32 {
  unsafe object?.pointee =
    RelationObject(
      EngineObject.of(engine), MessagesObject.at(messages), hasIDs: flags & PF_ARROW_IDS != 0
    ).retained
  return PF_OK
}

func relationStream(
  _ relation: UnsafeMutableRawPointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?
) {
  unsafe DecisionSource(RelationObject.at(relation)).export(to: stream)
}

func relationUsers(
  _ relation: UnsafeMutableRawPointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?
) {
  unsafe UserSource(RelationObject.at(relation)).export(to: stream)
}

/// The rows of a relation, batch by batch.
private final class DecisionSource: ArrowSource {
  /// Messages of fewer members are put together until there are about so many rows.
  private static let batchSize = 65_536
  /// So many pieces of a shared column at most are batches of their own.
  private static let pieceLimit = 8

  private let relation: RelationObject
  private var next = 0
  private var result = FanoutResult()
  private var waiting: [ArrowBatch] = []
  /// The users of the last large conversation.
  private var shared: (membership: UInt64, users: [SharedColumn])?

  init(_ relation: RelationObject) { self.relation = relation }

  override var fields: [ArrowField] {
    [
      ArrowField("message", "I"), ArrowField("user", relation.hasIDs ? "U" : "I"),
      ArrowField("code", "C"),
    ]
  }

  override var metadata: [(key: String, value: String)] { relation.metadata }

  override func nextBatch() -> ArrowBatch? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    var rows = DecisionRows(hasIDs: relation.hasIDs)
    while next < relation.messages.messages.count {
      let message = relation.messages.messages[next]
      relation.engine.engine.decide(message, on: relation.version, into: &result)
      if result.memberCount > Self.batchSize {
        // Those of the messages before come first.
        if rows.count > 0 { return rows.finish() }
        appendLarge(UInt32(next))
        next += 1
        if !waiting.isEmpty { return waiting.removeFirst() }
        continue
      }
      rows.append(result, UInt32(next))
      next += 1
      if rows.count >= Self.batchSize { break }
    }
    return rows.count > 0 ? rows.finish() : nil
  }

  /// The rows of a message to a large conversation: pieces between members who are no recipients,
  /// on shared columns, unless there are many.
  private func appendLarge(_ number: UInt32) {
    let count = result.memberCount
    let codes = SharedColumn(UInt8.self, count)
    unsafe result.writeCodes(to: codes.values())
    var pieces: [Range<Int>] = []
    var start = 0
    while start < count, pieces.count <= Self.pieceLimit {
      let zero =
        unsafe memchr(codes.memory + start, 0, count - start).map {
          unsafe UnsafeRawPointer($0) - UnsafeRawPointer(codes.memory)
        } ?? count
      if zero > start { pieces.append(start..<zero) }
      start = zero + 1
    }
    guard pieces.count <= Self.pieceLimit else {
      var rows = DecisionRows(hasIDs: relation.hasIDs)
      rows.append(result, number)
      if rows.count > 0 { waiting.append(rows.finish()) }
      return
    }
    guard !pieces.isEmpty else { return }
    let messages = SharedColumn(UInt32.self, count)
    unsafe pf_fill(messages.values(), count, number)
    let users = users(count)
    for piece in pieces {
      waiting.append(
        ArrowBatch(
          length: piece.count, offset: piece.lowerBound, columns: [[messages], users, [codes]]))
    }
  }

  /// The users of the result's conversation: those of the last large one, if they are the same.
  private func users(_ count: Int) -> [SharedColumn] {
    let membership = result.membershipVersion
    if let shared, shared.membership == membership { return shared.users }
    let made: [SharedColumn]
    if relation.hasIDs {
      var ids = IDColumns(capacity: count)
      result.forEachMember { _, id in ids.append(id) }
      made = ids.finish()
    } else {
      let users = SharedColumn(UInt32.self, count)
      unsafe result.writeUsers(to: users.values())
      made = [users]
    }
    shared = (membership, made)
    return made
  }
}

/// Rows of several messages.
private struct DecisionRows {
  private var messages: [UInt32] = []
  private var users: [UInt32] = []
  private var codes: [UInt8] = []
  private var ids: IDColumns?

  init(hasIDs: Bool) { ids = hasIDs ? IDColumns(capacity: 0) : nil }

  var count: Int { codes.count }

  /// Appends the recipients of a message.
  mutating func append(_ result: borrowing FanoutResult, _ number: UInt32) {
    let members = result.memberCount
    guard members > 0 else { return }
    let start = codes.count
    codes.append(contentsOf: repeatElement(0, count: members))
    users.append(contentsOf: repeatElement(0, count: members))
    var kept = 0
    unsafe codes.withUnsafeMutableBufferPointer { codes in
      unsafe users.withUnsafeMutableBufferPointer { users in
        guard let codes = codes.baseAddress, let users = users.baseAddress else { return }
        unsafe result.writeCodes(to: codes + start)
        unsafe result.writeUsers(to: users + start)
        if ids != nil {
          var rank = start
          result.forEachMember { _, id in
            if unsafe codes[rank] != 0 { ids?.append(id) }
            rank += 1
          }
        }
        kept = unsafe pf_compact(codes + start, users + start, members)
      }
    }
    codes.removeLast(members - kept)
    users.removeLast(members - kept)
    messages.append(contentsOf: repeatElement(number, count: kept))
  }

  mutating func finish() -> ArrowBatch {
    let user = ids?.finish() ?? [SharedColumn(copying: users)]
    return ArrowBatch(
      length: codes.count, offset: 0,
      columns: [[SharedColumn(copying: messages)], user, [SharedColumn(copying: codes)]])
  }
}

/// The users of a version.
private final class UserSource: ArrowSource {
  private static let batchSize = 1 << 20
  private let relation: RelationObject
  private var next = 0

  init(_ relation: RelationObject) { self.relation = relation }

  override var fields: [ArrowField] { [ArrowField("user", "I"), ArrowField("id", "U")] }
  override var metadata: [(key: String, value: String)] { relation.metadata }

  override func nextBatch() -> ArrowBatch? {
    let users = next..<min(next + Self.batchSize, relation.version.userCount)
    guard !users.isEmpty else { return nil }
    next = users.upperBound
    var ids = IDColumns(capacity: users.count)
    relation.version.forEachUserID(in: users) { _, id in ids.append(id) }
    return ArrowBatch(
      length: users.count, offset: 0,
      columns: [[SharedColumn(copying: users.map { UInt32($0) })], ids.finish()])
  }
}
