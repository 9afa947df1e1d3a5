internal import HTTPTypes
internal import NIOCore
internal import PushFiles
internal import PushModel
internal import PushService
internal import PushStore
internal import PushStoreService

/// `POST /v1/settings`: a batch of operations, all or none.
enum SettingsEndpoint {
  /// What was written by one request.
  struct Written: Sendable {
    /// How many lines there were of each operation; records are `record`.
    let operations: [String: Int]
    /// The number of the last change, `EPOCH:N`.
    let sequence: String
    var json: [UInt8] { Array("{\"sequence\":\"\(sequence)\"}\n".utf8) }
  }

  /// - Parameters:
  ///   - deadline: a write that is not begun by then is not made; nil for one that may wait.
  ///   - note: is told what was written, before it is answered; not for a request that gets the
  ///     answer of an earlier one.
  static func reply(
    _ request: ServerRequest, _ app: OpenedApp, _ caller: Caller,
    by deadline: ContinuousClock.Instant?, _ note: @escaping @Sendable (Written) -> Void
  ) throws -> Reply {
    let device = try request.parameter("device").map { Identifier($0) }
    let condition = try condition(request.fields)
    // Keys are their caller's own.
    let (keys, caller) = (app.idempotency, caller.name)
    let key = try request.fields[.idempotencyKey].map(checked)
    if let key, let answer = try answered(key, of: caller, device, request.body, keys) {
      return .answer(answer)
    }
    do {
      let batch = try Batch(request.body, app)
      // After everything else that may be wrong (RFC 9110, 13.2.1).
      if let condition, condition.epoch != app.epoch {
        throw ServerFailure.changed("If-Match is of another store; read the record again")
      }
      return .later { done in
        batch.write(app, device, by: deadline, unchangedSince: condition?.number) { result in
          if let key { keys.finish(key, of: caller, try? result.get().json) }
          done(
            result.map { written in
              note(written)
              return Answer(Answer.json, written.json)
            })
        }
      }
    } catch {
      if let key { keys.finish(key, of: caller, nil) }
      throw error
    }
  }

  /// The number of `If-Match`: what is written must not have changed since (RFC 9110, 13.1.1); nil
  /// without a condition.
  private static func condition(
    _ fields: HTTPFields
  ) throws(ServerFailure) -> (epoch: String, number: Int64)? {
    guard let tag = fields[.ifMatch], tag != "*" else { return nil }
    guard let parts = tag.wholeMatch(of: /"([0-9a-f]{32}):([0-9]{1,18})"/),
      let number = Int64(parts.2)
    else {
      throw .badRequest("If-Match is not \"EPOCH:N\", the ETag of /v1/record")
    }
    return (String(parts.1), number)
  }

  /// `GET /v1/record`: a record as a line, and the number that `If-Match` takes.
  static func record(_ request: ServerRequest, _ app: OpenedApp) throws -> Answer {
    let found = try app.store.reader.record(
      of: request.parameter("user").map { Identifier($0) },
      in: request.parameter("conversation").map { Identifier($0) })
    var answer = Answer(Answer.json, found.line)
    answer.fields[.eTag] = "\"\(app.epoch):\(found.sequence)\""
    return answer
  }

  private static func checked(_ key: String) throws(ServerFailure) -> String {
    guard (1...255).contains(key.utf8.count) else {
      throw .badRequest("Idempotency-Key has more than 255 bytes, or none")
    }
    return key
  }

  /// The answer to an earlier request with the same key; nil for a key that is new.
  private static func answered(
    _ key: String, of caller: String, _ device: Identifier?, _ body: ByteBuffer,
    _ keys: IdempotencyKeys
  ) throws(ServerFailure) -> Answer? {
    // The device says what is written, as the body does.
    let digested = Array((device.map { "\($0.text)\n" } ?? "\n").utf8) + body.readableBytesView
    switch keys.begin(key, of: caller, digested) {
    case .answered(let bytes): return Answer(Answer.json, bytes)
    case .isUnderWay:
      throw ServerFailure(
        .conflict, "under_way", "a write with this Idempotency-Key is under way; try again",
        fields: [.retryAfter: "1"])
    case .isOfAnotherBody:
      throw ServerFailure(
        .unprocessableContent, "key_reused",
        "this Idempotency-Key was used with another body; use a new one for each write")
    case .new: return nil
    }
  }
}

/// The lines of a body: records and operations.
private struct Batch: Sendable {
  /// So many records have entries of their own in the change feed.
  private static let listLimit = 10_000

  private let operations: [(line: Int, operation: SettingsOperation)]
  private let records: SettingsBatch?
  private let recordCount: Int

  init(_ body: ByteBuffer, _ app: OpenedApp) throws {
    var lines: [SettingsLoader.Operation]? = []
    let read: Result<(batch: SettingsBatch, records: Int), FileProblem>
    do throws(FileProblem) {
      read = .success(try app.service.batch(ndjson: Array(buffer: body), operations: &lines))
    } catch {
      if error.problem == .isEmpty { throw error }
      read = .failure(error)
    }
    // The first line that is wrong is named, a record or an operation.
    var end = Int.max
    if case .failure(let problem) = read { end = problem.line ?? 0 }
    operations = try (lines ?? []).prefix { $0.line < end }.map { line, fields in
      do { return (line, try SettingsOperation(fields, app.rules)) } catch {
        throw OperationFailure(line: line, error: error)
      }
    }
    let (batch, count) = try read.get()
    (records, recordCount) = (count > 0 ? batch : nil, count)
  }

  /// - Parameter done: is called once, on the thread that commits.
  func write(
    _ app: OpenedApp, _ device: Identifier?, by deadline: ContinuousClock.Instant?,
    unchangedSince sequence: Int64?,
    _ done: @escaping @Sendable (Result<SettingsEndpoint.Written, any Error>) -> Void
  ) {
    app.store.write(at: WallClock.now, from: device) { write in
      if let deadline, ContinuousClock.now >= deadline { throw ServerFailure.expired }
      if let records {
        // Followers take the changes that are listed, and otherwise all settings again.
        try write.add(
          records.settings, content: records.content, replacingApp: records.replacesApp,
          listing: recordCount <= Self.listLimit)
      }
      for (line, operation) in operations {
        do { try operation.apply(to: &write) } catch {
          throw OperationFailure(line: line, error: error)
        }
      }
      if let sequence { try write.checkUnchanged(since: sequence) }
      return try write.sequence
    } then: { result in
      done(
        result.map { sequence in
          var counts = Dictionary(operations.map { ($0.operation.name, 1) }, uniquingKeysWith: +)
          if recordCount > 0 { counts["record"] = recordCount }
          return SettingsEndpoint.Written(
            operations: counts, sequence: "\(app.epoch):\(sequence)")
        })
    }
  }
}

/// An operation that is not understood, or that the store refused.
struct OperationFailure: Error {
  let line: Int
  let error: any Error
}
