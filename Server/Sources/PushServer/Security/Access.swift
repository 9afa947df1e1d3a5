internal import HTTPTypes
internal import PushModel
internal import Synchronization

/// Who makes a request, and what that allows.
struct Caller: Sendable {
  let name: String
  let scopes: Set<Scope>
  /// What everything with the same key has under way.
  let load: Load

  /// Who makes a request that needs no key.
  static let anonymous = Caller(name: "", scopes: [], load: .keyless)
}

/// Finds out who makes a request. Keys are replaced while requests are under way.
final class Access: Sendable {
  private let options: ServerOptions
  private let file: Mutex<KeyFile?>
  private let owners: KeyOwners
  private let app: String
  /// That of everybody who has no key and needs none.
  private let commonLoad: Load

  /// - Parameters:
  ///   - owners: is told the keys.
  ///   - app: whose keys they are.
  init(_ options: ServerOptions, _ owners: KeyOwners, app: String) throws(OptionError) {
    self.options = options
    self.owners = owners
    self.app = app
    commonLoad = Self.load(options)
    file = Mutex(nil)
    try Self.reload([self])
  }

  /// Reads the keys of apps again, of all or of none: those that were there stay when a file is wrong.
  static func reload(_ all: [Access]) throws(OptionError) {
    var read: [(access: Access, keys: KeyFile)] = []
    for access in all {
      guard let path = access.options.keys else { continue }
      let keys = try KeyFile(
        path: path, ratePerSecond: access.options.rateLimit, load: { load(access.options) },
        keeping: access.file.withLock { $0 })
      read.append((access, keys))
    }
    try all.first?.owners.set(
      read.map { ($0.access.app, $0.keys, $0.access.options.keys ?? "") })
    for (access, keys) in read { access.file.withLock { $0 = keys } }
  }

  /// What one key may have under way: seven eighths of everything, so that it cannot keep out others.
  private static func load(_ options: ServerOptions) -> Load {
    Load(
      requests: max(1, options.requestsInFlight * 7 / 8), bytes: options.bytesInFlight * 7 / 8,
      waits: 4096)
  }

  /// - Throws: ``ServerFailure`` 401, 403 or 429.
  func caller(
    _ fields: HTTPFields, needs scope: Scope, or other: Scope? = nil
  ) throws(ServerFailure) -> Caller {
    let caller = try find(fields, counts: true)
    guard caller.scopes.contains(scope) || other.map(caller.scopes.contains) == true else {
      let scopes = other.map { "\(scope.rawValue) or \($0.rawValue)" } ?? scope.rawValue
      throw ServerFailure(
        .forbidden, "forbidden", "the key \(caller.name) has no scope \(scopes); use another key")
    }
    return caller
  }

  /// Whether who made a request may go on with what it has begun.
  func stillAllows(_ fields: HTTPFields, _ scope: Scope) -> Bool {
    (try? find(fields, counts: false))?.scopes.contains(scope) ?? false
  }

  /// - Parameter counts: whether it counts as a request of the key's rate.
  private func find(_ fields: HTTPFields, counts: Bool) throws(ServerFailure) -> Caller {
    if options.insecure {
      return Caller(name: "anybody", scopes: Set(Scope.allCases), load: commonLoad)
    }
    guard let value = fields.text(.authorization) else {
      if options.clientCa != nil {
        return Caller(
          name: "client", scopes: options.clientScopes ?? [.decide, .read], load: commonLoad)
      }
      throw Self.unauthorized("no key: send Authorization: Bearer KEY")
    }
    guard let bearer = Self.bearer(value), let key = file.withLock({ $0 })?.find(bearer) else {
      throw Self.unauthorized("the key is not known")
    }
    if let until = key.until, until <= WallClock.now {
      throw Self.unauthorized("the key \(key.name) ended at \(until.rfc3339); ask for another one")
    }
    guard !counts || key.bucket.take() else {
      throw ServerFailure(
        .tooManyRequests, "rate_limited",
        "the key \(key.name) makes more than \(options.rateLimit) requests a second; wait",
        fields: [.retryAfter: "1"])
    }
    return Caller(name: key.name, scopes: key.scopes, load: key.load)
  }

  /// The key of a request; nil for none.
  static func bearer(_ fields: HTTPFields) -> Substring? {
    fields.text(.authorization).flatMap { bearer($0) }
  }

  private static func bearer(_ value: String) -> Substring? {
    // Without `split`, which would allocate an array for each request.
    guard let space = value.utf8.firstIndex(of: UInt8(ascii: " ")) else { return nil }
    guard value[..<space].lowercased() == "bearer" else { return nil }
    let key = value[space...].drop { $0 == " " }
    return key.isEmpty ? nil : key
  }

  private static func unauthorized(_ message: String) -> ServerFailure {
    ServerFailure(
      .unauthorized, "unauthorized", message, fields: [.wwwAuthenticate: "Bearer"])
  }
}
