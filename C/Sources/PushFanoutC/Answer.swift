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

  func ids(_ body: (inout IDCollector) -> Void) -> pf_ids {
    var ids = IDCollector()
    body(&ids)
    return unsafe ids.finish()
  }
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

func answerNew(_ engine: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  unsafe AnswerObject(EngineObject.of(engine)).retained
}

// MARK: Deciding

func decide(
  _ engine: UnsafeMutableRawPointer?, _ message: UnsafePointer<pf_message>?,
  _ answer: UnsafeMutableRawPointer?, _ error: ErrorText
) -> Int32 {
  let answer = unsafe AnswerObject.at(answer)
  return unsafe answering(error) {
    do {
      try unsafe answer.message.read(message.unsafelyUnwrapped, isPlain: &answer.isPlain)
    } catch {
      unsafe answer.result = FanoutResult()
      throw error
    }
    unsafe EngineObject.of(engine).engine.decide(answer.message, into: &answer.result)
  }
}

func decideAt(
  _ engine: UnsafeMutableRawPointer?, _ messages: UnsafeMutableRawPointer?, _ index: Int,
  _ answer: UnsafeMutableRawPointer?, _ error: ErrorText
) -> Int32 {
  let answer = unsafe AnswerObject.at(answer)
  return unsafe answering(error) {
    do {
      let message = try unsafe MessagesObject.at(messages).message(index)
      unsafe EngineObject.of(engine).engine.decide(message, into: &answer.result)
    } catch {
      unsafe answer.result = FanoutResult()
      throw error
    }
  }
}

// MARK: Reading

func answerSummary(
  _ answer: UnsafeMutableRawPointer?, _ summary: UnsafeMutablePointer<pf_summary>?
) -> Int32 {
  unsafe summary?.pointee = pf_summary(AnswerObject.at(answer).result)
  return PF_OK
}

func answerCounts(
  _ answer: UnsafeMutableRawPointer?, _ counts: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  guard let counts = unsafe counts else { return PF_MISUSE }
  unsafe write(AnswerObject.at(answer).result.counts, to: counts)
  return PF_OK
}

func write(_ counts: FanoutCounts, to output: UnsafeMutablePointer<UInt32>) {
  var span = unsafe UnsafeMutableBufferPointer(start: output, count: Outcome.codeCount).mutableSpan
  counts.write(into: &span)
}

func answerSize(_ answer: UnsafeMutableRawPointer?) -> Int {
  unsafe AnswerObject.at(answer).result.memberCount
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

func answerCodes(_ answer: UnsafeMutableRawPointer?, _ codes: UnsafeMutablePointer<UInt8>?) {
  guard let codes = unsafe codes else { return }
  unsafe AnswerObject.at(answer).result.writeCodes(to: codes)
}

func answerPushBitmap(
  _ answer: UnsafeMutableRawPointer?, _ bitmap: UnsafeMutablePointer<UInt8>?
) {
  let result = unsafe AnswerObject.at(answer).result
  unsafe result.withCodes { unsafe pf_pack_pushes($0, result.memberCount, bitmap) }
}

func answerPushCount(_ answer: UnsafeMutableRawPointer?) -> Int {
  unsafe AnswerObject.at(answer).result.pushCount
}

func answerPushRanks(
  _ answer: UnsafeMutableRawPointer?, _ ranks: UnsafeMutablePointer<UInt32>?
) {
  guard let ranks = unsafe ranks else { return }
  let result = unsafe AnswerObject.at(answer).result
  let limit = result.pushCount
  unsafe result.withCodes { codes in
    var count = 0
    for rank in 0..<result.memberCount where unsafe codes[rank] & 1 == 1 && count < limit {
      unsafe ranks[count] = UInt32(rank)
      count += 1
    }
  }
}

func answerUsers(_ answer: UnsafeMutableRawPointer?, _ users: UnsafeMutablePointer<UInt32>?) {
  guard let users = unsafe users else { return }
  unsafe AnswerObject.at(answer).result.writeUsers(to: users)
}

func answerPushIDs(_ answer: UnsafeMutableRawPointer?, _ ids: UnsafeMutablePointer<pf_ids>?) {
  let answer = unsafe AnswerObject.at(answer)
  unsafe ids?.pointee = answer.ids { ids in
    unsafe answer.result.pushes.forEachID { _, id in ids.append(id) }
  }
}

func answerPushTargets(
  _ answer: UnsafeMutableRawPointer?, _ targets: UnsafeMutablePointer<pf_targets>?
) {
  let result = unsafe AnswerObject.at(answer).result
  var users = IDCollector()
  var devices = IDCollector()
  var starts: [UInt64] = []
  var last: UserIndex?
  result.pushes.forEachTarget { user, id, device in
    if user != last {
      last = user
      starts.append(UInt64(devices.count))
      users.append(id)
    }
    devices.append(device)
  }
  starts.append(UInt64(devices.count))
  unsafe targets?.pointee = pf_targets(
    users: users.finish(), device_starts: copy(starts), devices: devices.finish())
}

func answerMembers(_ answer: UnsafeMutableRawPointer?, _ ids: UnsafeMutablePointer<pf_ids>?) {
  let answer = unsafe AnswerObject.at(answer)
  unsafe ids?.pointee = answer.ids { ids in
    unsafe answer.result.forEachMember { _, id in ids.append(id) }
  }
}

func answerRefused(_ answer: UnsafeMutableRawPointer?, _ ids: UnsafeMutablePointer<pf_ids>?) {
  let refused = unsafe AnswerObject.at(answer).result.refusedRecipients
  var collector = IDCollector(capacity: refused.count)
  for user in refused { collector.append(user.id.text) }
  unsafe ids?.pointee = collector.finish()
}

func answerCode(
  _ answer: UnsafeMutableRawPointer?, _ user: UnsafePointer<CChar>?, _ size: Int,
  _ code: UnsafeMutablePointer<UInt8>?, _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    let user = try unsafe identifier(user, size, "user")
    unsafe code?.pointee = AnswerObject.at(answer).result.outcome(of: user)?.code ?? 0
  }
}

// MARK: One user

func decideUser(
  _ engine: UnsafeMutableRawPointer?, _ source: UnsafePointer<pf_message>?,
  _ user: UnsafePointer<CChar>?, _ size: Int, _ code: UnsafeMutablePointer<UInt8>?,
  _ devices: UnsafeMutablePointer<pf_ids>?, _ stamp: UnsafeMutablePointer<pf_stamp>?,
  _ error: ErrorText
) -> Int32 {
  unsafe answering(error) {
    var message = Message(id: "", conversation: "", at: .zero)
    var isPlain = true
    try unsafe message.read(source.unsafelyUnwrapped, isPlain: &isPlain)
    let user = try unsafe identifier(user, size, "user")
    let version = unsafe EngineObject.of(engine).engine.currentVersion
    try version.checkIsDecided(user)
    let decision = version.decision(message, for: user)
    unsafe stamp?.pointee = pf_stamp(version)
    unsafe code?.pointee = decision?.outcome.code ?? 0
    guard let devices = unsafe devices else { return }
    var ids = IDCollector()
    for device in decision?.devices ?? [] { ids.append(device.text) }
    unsafe devices.pointee = ids.finish()
  }
}
