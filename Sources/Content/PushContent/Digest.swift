internal import CNettle
internal import PushModel

/// Hashes as text, by nettle.
enum Digest {
  /// The 64 digits of a text's SHA-256.
  static func sha256(_ text: String) -> String {
    var context = sha256_ctx()
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe nettle_sha256_init(&context)
    var text = text
    text.withUTF8 { unsafe nettle_sha256_update(&context, $0.count, $0.baseAddress) }
    unsafe nettle_sha256_digest(&context, digest.count, &digest)
    return String(decoding: digest.flatMap { hex($0) }, as: UTF8.self)
  }

  /// The UUID of version 5 of a name in the namespace that S-24 gives (RFC 9562, 5.5).
  static func uuid(_ name: [UInt8]) -> [UInt8] {
    let namespace: [UInt8] = [
      0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30,
      0xc8,
    ]
    var context = sha1_ctx()
    var digest = [UInt8](repeating: 0, count: 20)
    unsafe nettle_sha1_init(&context)
    for bytes in [namespace, name] { unsafe nettle_sha1_update(&context, bytes.count, bytes) }
    unsafe nettle_sha1_digest(&context, digest.count, &digest)
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, byte) in digest.prefix(16).enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text += hex(byte)
    }
    return text
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func hex(_ byte: UInt8) -> [UInt8] {
    [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
