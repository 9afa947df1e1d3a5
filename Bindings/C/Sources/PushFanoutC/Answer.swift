// swift-format-ignore-file: AlwaysUseLowerCamelCase
internal import CPushFanoutABI
internal import PushFanout
internal import PushModel
internal import QuietTime

/// The answer behind a handle.
///
/// SAFETY: the caller decides into it on one thread, while no other uses it.
final class AnswerObject: HandleObject, @unchecked Sendable {
  @exclusivity(unchecked) fileprivate(set) var result = FanoutResult()
  @exclusivity(unchecked) fileprivate var message = Message(id: "", conversation: "", at: .zero)
  @exclusivity(unchecked) fileprivate var isPlain = true
  /// The epoch and version of an empty result are those of the engine.
  fileprivate let engine: EngineObject

  init(_ engine: EngineObject) { self.engine = engine }

  var stamp: pf_stamp { unsafe pf_stamp(result) }
}

extension pf_stamp {
  /// That of an answer without ranks.
  init(_ version: FanoutVersion) {
    self.init(epoch: version.epoch, sequence: version.number, membership: 0)
  }

  init(_ result: borrowing FanoutResult) {
    self.init(
      epoch: result.epoch, sequence: result.version, membership: result.membershipVersion)
  }
}

extension pf_summary {
  init(_ result: borrowing FanoutResult) {
    let counts = result.counts
    self.init(
      stamp: pf_stamp(result), members: UInt64(result.memberCount),
      recipients: UInt64(counts.recipientCount), pushes: UInt64(counts.pushCount))
  }
}

@c @implementation
func pf_swift_answer_new(
  _ engine: OpaquePointer?, _ answer: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let answer = try unsafe result(answer)
    unsafe answer.pointee = try AnswerObject(EngineObject.of(engine)).handle(
      PF_KIND_answer, of: engine)
  }
}

// MARK: Deciding

/// A message of C.
@inline(__always)
private func checked(
  _ message: UnsafePointer<pf_message>?
) throws -> UnsafePointer<pf_message> {
  guard
    let message = unsafe message,
    unsafe message.pointee.struct_size >= MemoryLayout<pf_message>.stride
  else { throw CallError("message is NULL, or its struct_size is not that of pf_message") }
  return unsafe message
}

extension AnswerObject {
  /// An answer of an engine.
  @inline(__always)
  fileprivate static func at(
    _ answer: OpaquePointer?, of engine: OpaquePointer?
  ) throws -> AnswerObject {
    guard unsafe pf_is_answer(answer, engine) != 0 else {
      throw CallError("answer is NULL, closed, or of another engine")
    }
    return unsafe AnswerObject.at(answer)
  }
}

@c @implementation
func pf_swift_decide(
  _ engine: OpaquePointer?, _ message: UnsafePointer<pf_message>?,
  _ answer: OpaquePointer?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let message = try unsafe checked(message)
    let answer = try unsafe AnswerObject.at(answer, of: engine)
    let engine = unsafe EngineObject.of(engine)
    do {
      try unsafe answer.message.read(message, under: engine.rules, isPlain: &answer.isPlain)
    } catch {
      unsafe answer.result = FanoutResult()
      throw error
    }
    unsafe engine.engine.decide(answer.message, into: &answer.result)
  }
}

@c @implementation
func pf_swift_decide_at(
  _ engine: OpaquePointer?, _ messages: OpaquePointer?, _ index: Int,
  _ answer: OpaquePointer?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let messages = try unsafe MessagesObject.at(messages, of: engine)
    let answer = try unsafe AnswerObject.at(answer, of: engine)
    do {
      let message = try messages.message(index)
      unsafe EngineObject.of(engine).engine.decide(message, into: &answer.result)
    } catch {
      unsafe answer.result = FanoutResult()
      throw error
    }
  }
}

// MARK: Reading

@c @implementation
func pf_swift_answer_summary(
  _ answer: OpaquePointer?, _ summary: UnsafeMutablePointer<pf_summary>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let summary = try unsafe result(summary)
    unsafe summary.pointee = pf_summary(AnswerObject.at(answer).result)
  }
}

@c @implementation
func pf_swift_answer_counts(
  _ answer: OpaquePointer?, _ counts: UnsafeMutablePointer<UInt32>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let counts = try unsafe result(counts)
    unsafe write(AnswerObject.at(answer).result.counts, to: counts)
  }
}

func write(_ counts: FanoutCounts, to output: UnsafeMutablePointer<UInt32>) {
  var span = unsafe UnsafeMutableBufferPointer(start: output, count: Outcome.codeCount).mutableSpan
  counts.write(into: &span)
}

extension FanoutResult {
  /// Writes the codes of all members to memory that is large enough.
  borrowing func writeCodes(to output: UnsafeMutablePointer<UInt8>) {
    let buffer = unsafe UnsafeMutableBufferPointer(start: output, count: memberCount)
    var span = unsafe buffer.mutableSpan
    writeCodes(into: &span)
  }

  /// Writes the users of all members to memory that is large enough.
  borrowing func writeUsers(to output: UnsafeMutablePointer<UInt32>) {
    let buffer = unsafe UnsafeMutableBufferPointer(start: output, count: memberCount)
    var span = unsafe buffer.mutableSpan
    writeUsers(into: &span)
  }

  /// Calls `body` with the codes of all members.
  borrowing func withCodes(_ body: (UnsafeMutablePointer<UInt8>) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, memberCount)) { codes in
      guard let start = codes.baseAddress else { return }
      unsafe writeCodes(to: start)
      unsafe body(start)
    }
  }
}

/// Has `write` fill a buffer if it is large enough.
private func filling<Element>(
  _ buffer: UnsafeMutablePointer<Element>?, _ capacity: Int, _ count: UnsafeMutablePointer<Int>?,
  _ needed: Int, _ error: ErrorText, _ write: (UnsafeMutablePointer<Element>) -> Void
) -> Int32 {
  unsafe answering(error) {
    unsafe count?.pointee = needed
    guard needed <= UInt(bitPattern: capacity) else {
      throw CallError("the buffer is too small; *count is needed", status: PF_TOO_SMALL)
    }
    if needed > 0 { unsafe write(try result(buffer)) }
  }
}

@c @implementation
func pf_swift_answer_codes(
  _ answer: OpaquePointer?, _ codes: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
  _ count: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  let answer = unsafe AnswerObject.at(answer)
  return unsafe filling(codes, capacity, count, answer.result.memberCount, error) {
    unsafe answer.result.writeCodes(to: $0)
  }
}

@c @implementation
func pf_swift_answer_push_bitmap(
  _ answer: OpaquePointer?, _ bitmap: UnsafeMutablePointer<UInt8>?, _ capacity: Int,
  _ count: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  let answer = unsafe AnswerObject.at(answer)
  let members = unsafe answer.result.memberCount
  return unsafe filling(bitmap, capacity, count, (members + 7) / 8, error) { bitmap in
    unsafe answer.result.withCodes { unsafe pf_pack_pushes($0, members, bitmap) }
  }
}

@c @implementation
func pf_swift_answer_push_ranks(
  _ answer: OpaquePointer?, _ ranks: UnsafeMutablePointer<UInt32>?, _ capacity: Int,
  _ count: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  let answer = unsafe AnswerObject.at(answer)
  let limit = unsafe answer.result.pushCount
  return unsafe filling(ranks, capacity, count, limit, error) { ranks in
    unsafe answer.result.withCodes { codes in
      var count = 0
      for rank in unsafe 0..<answer.result.memberCount
      where unsafe codes[rank] & 1 == 1 && count < limit {
        unsafe ranks[count] = UInt32(rank)
        count += 1
      }
    }
  }
}

@c @implementation
func pf_swift_answer_users(
  _ answer: OpaquePointer?, _ users: UnsafeMutablePointer<UInt32>?, _ capacity: Int,
  _ count: UnsafeMutablePointer<Int>?, _ error: ErrorText
) -> Int32 {
  let answer = unsafe AnswerObject.at(answer)
  return unsafe filling(users, capacity, count, answer.result.memberCount, error) {
    unsafe answer.result.writeUsers(to: $0)
  }
}

/// Gives the ids that `body` appends.
private func collecting(
  _ ids: UnsafeMutablePointer<pf_ids>?, _ error: ErrorText, _ body: (inout IDCollector) -> Void
) -> Int32 {
  unsafe answering(error) {
    let ids = try unsafe result(ids)
    var collector = IDCollector()
    body(&collector)
    unsafe ids.pointee = collector.finish()
  }
}

@c @implementation
func pf_swift_answer_push_ids(
  _ answer: OpaquePointer?, _ ids: UnsafeMutablePointer<pf_ids>?, _ error: ErrorText
) -> Int32 {
  unsafe collecting(ids, error) { ids in
    unsafe AnswerObject.at(answer).result.pushes.forEachID { _, id in ids.append(id) }
  }
}

@c @implementation
func pf_swift_answer_members(
  _ answer: OpaquePointer?, _ ids: UnsafeMutablePointer<pf_ids>?, _ error: ErrorText
) -> Int32 {
  unsafe collecting(ids, error) { ids in
    unsafe AnswerObject.at(answer).result.forEachMember { _, id in ids.append(id) }
  }
}

@c @implementation
func pf_swift_answer_refused(
  _ answer: OpaquePointer?, _ ids: UnsafeMutablePointer<pf_ids>?, _ error: ErrorText
) -> Int32 {
  unsafe collecting(ids, error) { ids in
    for user in unsafe AnswerObject.at(answer).result.refusedRecipients { ids.append(user.id.text) }
  }
}

@c @implementation
func pf_swift_answer_push_targets(
  _ answer: OpaquePointer?, _ targets: UnsafeMutablePointer<pf_targets>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let targets = try unsafe result(targets)
    var users = IDCollector()
    var devices = IDCollector()
    var starts: [UInt64] = []
    var last: UserIndex?
    unsafe AnswerObject.at(answer).result.pushes.forEachTarget { user, id, device in
      if user != last {
        last = user
        starts.append(UInt64(devices.count))
        users.append(id)
      }
      devices.append(device)
    }
    starts.append(UInt64(devices.count))
    unsafe targets.pointee = pf_targets(
      users: users.finish(), device_starts: copy(starts), devices: devices.finish())
  }
}

@c @implementation
func pf_swift_answer_code(
  _ answer: OpaquePointer?, _ user: UnsafePointer<CChar>?, _ size: Int,
  _ code: UnsafeMutablePointer<UInt8>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let code = try unsafe result(code)
    let user = try unsafe identifier(user, size, "user")
    unsafe code.pointee = AnswerObject.at(answer).result.outcome(of: user)?.code ?? 0
  }
}

// MARK: One user

@c @implementation
func pf_swift_decide_user(
  _ engine: OpaquePointer?, _ source: UnsafePointer<pf_message>?,
  _ user: UnsafePointer<CChar>?, _ size: Int, _ code: UnsafeMutablePointer<UInt8>?,
  _ devices: UnsafeMutablePointer<pf_ids>?, _ stamp: UnsafeMutablePointer<pf_stamp>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let source = try unsafe checked(source)
    let code = try unsafe result(code)
    let engine = unsafe EngineObject.of(engine)
    var message = Message(id: "", conversation: "", at: .zero)
    var isPlain = true
    try unsafe message.read(source, under: engine.rules, isPlain: &isPlain)
    let user = try unsafe identifier(user, size, "user")
    let version = engine.engine.currentVersion
    try version.checkIsDecided(user)
    let decision = version.decision(message, for: user)
    unsafe stamp?.pointee = pf_stamp(version)
    unsafe code.pointee = decision?.outcome.code ?? 0
    guard let devices = unsafe devices else { return }
    var ids = IDCollector()
    for device in decision?.devices ?? [] { ids.append(device.text) }
    unsafe devices.pointee = ids.finish()
  }
}
