import PushModel
import PushService

/// A small world of Easemob's in every part of which something is said.
enum Sample {
  static let settings = """
    {"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}
    {"kind":"user","id":"u1","quietHours":{"start":"22:00","end":"8:00"},"devices":[{"id":"phone","token":true},{"id":"tablet","token":false}]}
    {"kind":"user","id":"u2","display":{"name":"Wei"}}
    {"kind":"conversation","id":"g1","type":"group","name":"Friends"}
    {"kind":"member","conversation":"g1","user":"u1"}
    {"kind":"member","conversation":"g1","user":"u2"}
    {"kind":"member","conversation":"g1","user":"u3"}
    {"kind":"member","conversation":"g1","user":"u4","level":"mention"}
    """
  static let messages = """
    {"id":"m1","conversation":"g1","at":"2024-06-03T12:00:00+08:00","sender":"u2","text":"Hello"}
    {"id":"m2","conversation":"g1","at":"2024-06-03T23:30:00+08:00","sender":"u2","mentions":["u4"]}
    {"id":"m3","conversation":"nowhere","at":"2024-06-03T23:30:00+08:00"}
    """
  static let noon = Instant(rfc3339: "2024-06-03T12:00:00+08:00")!

  static func service() throws -> FanoutService {
    try FanoutService(ndjson: Array(settings.utf8), threads: 2)
  }

  static func message(_ id: Identifier = "m1") -> Message {
    Message(id: id, conversation: "g1", at: noon, sender: "u2")
  }
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }
}
