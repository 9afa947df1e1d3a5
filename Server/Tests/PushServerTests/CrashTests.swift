import Foundation
import Glibc
import Synchronization
import Testing

@testable import PushServer

/// The program as a process of its own: how it ends, and what is left when it is killed.
@Suite(.serialized) struct CrashTests {
  private static let kills = ProcessInfo.processInfo.environment["PUSH_KILLS"].flatMap { Int($0) }

  /// Goal: after each kill the store has every write that was acknowledged and every value that was
  /// answered, and no answer shows a part of a batch.
  @Test func `No acknowledged write is lost when it is killed`() async throws {
    let seed = ProcessInfo.processInfo.environment["PUSH_SEED"].flatMap { UInt64($0) }
    var generator = SplitMix(state: seed ?? 1)
    let initial = generator.state
    let folder = try TestServer.temporaryFolder()
    // The last level of each user that was acknowledged, and the one that was sent after it.
    let users = 8
    var acknowledged = [Int](repeating: 0, count: users)
    var sent = acknowledged
    for round in 0..<(Self.kills ?? 5) {
      let server = try ServerProcess(folder)
      let delay = UInt32.random(in: 0..<60_000, using: &generator)
      let (begin, connected) = ((acknowledged, sent), round > 0)
      let outcome = try await onThread {
        let connection = try Connection(server.port)
        if connected {
          try Self.check(server, connection, begin.0, begin.1)
        } else {
          let records =
            #"{"kind":"app","rules":"easemob"}"# + "\n"
            + (0..<users).map { #"{"kind":"member","conversation":"g","user":"u\#($0)"}"# + "\n" }
            .joined() + #"{"kind":"member","conversation":"pair","user":"p0"}"# + "\n"
            + #"{"kind":"member","conversation":"pair","user":"p1"}"#
          #expect(try server.post(connection, "/v1/settings", records).status == 200)
        }
        let state = Mutex((acknowledged: begin.0, sent: begin.1))
        let writers = DispatchGroup()
        for user in 0..<users {
          DispatchQueue.global().async(group: writers) {
            guard let connection = try? Connection(server.port) else { return }
            var value = state.withLock { $0.sent[user] }
            while true {
              value += 1
              state.withLock { $0.sent[user] = value }
              // Each value is a number of minutes, so that it can be read back.
              let line =
                #"{"op":"setSilentModeForAll","user":"u\#(user)","start":"\#(Self.clock(value / 1440))","#
                + #""end":"\#(Self.clock(value % 1440))"}"#
              guard let response = try? server.post(connection, "/v1/settings", line),
                response.status == 200
              else { return }
              state.withLock { $0.acknowledged[user] = value }
            }
          }
        }
        DispatchQueue.global().async(group: writers) { Self.writePairs(server) }
        DispatchQueue.global().async(group: writers) { Self.readPairs(server) }
        let seen = Mutex(begin.0)
        DispatchQueue.global().async(group: writers) {
          guard let connection = try? Connection(server.port) else { return }
          var user = 0
          // What was answered once was on the disk.
          while let value = try? Self.value(server, connection, of: user) {
            seen.withLock { $0[user] = max($0[user], value) }
            user = (user + 1) % users
          }
        }
        usleep(20_000 + delay)
        _ = server.end(SIGKILL)
        writers.wait()
        let known = seen.withLock { $0 }
        return state.withLock { (zip($0.acknowledged, known).map(max), $0.sent) }
      }
      (acknowledged, sent) = outcome
    }
    let (lastAcknowledged, lastSent) = (acknowledged, sent)
    let server = try ServerProcess(folder)
    try await onThread {
      try Self.check(server, try Connection(server.port), lastAcknowledged, lastSent)
    }
    #expect(acknowledged.reduce(0, +) > 0, "seed \(initial)")
    #expect(server.end(SIGTERM) == 0)
    try FileManager.default.removeItem(at: folder)
  }

  /// What is stored of each user is what was acknowledged or answered last, or what was under way.
  private static func check(
    _ server: ServerProcess, _ connection: Connection, _ acknowledged: [Int], _ sent: [Int]
  ) throws {
    for user in acknowledged.indices where acknowledged[user] > 0 {
      let value = try value(server, connection, of: user)
      #expect((acknowledged[user]...sent[user]).contains(value), "u\(user)")
    }
    #expect(try isWhole(server, connection))
  }

  /// The value that a user's quiet hours are; 0 for none.
  private static func value(
    _ server: ServerProcess, _ connection: Connection, of user: Int
  ) throws -> Int {
    let message = #"{"id":"m","conversation":"g","at":1717400000000}"#
    let text = try server.post(
      connection, "/v1/explain", #"{"message":\#(message),"user":"u\#(user)"}"#,
      "application/json"
    ).text
    guard let hours = text.firstMatch(of: #/"found":"(\d+):(\d+)-(\d+):(\d+);/#) else { return 0 }
    let parts = [hours.1, hours.2, hours.3, hours.4].compactMap { Int($0) }
    return (parts[0] * 60 + parts[1]) * 1440 + parts[2] * 60 + parts[3]
  }

  /// Whether both of the pair get a push, or none.
  private static func isWhole(_ server: ServerProcess, _ connection: Connection) throws -> Bool {
    let text = try server.post(
      connection, "/v1/decide?format=pushes", #"{"id":"m","conversation":"pair","at":5}"#
    ).text
    return text.contains(#""p0""#) == text.contains(#""p1""#)
  }

  /// Turns the pushes of both on and off in one batch, until the server ends.
  private static func writePairs(_ server: ServerProcess) {
    guard let connection = try? Connection(server.port) else { return }
    for round in 0... {
      let lines = (0..<2).map {
        #"{"op":"setSilentModeForConversation","user":"p\#($0)","conversation":"pair","#
          + #""level":"\#(round % 2 == 0 ? "none" : "all")"}"#
      }
      guard (try? server.post(connection, "/v1/settings", lines.joined(separator: "\n"))) != nil
      else { return }
    }
  }

  /// Decides for the pair until the server ends.
  private static func readPairs(_ server: ServerProcess) {
    guard let connection = try? Connection(server.port) else { return }
    while let isWhole = try? isWhole(server, connection) {
      #expect(isWhole, "a part of a batch was answered")
    }
  }

  /// A minute of the day as a time.
  private static func clock(_ minute: Int) -> String { "\(minute / 60):\(minute % 60)" }

  @Test func `It ends with 0 at SIGTERM, and what is under way is answered`() async throws {
    let folder = try TestServer.temporaryFolder()
    let server = try ServerProcess(folder)
    let text = try await onThread {
      let connection = try Connection(server.port)
      let line = #"{"kind":"app","rules":"easemob"}"#
      try connection.send(
        "POST /v1/settings HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(line.utf8.count)\r\n\r\n{"
      )
      usleep(300_000)
      kill(server.process.processIdentifier, SIGTERM)
      usleep(300_000)
      try connection.send(String(line.dropFirst()))
      return try connection.rest()
    }
    #expect(text.hasPrefix("HTTP/1.1 200"))
    server.process.waitUntilExit()
    #expect(server.process.terminationStatus == 0)
  }

  @Test func `A request that never ends does not keep it from ending`() async throws {
    let folder = try TestServer.temporaryFolder()
    let server = try ServerProcess(folder, ["--shutdown-timeout", "1"])
    let connection = try Connection(server.port)
    try connection.send(
      "POST /v1/settings HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    let streaming = try Connection(server.port)
    try streaming.send(
      "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
    #expect(try streaming.head().status == 200)
    #expect(server.end(SIGTERM) == 0)
    withExtendedLifetime((connection, streaming)) {}
  }

  @Test func `Wrong usage ends with 2, a missing store with 1, and both say what to do`() throws {
    func run(_ arguments: [String]) throws -> String {
      let process = Process()
      process.executableURL = ServerProcess.program
      process.arguments = arguments
      let log = Pipe()
      process.standardError = log
      try process.run()
      let text = String(decoding: try log.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      let line = text.split(separator: "\n").last { $0.hasPrefix("push-fanout-server: ") } ?? ""
      return "\(process.terminationStatus) \(line.dropFirst(20))"
    }
    let listen = ["--listen", "127.0.0.1:0"]
    #expect(
      try run(["--wrong"])
        == "2 Unknown option '--wrong'; push-fanout-server --help lists all options")
    #expect(try run(["key", "a b", "read"]).hasPrefix("2 A name has no blanks and no #;"))
    #expect(try run(["key", "a", "all"]).hasPrefix("2 <SCOPES> all is no list of scopes"))
    #expect(try run(["--store", "x", "--threads", "no"]) == "2 --threads no is not a number")
    #expect(
      try run(["--store", "/none/app.store", "--insecure"] + listen)
        == "1 there is no store /none/app.store; import settings to make one")
    #expect(
      try run(["--store", "/none/app.store", "--insecure", "--check-config"])
        == "2 there is no store /none/app.store that can be read")
  }
}

/// Random numbers from a seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
