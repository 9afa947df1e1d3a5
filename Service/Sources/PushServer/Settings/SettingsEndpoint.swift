internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import PushModel
internal import PushService
internal import PushStore

/// `POST /v1/settings`: a batch of operations, all or none.
enum SettingsEndpoint {
  static let types = ["application/x-ndjson", "application/json", "text/plain"]

  /// What was written by one request.
  struct Written: Sendable {
    let operations: Int
    /// The number of the last change, `EPOCH:N`.
    let sequence: String
    var json: [UInt8] { Array("{\"sequence\":\"\(sequence)\"}\n".utf8) }
  }

  /// - Parameter note: is told what was written, before it is answered; not for a request that gets
  ///   the answer of an earlier one.
  static func reply(
    _ request: ServerRequest, _ app: OpenedApp, _ caller: Caller,
    _ note: @escaping @Sendable (Written) -> Void
  ) throws -> Reply {
    let device = try request.parameter("device").map { Identifier($0) }
    // Keys are their caller's own.
    let name = try request.fields[.idempotencyKey].map { "\(caller.name) \(try checked($0))" }
    if let name, let answer = try answered(name, request.body, app) { return .answer(answer) }
    do {
      let batch = try Batch(request.body, app)
      return .later { done in
        batch.write(app, device) { result in
          if let name { app.idempotency.finish(name, try? result.get().json) }
          done(
            result.map { written in
              note(written)
              return Answer(Answer.json, written.json)
            })
        }
      }
    } catch {
      if let name { app.idempotency.finish(name, nil) }
      throw error
    }
  }

  private static func checked(_ key: String) throws(ServerFailure) -> String {
    guard (1...255).contains(key.utf8.count) else {
      throw .badRequest("Idempotency-Key has more than 255 bytes, or none")
    }
    return key
  }

  /// The answer to an earlier request with the same key; nil for a key that is new.
  private static func answered(
    _ name: String, _ body: ByteBuffer, _ app: OpenedApp
  ) throws(ServerFailure) -> Answer? {
    switch app.idempotency.begin(name, body.readableBytesView) {
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
    var operations: [(line: Int, operation: SettingsOperation)] = []
    // Records, at the lines that they have in the body, and how many line ends they have so far.
    var records: [UInt8] = []
    var lineEnds = 0
    var rest = body
    var number = 0
    while let line = Self.nextLine(&rest) {
      number += 1
      do {
        guard let fields = try Self.fields(line, number) else { continue }
        if fields["op"] == nil {
          records += repeatElement(UInt8(ascii: "\n"), count: number - 1 - lineEnds)
          records += line.readableBytesView
          lineEnds = number - 1
        } else {
          operations.append((number, try SettingsOperation(fields, app.rules)))
        }
      } catch {
        var failure = ServerFailure(of: error)
        failure.line = number
        throw failure
      }
    }
    guard !records.isEmpty || !operations.isEmpty else {
      throw ServerFailure.badRequest("the body is empty; send an operation or a record a line")
    }
    self.operations = operations
    (self.records, recordCount) =
      records.isEmpty ? (nil, 0) : try app.service.batch(ndjson: records)
  }

  /// nil for a blank line.
  private static func fields(_ line: ByteBuffer, _ number: Int) throws -> [String: Any]? {
    let isBlank = line.readableBytesView.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
    return isBlank ? nil : try JSONBody.object(line, line: number)
  }

  /// - Parameter done: is called once, on the thread that commits.
  func write(
    _ app: OpenedApp, _ device: Identifier?,
    _ done: @escaping @Sendable (Result<SettingsEndpoint.Written, any Error>) -> Void
  ) {
    app.store.write(at: WallClock.now, from: device) { write in
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
      return try write.sequence
    } then: { result in
      done(
        result.map { sequence in
          SettingsEndpoint.Written(
            operations: recordCount + operations.count, sequence: "\(app.epoch):\(sequence)")
        })
    }
  }

  /// nil at the end.
  private static func nextLine(_ rest: inout ByteBuffer) -> ByteBuffer? {
    let bytes = rest.readableBytesView
    guard !bytes.isEmpty else { return nil }
    let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    let line = rest.readSlice(length: (end ?? bytes.endIndex) - bytes.startIndex)
    if end != nil { rest.moveReaderIndex(forwardBy: 1) }
    return line
  }
}

/// An operation that the store refused.
struct OperationFailure: Error {
  let line: Int
  let error: any Error
}
