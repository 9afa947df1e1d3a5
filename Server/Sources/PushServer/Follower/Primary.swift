internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import PushModel
internal import PushStore

/// Another server, as a client of it.
struct Primary: Sendable {
  private let client: HTTPClient
  let url: String
  private let key: String
  private let state: ServerState

  /// - Parameter state: the app that asks.
  init(_ url: String, _ client: HTTPClient, for state: ServerState) throws(OptionError) {
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    key = try state.options.readPeerKey()
    self.client = client
    self.state = state
  }

  /// It follows no redirects: who answers with one would choose where keys and spans go, and what
  /// this server asks.
  ///
  /// - Parameter authority: a PEM file of certificates that sign the server's; nil for the system's.
  static func client(authority: String?) -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.timeout.connect = .seconds(5)
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    if let authority {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(authority)
      configuration.tlsConfiguration = tls
    }
    return HTTPClient(
      eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
      configuration: configuration)
  }

  /// The largest answer that is not a snapshot.
  private static let limit = 256 << 20

  /// What has changed; nil when a new snapshot has to be taken.
  func changes(after cursor: String, wait: Int) async throws -> ChangesText? {
    let response = try await get(
      "/v1/changes?after=\(cursor)&wait=\(wait)", timeout: .milliseconds(Int64(wait) + 30_000))
    if response.status == .gone { return nil }
    try await check(response, "/v1/changes")
    return try ChangesText(Array(buffer: try await response.body.collect(upTo: Self.limit)))
  }

  /// What another server is.
  struct Role: Decodable, Sendable {
    let epoch: String
    let role: String
    let supersedes: [String]
  }

  func role() async throws -> Role {
    let response = try await get("/v1/role", timeout: .seconds(10))
    try await check(response, "/v1/role")
    let body = try await response.body.collect(upTo: 1 << 20)
    return try JSONDecoder().decode(Role.self, from: Data(body.readableBytesView))
  }

  /// Writes the store of the primary, as of one commit, to a new file.
  ///
  /// - Returns: the epoch, the last entry of the feed that the file has, and what is superseded.
  func takeSnapshot(to path: String) async throws -> Lineage {
    let response = try await get("/v1/snapshot", timeout: .hours(24))
    try await check(response, "/v1/snapshot")
    guard let settings = response.headers.first(name: "Push-Fanout-Settings"),
      let epoch = settings.split(separator: ":").first,
      let cursor = response.headers.first(name: "Push-Fanout-Cursor"),
      let length = response.headers.first(name: "Content-Length").flatMap({ Int($0) })
    else { throw FollowError("\(url)/v1/snapshot does not say what it is of") }
    try? FileManager.default.removeItem(atPath: path)
    guard
      FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw FollowError("\(path) cannot be written") }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    var count = 0
    for try await part in response.body {
      try file.write(contentsOf: Data(part.readableBytesView))
      count += part.readableBytes
    }
    guard count == length else {
      throw FollowError("\(url)/v1/snapshot ended after \(count) of \(length) bytes")
    }
    try file.synchronize()
    let superseded = response.headers.first(name: "Push-Fanout-Supersedes") ?? ""
    return Lineage(
      follows: String(epoch), cursor: cursor,
      supersedes: superseded.split(separator: ",").map(String.init))
  }

  private func get(_ path: String, timeout: TimeAmount) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: url + path)
    if !key.isEmpty { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
    let trace = TraceContext.oneIn(state.options.traceOneIn)
    if let trace { request.headers.add(name: "traceparent", value: trace.traceparent) }
    let began = ContinuousClock.now
    func note(_ status: Int?) {
      guard let trace else { return }
      let name = "GET " + path.prefix { $0 != "?" }
      state.exporter?.add(
        .init(trace, .client, name, app: state.name, status: status, .now - began), of: trace)
    }
    do {
      let response = try await client.execute(request, timeout: timeout)
      note(Int(response.status.code))
      return response
    } catch {
      note(nil)
      throw error
    }
  }

  private func check(_ response: HTTPClientResponse, _ path: String) async throws {
    guard response.status != .ok else { return }
    let body = try await response.body.collect(upTo: 1 << 16)
    if [401, 403].contains(response.status.code) {
      throw OptionError(
        "\(url)\(path) refuses --peer-key, which needs the scope admin there: \(String(buffer: body))"
      )
    }
    if let target = response.redirect {
      throw OptionError("\(url)\(path) redirects to \(target): give the address itself")
    }
    throw FollowError(
      "\(url)\(path) answered with status \(response.status.code): \(String(buffer: body))")
  }
}

extension HTTPClientResponse {
  /// Where the answer sends the client, which does not go there; nil for no redirect.
  var redirect: String? {
    guard (300..<400).contains(status.code) else { return nil }
    return headers.first(name: "Location") ?? "another address"
  }
}
