internal import NIOCore
internal import PushFanout
internal import PushFiles
internal import PushModel

/// `POST /v1/presence`: heartbeats of devices, one a line (O-30). They are not stored.
enum PresenceEndpoint {
  /// What one request said.
  struct Noted: Sendable {
    /// How many heartbeats decisions are by.
    fileprivate(set) var count = 0
    /// What is wrong with the other lines, of which the first ones are named.
    fileprivate(set) var failures: [ServerFailure] = []

    private static let listLimit = 100

    fileprivate var json: [UInt8] {
      let named = failures.prefix(Self.listLimit).map(\.object).joined(separator: ",")
      return Array("{\"applied\":\(count),\"refused\":\(failures.count),\"errors\":[\(named)]}\n".utf8)
    }
  }

  /// - Throws: ``ServerFailure`` if no line can be read, or the rules have no heartbeats.
  static func answer(
    _ request: ServerRequest, _ app: OpenedApp, _ note: (Noted) -> Void
  ) throws -> Answer {
    guard app.rules.fields.contains(.seenAt) else { throw FanoutError.noHeartbeats(app.rules) }
    var noted = Noted()
    var heartbeats: [(line: Int, heartbeat: Heartbeat)] = []
    let reader = try HeartbeatReader(Array(buffer: request.body), name: "body")
    var isOver = false
    while !isOver {
      do throws(FileProblem) {
        if let heartbeat = try reader.next() {
          heartbeats.append((reader.lineNumber, heartbeat))
        } else {
          isOver = true
        }
      } catch {
        guard error.isOfOneLine else { throw error }
        noted.failures.append(ServerFailure(error))
      }
    }
    if heartbeats.isEmpty {
      throw noted.failures.first ?? ServerFailure.badRequest("the body is empty")
    }
    app.engine.update { update in
      for (line, heartbeat) in heartbeats {
        do throws(FanoutError) {
          try update.setPresence(heartbeat)
          noted.count += 1
        } catch {
          var failure = ServerFailure(of: error)
          failure.line = line
          noted.failures.append(failure)
        }
      }
    }
    noted.failures.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    note(noted)
    return Answer(Answer.json, noted.json)
  }
}
