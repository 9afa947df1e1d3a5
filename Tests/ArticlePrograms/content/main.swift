import PushContent
import PushFanout
import PushModel

// What docs/content.md takes as given.
var settings = FanoutSettings()
for user: Identifier in ["u1", "u2", "u3"] { settings.setMember(user, of: "g1") }
let fanout = try Fanout(settings)
let noon = Instant(rfc3339: "2024-06-03T12:00:00+08:00")!
let message = Message(id: "m1", conversation: "g1", at: noon, sender: "u2")
let content = MessageContent(text: "hello")
let catalog = TemplateCatalog()
let directory = ContentDirectory()
var sent: [String] = []
@MainActor func send(_ payload: ArraySlice<UInt8>, to recipient: Identifier) {
  sent.append("\(recipient) \(String(decoding: payload, as: UTF8.self).prefix(7))")
}

// snippet
let result = fanout.decide(message)
let renderer = ContentRenderer(rules: .easemob, templates: catalog, directory: directory)
for push in renderer.stream(message, content, for: Array(result.pushes.ids)) {
  send(push.payload, to: push.recipient)
}
// end
precondition(sent == [#"u1 {"aps":"#, #"u3 {"aps":"#])
print("done")
