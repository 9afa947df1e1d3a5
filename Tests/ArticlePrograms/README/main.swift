// snippet
import PushFanout
import PushModel

var settings = FanoutSettings(app: AppSettings(rules: .easemob, timeZone: "Asia/Shanghai"))
var user = UserSettings()
user.quietHours = try QuietInterval.parse(start: "22:00", end: "8:00").map { .interval($0) }
settings.setUser("u1", user)
for id: Identifier in ["u1", "u2"] { settings.setMember(id, of: "g1") }
let fanout = try Fanout(settings)

let night = Instant(rfc3339: "2024-06-03T23:30:00+08:00")!
let result = fanout.decide(Message(id: "m1", conversation: "g1", at: night, sender: "u9"))
let pushed =
  Array(result.pushes.ids)  // ["u2"]
let key =
  result.outcome(of: "u1")?.key  // "none/quietHours/app"
// end
precondition(pushed == ["u2"] && key == "none/quietHours/app")
let inFunction = try insideAFunction()
precondition(inFunction == key)
print("done")
