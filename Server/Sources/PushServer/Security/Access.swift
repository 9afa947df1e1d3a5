internal import HTTPTypes
internal import Synchronization

/// Who makes a request, and what that allows.
struct Caller: Sendable {
  let name: String
  let scopes: Set<Scope>

  /// Who makes a request that needs no key.
  static let anonymous = Caller(name: "", scopes: [])
}

/// Finds out who makes a request. Keys are replaced while requests are under way.
final class Access: Sendable {
  private let options: ServerOptions
  private let file: Mutex<KeyFile?>
  private let owners: KeyOwners
  private let app: String

  /// - Parameters:
  ///   - owners: is told the keys.
  ///   - app: whose keys they are.
  init(_ options: ServerOptions, _ owners: KeyOwners, app: String) throws(OptionError) {
    self.options = options
    self.owners = owners
    self.app = app
    file = Mutex(nil)
    try reload()
  }

  /// Reads the keys again; those that were there stay when the file is wrong.
  func reload() throws(OptionError) {
    guard let path = options.keys else { return }
    let old = file.withLock { $0 }
    let new = try KeyFile(path: path, ratePerSecond: options.rateLimit, keeping: old)
    try owners.set(new, of: app, path: path)
    file.withLock { $0 = new }
  }

  /// - Throws: ``ServerFailure`` 401, 403 or 429.
  func caller(_ fields: HTTPFields, needs scope: Scope) throws(ServerFailure) -> Caller {
    let caller = try find(fields)
    guard caller.scopes.contains(scope) else {
      throw ServerFailure(
        .forbidden, "forbidden",
        "the key \(caller.name) has no scope \(scope.rawValue); use another key")
    }
    return caller
  }

  private func find(_ fields: HTTPFields) throws(ServerFailure) -> Caller {
    if options.insecure { return Caller(name: "anybody", scopes: Set(Scope.allCases)) }
    guard let value = fields.text(.authorization) else {
      if options.clientCa != nil {
        return Caller(name: "client", scopes: options.clientScopes ?? [.decide, .read])
      }
      throw Self.unauthorized("no key: send Authorization: Bearer KEY")
    }
    guard let bearer = Self.bearer(value), let key = file.withLock({ $0 })?.find(bearer) else {
      throw Self.unauthorized("the key is not known")
    }
    guard key.bucket.take() else {
      throw ServerFailure(
        .tooManyRequests, "rate_limited",
        "the key \(key.name) makes more than \(options.rateLimit) requests a second; wait",
        fields: [.retryAfter: "1"])
    }
    return Caller(name: key.name, scopes: key.scopes)
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
