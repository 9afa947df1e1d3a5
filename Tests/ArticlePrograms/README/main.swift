// snippet
import PushFanout
import PushModel

var settings = FanoutSettings(app: AppSettings(rules: .easemob, timeZone: "Asia/Shanghai"))
settings.setMember("u1", of: "g1", MemberSettings(level: .mention))
settings.setMember("u2", of: "g1")
let fanout = try Fanout(settings)

let noon = Instant(rfc3339: "2024-06-03T12:00:00+08:00")!
let result = fanout.decide(Message(id: "m1", conversation: "g1", at: noon, sender: "u9"))
let pushed =
  Array(result.pushes.ids)  // ["u2"]
let key =
  result.outcome(of: "u1")?.key  // "none/notMentioned/conversation"
// end
precondition(pushed == ["u2"] && key == "none/notMentioned/conversation")
print("done")
