internal import Foundation
internal import PushModel
internal import Synchronization

/// Who may do what: a line a key, `name scope[,scope] sha256:HEX [until=DATE]`. Blank lines and those that begin
/// with `#` are passed over. The key itself is in no file.
struct KeyFile: Sendable {
  struct Key: Sendable {
    let name: String
    let scopes: Set<Scope>
    let digest: [UInt8]
    /// When it ends; nil for a key without an end.
    let until: Instant?
    let bucket: TokenBucket
    /// What it has under way.
    let load: Load
  }

  let keys: [Key]

  /// More keys than this are refused, as each request is compared with all of them.
  static let limit = 1000

  /// - Throws: ``OptionError`` that names the line.
  init(
    path: String, ratePerSecond: Int, load: () -> Load, keeping old: KeyFile? = nil
  ) throws(OptionError) {
    try Self.checkMode(path)
    let text: String
    do {
      text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
    } catch {
      throw OptionError("\(path) cannot be read: \(error.localizedDescription)")
    }
    var keys: [Key] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let fields = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      if fields.isEmpty || fields[0].hasPrefix("#") { continue }
      func wrong(_ what: String) -> OptionError {
        OptionError(
          "\(path):\(index + 1): \(what); a line is: name scope[,scope] sha256:HEX [until=DATE]")
      }
      guard fields.count == 3 || fields.count == 4 else {
        throw wrong("\(fields.count) fields instead of 3 or 4")
      }
      guard let scopes = Scope.set(String(fields[1])) else {
        throw wrong("scopes are \(Scope.names)")
      }
      guard fields[2].hasPrefix("sha256:"), let digest = Self.bytes(hex: fields[2].dropFirst(7)),
        digest.count == 32
      else { throw wrong("the digest is not sha256: and 64 hexadecimal digits") }
      let until = fields.count == 4 ? Self.end(fields[3]) : nil
      guard fields.count == 3 || until != nil else {
        throw wrong("\(fields[3].prefix(100)) is not until=2027-01-31 or an instant of RFC 3339")
      }
      let name = String(fields[0])
      guard !keys.contains(where: { $0.digest == digest }) else {
        throw wrong("the key is there twice")
      }
      let known = old?.keys.first { $0.name == name }
      keys.append(
        Key(
          name: name, scopes: scopes, digest: digest, until: until,
          bucket: known?.bucket ?? TokenBucket(perSecond: ratePerSecond),
          load: known?.load ?? load()))
    }
    guard !keys.isEmpty else {
      throw OptionError("\(path) has no key; push-fanout-server key NAME SCOPES makes one")
    }
    guard keys.count <= Self.limit else {
      throw OptionError("\(path) has \(keys.count) keys; at most \(Self.limit) are allowed")
    }
    self.keys = keys
  }

  /// The key with these characters; nil for none. Takes the same time whichever key it is, and
  /// however much of a wrong one is right.
  func find(_ secret: some StringProtocol) -> Key? {
    let digest = Secret.digest(secret)
    var found: Int?
    for (index, key) in keys.enumerated() where Secret.areEqual(key.digest, digest) {
      found = index
    }
    return found.map { keys[$0] }
  }

  /// The end of `until=DATE`: that of the day in UTC, or an instant; nil for another text.
  static func end(_ field: some StringProtocol) -> Instant? {
    guard field.hasPrefix("until=") else { return nil }
    let text = String(field.dropFirst(6))
    guard text.utf8.count == 10 else { return Instant(text: text) }
    return Instant(text: text + "T00:00:00Z").map {
      Instant(milliseconds: $0.milliseconds + 86_400_000)
    }
  }

  /// A new key, and the line that allows it.
  ///
  /// - Parameter until: the date with which it ends; nil for none.
  static func make(
    name: String, scopes: Set<Scope>, until: String? = nil
  ) -> (secret: String, line: String) {
    let secret = "pf_" + Secret.random()
    let digest = Secret.hex(Secret.digest(secret))
    let names = Scope.allCases.filter { scopes.contains($0) }.map(\.rawValue)
    let end = until.map { " until=\($0)" } ?? ""
    return (secret, "\(name) \(names.joined(separator: ",")) sha256:\(digest)\(end)")
  }

  /// - Throws: ``OptionError`` for a file that others may write: they could give themselves a key.
  private static func checkMode(_ path: String) throws(OptionError) {
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: URL(filePath: path).resolvingSymlinksInPath().path)
    guard let mode = attributes?[.posixPermissions] as? Int, mode & 0o022 != 0 else { return }
    throw OptionError("others than its owner may write \(path): chmod go-w \(path)")
  }

  private static func bytes(hex: Substring) -> [UInt8]? {
    let digits = Array(hex.utf8)
    // UInt8(_:radix:) takes a sign too.
    guard digits.count % 2 == 0, hex.allSatisfy(\.isHexDigit), hex.allSatisfy(\.isASCII) else {
      return nil
    }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}

/// So many requests a second, and as many at once.
final class TokenBucket: Sendable {
  private let perSecond: Double
  private let state: Mutex<(tokens: Double, at: ContinuousClock.Instant)>

  /// - Parameter perSecond: 0 for no limit.
  init(perSecond: Int) {
    self.perSecond = Double(perSecond)
    state = Mutex((Double(perSecond), .now))
  }

  func take() -> Bool {
    guard perSecond > 0 else { return true }
    return state.withLock { state in
      let now = ContinuousClock.now
      let passed = (now - state.at) / .seconds(1)
      state.tokens = min(perSecond, state.tokens + passed * perSecond)
      state.at = now
      guard state.tokens >= 1 else { return false }
      state.tokens -= 1
      return true
    }
  }
}
