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
    // Records, at the lines that they have in the body.
    var records: [UInt8] = []
    var hasRecords = false
    for (index, line) in Self.lines(body).enumerated() {
      let isBlank = line.readableBytesView.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
      do {
        if !isBlank {
          let fields = try JSONBody.object(line, line: index + 1)
          if fields["op"] == nil {
            records += line.readableBytesView
            hasRecords = true
          } else {
            operations.append((index + 1, try SettingsOperation(fields, app.rules)))
          }
        }
      } catch {
        var failure = ServerFailure(of: error)
        failure.line = index + 1
        throw failure
      }
      records.append(UInt8(ascii: "\n"))
    }
    guard hasRecords || !operations.isEmpty else {
      throw ServerFailure.badRequest("the body is empty; send an operation or a record a line")
    }
    self.operations = operations
    (self.records, recordCount) = hasRecords ? try app.service.batch(ndjson: records) : (nil, 0)
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

  private static func lines(_ body: ByteBuffer) -> [ByteBuffer] {
    var rest = body
    var lines: [ByteBuffer] = []
    while rest.readableBytes > 0 {
      let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n"))
      let count = end.map { $0 - rest.readerIndex } ?? rest.readableBytes
      lines.append(rest.readSlice(length: count) ?? ByteBuffer())
      rest.moveReaderIndex(forwardBy: end == nil ? 0 : 1)
    }
    return lines
  }
}

/// An operation that the store refused.
struct OperationFailure: Error {
  let line: Int
  let error: any Error
}
