// snippet
import PushReference
import PushRules

var settings = FanoutSettings(app: AppSettings(rules: .easemob, timeZone: "Asia/Shanghai"))
var user = UserSettings()
user.quietHours = try QuietInterval.parse(start: "22:00", end: "8:00").map { .interval($0) }
settings.setUser("u1", user)
settings.setMember("u1", of: "g1")

var evaluator = ReferenceEvaluator(settings)
let night = Instant(rfc3339: "2024-06-03T23:30:00+08:00")!
let message = Message(id: "m1", conversation: "g1", at: night, sender: "u9")
let key =
  evaluator.decide(message, for: "u1")?.outcome.key  // "none/quietHours/app"
// end
precondition(key == "none/quietHours/app")
let inFunction = try insideAFunction()
precondition(inFunction == key)
print("done")
