internal import CLibcrypto

/// Random secrets of 256 bits, and what is kept and compared of them.
enum Secret {
  /// 64 hexadecimal digits that cannot be guessed.
  static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return hex((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// The SHA-256 of a secret: what is kept instead of it.
  static func digest(_ secret: some StringProtocol) -> [UInt8] {
    sha256(Array(secret.utf8))
  }

  /// The SHA-256 of bytes: 32 bytes.
  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
      unsafe SHA256(bytes, bytes.count, digest.baseAddress)
      count = Int(SHA256_DIGEST_LENGTH)
    }
  }

  /// Two hexadecimal digits a byte.
  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Whether bytes are equal, in a time that depends only on their number.
  static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in one.indices { difference |= one[index] ^ other[index] }
    return difference == 0
  }
}
