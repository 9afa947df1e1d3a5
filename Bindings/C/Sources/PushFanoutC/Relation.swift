// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import Glibc
internal import PushFanout
internal import PushModel

/// Messages, the version of the settings that decides them, and how their rows look.
final class RelationObject: HandleObject, Sendable {
  let engine: EngineObject
  let messages: MessagesObject
  let version: FanoutVersion
  let userForm: UserForm

  init(_ engine: EngineObject, _ messages: MessagesObject, _ userForm: UserForm) {
    self.engine = engine
    self.messages = messages
    version = engine.engine.currentVersion
    self.userForm = userForm
  }

  /// The metadata of the schemas.
  var metadata: [(key: String, value: String)] {
    [
      ("push_fanout.epoch", "\(version.epoch)"), ("push_fanout.sequence", "\(version.number)"),
      ("push_fanout.outcomes", "\(Outcome.registryVersion)"),
    ]
  }
}

@c @implementation
func pf_swift_relation_new(
  _ engine: OpaquePointer?, _ messages: OpaquePointer?, _ flags: UInt32,
  _ relation: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let relation = try unsafe result(relation)
    let messages = try unsafe MessagesObject.at(messages, of: engine)
    guard flags <= PF_ARROW_ID_VIEWS else {
      throw CallError("flags must be 0, PF_ARROW_IDS or PF_ARROW_ID_VIEWS")
    }
    let object = unsafe RelationObject(EngineObject.of(engine), messages, UserForm(flags: flags))
    unsafe relation.pointee = try object.handle(PF_KIND_relation, of: engine)
  }
}

@c @implementation
func pf_swift_relation_stream(
  _ relation: OpaquePointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
  _ error: ErrorText
) -> Int32 {
  unsafe exporting(to: stream, error) { unsafe DecisionSource(RelationObject.at(relation)) }
}

@c @implementation
func pf_swift_relation_users(
  _ relation: OpaquePointer?, _ stream: UnsafeMutablePointer<ArrowArrayStream>?,
  _ error: ErrorText
) -> Int32 {
  unsafe exporting(to: stream, error) { unsafe UserSource(RelationObject.at(relation)) }
}

/// The rows of a relation, batch by batch.
private final class DecisionSource: ArrowSource {
  /// Messages of fewer members are put together until there are about so many rows.
  static let batchSize = 65_536
  /// So many pieces of a shared column at most are batches of their own.
  private static let pieceLimit = 8

  private let relation: RelationObject
  private var next = 0
  /// How many messages are decided together: one after a large conversation, otherwise several.
  private var stride = 1
  private var result = FanoutResult()
  private var waiting: [ArrowBatch] = []
  /// The users of the last large conversation.
  private var shared: (membership: UInt64, users: [SharedColumn])?
  private let views = IDViewCache()

  init(_ relation: RelationObject) { self.relation = relation }

  override var fields: [ArrowField] {
    [
      ArrowField("message", "I"), ArrowField("user", relation.userForm.format),
      ArrowField("code", "C"),
    ]
  }

  override var metadata: [(key: String, value: String)] { relation.metadata }

  override func nextBatch() -> ArrowBatch? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    views.beginBatch()
    let messages = relation.messages.messages
    let rows = DecisionRows(relation.userForm, views, capacity: 2 * Self.batchSize)
    while next < messages.count, rows.count < Self.batchSize {
      let indices = next..<min(next + stride, messages.count)
      stride = min(2 * stride, 32)
      // Those that are decided behind a full batch, or behind a large conversation, are decided
      // again for the next batch.
      var isFull = false
      relation.engine.engine.decide(messages, indices, on: relation.version, into: &result) {
        index, result in
        if isFull { return }
        if result.memberCount > Self.batchSize {
          isFull = true
          stride = 1
          // Those of the messages before come first.
          if rows.count > 0 { return }
          appendLarge(result, UInt32(index))
        } else {
          rows.append(result, UInt32(index))
          isFull = rows.count >= Self.batchSize
        }
        next = index + 1
      }
      if isFull, rows.count > 0 { break }
      if !waiting.isEmpty { return waiting.removeFirst() }
    }
    return rows.count > 0 ? rows.finish() : nil
  }

  /// The rows of a message to a large conversation: pieces between members who are no recipients,
  /// on shared columns, unless there are many.
  private func appendLarge(_ result: borrowing FanoutResult, _ number: UInt32) {
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
      let rows = DecisionRows(relation.userForm, views, capacity: count)
      rows.append(result, number)
      if rows.count > 0 { waiting.append(rows.finish()) }
      return
    }
    guard !pieces.isEmpty else { return }
    let messages = SharedColumn(UInt32.self, count)
    unsafe pf_fill(messages.values(), count, number)
    let users = users(of: result)
    for piece in pieces {
      waiting.append(
        ArrowBatch(
          length: piece.count, offset: piece.lowerBound, columns: [[messages], users, [codes]]))
    }
  }

  /// The users of the result's conversation: those of the last large one, if they are the same.
  private func users(of result: borrowing FanoutResult) -> [SharedColumn] {
    let membership = result.membershipVersion
    if let shared, shared.membership == membership { return shared.users }
    let made: [SharedColumn]
    switch relation.userForm {
    case .numbers:
      let users = SharedColumn(UInt32.self, result.memberCount)
      unsafe result.writeUsers(to: users.values())
      made = [users]
    case .ids:
      var ids = IDColumns(capacity: result.memberCount)
      result.forEachMember { _, id in ids.append(id) }
      made = ids.finish()
    case .views:
      let views = IDViewCache()
      made = [views.views(of: result)] + views.finish()
    }
    shared = (membership, made)
    return made
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
