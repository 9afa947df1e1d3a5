internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import PushModel
internal import PushService
internal import PushStore

/// `POST /v1/settings`: a batch of operations, all or none.
enum SettingsEndpoint {
  static let types = ["application/x-ndjson", "application/json", "text/plain"]
  /// So many records have entries of their own in the change feed.
  private static let listLimit = 10_000

  /// What was written by one request.
  struct Written: Sendable {
    let operations: Int
    /// The number of the last change, `EPOCH:N`.
    let sequence: String
    var json: [UInt8] { Array("{\"sequence\":\"\(sequence)\"}\n".utf8) }
  }

  /// - Returns: the answer, and what was written; nil when the answer is that of an earlier request.
  static func answer(
    _ request: ServerRequest, _ body: ByteBuffer, _ app: OpenedApp, _ caller: Caller
  ) async throws -> (answer: Answer, written: Written?) {
    let device = try request.parameter("device").map { Identifier($0) }
    guard let key = request.fields[.idempotencyKey] else {
      let written = try await write(body, app, device)
      return (Answer(Answer.json, written.json), written)
    }
    guard (1...255).contains(key.utf8.count) else {
      throw ServerFailure.badRequest("Idempotency-Key has more than 255 bytes, or none")
    }
    // Keys are their caller's own.
    let name = "\(caller.name) \(key)"
    switch app.idempotency.begin(name, body.readableBytesView) {
    case .answered(let bytes): return (Answer(Answer.json, bytes), nil)
    case .isUnderWay:
      throw ServerFailure(
        .conflict, "under_way", "a write with this Idempotency-Key is under way; try again",
        fields: [.retryAfter: "1"])
    case .isOfAnotherBody:
      throw ServerFailure(
        .unprocessableContent, "key_reused",
        "this Idempotency-Key was used with another body; use a new one for each write")
    case .new: break
    }
    do {
      let written = try await write(body, app, device)
      app.idempotency.finish(name, written.json)
      return (Answer(Answer.json, written.json), written)
    } catch {
      app.idempotency.finish(name, nil)
      throw error
    }
  }

  private static func write(
    _ body: ByteBuffer, _ app: OpenedApp, _ device: Identifier?
  ) async throws -> Written {
    var operations: [(line: Int, operation: SettingsOperation)] = []
    // Records, at the lines that they have in the body.
    var records: [UInt8] = []
    var hasRecords = false
    for (index, line) in lines(body).enumerated() {
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
    let (batch, count) = hasRecords ? try app.service.batch(ndjson: records) : (nil, 0)
    let sequence = try await app.store.write(at: WallClock.now, from: device) {
      [operations] write in
      if let batch {
        // Followers take the changes that are listed, and otherwise all settings again.
        try write.add(
          batch.settings, content: batch.content, replacingApp: batch.replacesApp,
          listing: count <= listLimit)
      }
      for (line, operation) in operations {
        do { try operation.apply(to: &write) } catch {
          throw OperationFailure(line: line, error: error)
        }
      }
      return try write.sequence
    }
    return Written(
      operations: count + operations.count, sequence: "\(app.epoch):\(sequence)")
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
