/// A small world of each rule set in which much happens, and messages to it.
struct VendorWorld: Sendable, CustomStringConvertible {
  let rules: String
  let settings: [String]
  let messages: [String]

  var description: String { rules }

  /// What evaluates it.
  static let evaluate = ["evaluate", "--settings", "vendor.ndjson", "--messages", "all.ndjson"]

  func write(to place: Workplace) throws {
    try place.write(settings, as: "vendor.ndjson")
    try place.write(messages, as: "all.ndjson")
  }

  /// Ids that CSV and JSON write otherwise, and in upper case for mentions.
  private static let odd = [#"a,b"#, #"say \"x\""#, #"two\nlines"#, " blank ", "é€😀", "UP"]

  private static func members(of conversation: String, _ users: [String]) -> [String] {
    users.map { #"{"kind":"member","conversation":"\#(conversation)","user":"\#($0)"}"# }
  }

  private static func message(_ id: String, to conversation: String, _ rest: String) -> String {
    #"{"id":"\#(id)","conversation":"\#(conversation)",\#(rest)}"#
  }

  private static let night = #""at":"2024-06-03T23:30:00+08:00""#
  private static let noon = #""at":"2024-06-03T12:00:00+08:00""#

  static let easemob = VendorWorld(
    rules: "easemob",
    settings: [
      #"{"kind":"app","rules":"easemob","timeZone":"Asia/Shanghai"}"#,
      #"{"kind":"user","id":"u1","quietHours":{"start":"22:00","end":"08:00"},"#
        + #""devices":[{"id":"p1","notifier":"apns"},{"id":"p2","token":false}]}"#,
      #"{"kind":"user","id":"u2","level":"mention"}"#,
      #"{"kind":"user","id":"u3","level":"none","mutedUntil":"2024-06-03T12:00:00Z"}"#,
      #"{"kind":"user","id":"u4","devices":[{"id":"web","type":"web","state":"foreground"}]}"#,
      #"{"kind":"user","id":"u5","devices":[]}"#,
      #"{"kind":"user","id":"u6","devices":[{"id":"old","state":"kicked"}]}"#,
      #"{"kind":"user","id":"u7","timeZone":"America/New_York","#
        + #""quietHours":{"start":"12:00","end":"11:00"}}"#,
      #"{"kind":"conversation","id":"t,1","type":"thread","parent":"g1"}"#,
      #"{"kind":"conversation","id":"r1","type":"room"}"#,
      #"{"kind":"conversation","id":"p1","type":"private"}"#,
      #"{"kind":"conversation","id":"empty"}"#,
    ] + members(of: "g1", ["u7", "u5", "u6", "u4", "u2", "u1"] + odd) + [
      #"{"kind":"member","conversation":"g1","user":"u3","level":"all"}"#,
      #"{"kind":"member","conversation":"g1","user":"UP","level":"mention"}"#,
      #"{"kind":"member","conversation":"g1","user":"u8","since":1717400000000,"#
        + #""mutedUntil":"2024-06-03T14:00:00Z"}"#,
      #"{"kind":"member","conversation":"t,1","user":"u1","level":"none"}"#,
    ] + members(of: "r1", ["u1", "u9"]) + members(of: "p1", ["u2", "u9"]),
    messages: [
      message("m1", to: "g1", #""sender":"u9",\#(night)"#),
      message("m2", to: "g1", #""sender":"u3",\#(noon),"mentions":["u2","up","u9"]"#),
      message("m\\\"3", to: "g1", #"\#(noon),"mentionsAll":true"#),
      message("m,4", to: "t,1", #""sender":"u2",\#(noon)"#),
      message("m5", to: "g1", #"\#(night),"force":true"#),
      message("m6", to: "g1", #"\#(night),"silent":true"#),
      message("m7", to: "g1", #"\#(noon),"sentAt":5"#),
      message("m8", to: "r1", noon), message("m9", to: "p1", #""sender":"u9",\#(noon)"#),
      message("m10", to: "empty", noon), message("m11", to: "nowhere", noon),
      message("m12", to: "g1", #"\#(noon),"filter":{"accept_notifier_name":["apns"]}"#),
      message("m13", to: "g1", #"\#(noon),"onlineOnly":true"#),
      message("m1", to: "g1", #""at":0,"ext":{"em_at_list":"ALL"}"#),
      message("m14", to: "g1", #""sender":"two\nlines","at":1717408800000"#),
    ])

  static let rongcloud = VendorWorld(
    rules: "rongcloud",
    settings: [
      #"{"kind":"app","rules":"rongcloud","timeZone":"Asia/Shanghai","level":1}"#,
      #"{"kind":"user","id":"u1","quietHours":{"start":"22:00:00","spanMinutes":600,"#
        + #""level":"none"},"levels":{"group":"all"}}"#,
      #"{"kind":"user","id":"u2","quietHours":{"start":"23:00:00","spanMinutes":60,"#
        + #""level":"mention","timeZone":"Asia/Tokyo"},"levels":{"ultraGroup":5}}"#,
      #"{"kind":"user","id":"u3","devices":[{"id":"a"},{"id":"b"},"#
        + #"{"id":"pc","type":"desktop","state":"foreground"}],"pushWhenDesktopOnline":true}"#,
      #"{"kind":"user","id":"u4","devices":[{"id":"a","state":"background"}]}"#,
      #"{"kind":"user","id":"u5","devices":[{"id":"a","state":"background","#
        + #""backgroundSince":"2024-06-03T03:59:00Z"}]}"#,
      #"{"kind":"user","id":"u6","devices":[{"id":"a","state":"loggedOut"}]}"#,
      #"{"kind":"user","id":"u7","devices":[{"id":"a","state":"background"}],"#
        + #""localNotification":{"handledByApp":true}}"#,
      #"{"kind":"conversation","id":"x","type":"ultraGroup","level":"none","#
        + #""channels":{"c1":"all"}}"#,
      #"{"kind":"conversation","id":"s","type":"system"}"#,
      #"{"kind":"conversation","id":"d","type":"discussion"}"#,
      #"{"kind":"conversation","id":"r1","type":"room"}"#,
    ] + members(of: "g1", ["u6", "u5", "u4", "u3", "u2", "u1", "u7"] + odd) + [
      #"{"kind":"member","conversation":"g1","user":"a,b","level":5}"#,
      #"{"kind":"member","conversation":"g1","user":"u8","level":4,"since":1717400000000}"#,
      #"{"kind":"member","conversation":"x","user":"u1","level":1,"#
        + #""channels":{"c1":"none","":"all"}}"#,
    ] + members(of: "x", ["u2", "u3", "u4"] + odd) + members(of: "s", ["u1", "u2"])
      + members(of: "d", ["u1", "u2"]) + members(of: "r1", ["u1"]),
    messages: [
      message("m1", to: "g1", #""sender":"u9",\#(night)"#),
      message("m2", to: "g1", #""sender":"u3",\#(noon),"mentions":["u2","up","u9"]"#),
      message("m\\\"3", to: "g1", #"\#(noon),"mentionsAll":true"#),
      message("m,4", to: "x", #""sender":"u2",\#(noon),"channel":"c1""#),
      message("m5", to: "x", #"\#(night),"mentions":["u2"]"#),
      message("m6", to: "g1", #"\#(night),"silent":true"#),
      message("m7", to: "g1", #"\#(noon),"body":"custom""#),
      message("m8", to: "r1", noon), message("m9", to: "s", noon), message("m10", to: "d", noon),
      message("m11", to: "nowhere", noon),
      message("m12", to: "g1", #"\#(noon),"backlog":true,"pushContent":"x""#),
      message("m13", to: "g1", #"\#(noon),"body":"status""#),
      message("m1", to: "x", #""at":0,"channel":"c2","mentionsAll":true"#),
      message("m14", to: "g1", #""sender":"two\nlines","at":1717408800000"#),
    ])

  static let open = VendorWorld(
    rules: "open",
    settings: [
      #"{"kind":"app","rules":"open","timeZone":"Asia/Shanghai","level":"all","#
        + #""quiet":[{"start":"23:00","end":"7:00","allow":"direct"}]}"#,
      #"{"kind":"user","id":"u1","keywords":["on call"],"#
        + #""quiet":[{"days":["mon"],"start":"22:00","end":"8:00","allow":["keyword"]}],"#
        + #""devices":[{"id":"p1","notifier":"apns"},{"id":"p2","token":false}]}"#,
      #"{"kind":"user","id":"u2","level":"mentions","quiet":[]}"#,
      #"{"kind":"user","id":"u3","level":"none","mutedUntil":"2024-06-03T12:00:00Z"}"#,
      #"{"kind":"user","id":"u4","devices":[{"id":"web","type":"web","state":"foreground"}]}"#,
      #"{"kind":"user","id":"u5","devices":[]}"#,
      #"{"kind":"user","id":"u6","devices":[{"id":"old","state":"kicked"}]}"#,
      #"{"kind":"user","id":"u7","timeZone":"America/New_York","importantSenders":["u9"],"#
        + #""quiet":[{"start":"12:00","end":"11:00"}],"allowForce":false}"#,
      #"{"kind":"user","id":"u8","blockedSenders":["two\nlines"],"mutedAllow":["role"],"#
        + #""mutedUntil":9007199254740991}"#,
      #"{"kind":"conversation","id":"t,1","type":"thread","parent":"g1"}"#,
      #"{"kind":"conversation","id":"r1","type":"room"}"#,
      #"{"kind":"conversation","id":"p1","type":"private","level":"direct"}"#,
      #"{"kind":"conversation","id":"empty"}"#,
    ] + members(of: "g1", ["u7", "u5", "u6", "u4", "u2", "u1"] + odd) + [
      #"{"kind":"member","conversation":"g1","user":"u3","level":["plain","everyone"]}"#,
      #"{"kind":"member","conversation":"g1","user":"UP","level":[],"important":true}"#,
      #"{"kind":"member","conversation":"g1","user":"u8","since":1717300000000,"#
        + #""roles":["oncall"]}"#,
      #"{"kind":"member","conversation":"t,1","user":"u1","level":"none"}"#,
      #"{"kind":"member","conversation":"t,1","user":"a,b"}"#,
    ] + members(of: "r1", ["u1", "u9"]) + members(of: "p1", ["u2", "u9"]),
    messages: [
      message("m1", to: "g1", #""sender":"u9",\#(night)"#),
      message("m2", to: "g1", #""sender":"u3",\#(noon),"mentions":["u2","up","u9"]"#),
      message("m\\\"3", to: "g1", #"\#(noon),"mentionsAll":true"#),
      message("m,4", to: "t,1", #""sender":"u2",\#(noon)"#),
      message("m5", to: "g1", #"\#(night),"force":true"#),
      message("m6", to: "g1", #"\#(night),"silent":true"#),
      message("m7", to: "g1", #"\#(noon),"sentAt":5"#),
      message("m8", to: "r1", noon), message("m9", to: "p1", #""sender":"u9",\#(noon)"#),
      message("m10", to: "empty", noon), message("m11", to: "nowhere", noon),
      message("m12", to: "g1", #"\#(night),"text":"Who is ON-CALL?","mentionsRoles":["oncall"]"#),
      message("m13", to: "g1", #"\#(noon),"replyToUser":"u2""#),
      message("m1", to: "g1", #""at":0,"mentions":["u7"]"#),
      message("m14", to: "g1", #""sender":"two\nlines","at":1717408800000"#),
    ])

  /// One of each rule set.
  static let all = [easemob, rongcloud, open]
}
