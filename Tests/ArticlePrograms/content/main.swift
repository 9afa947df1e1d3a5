import PushContent
import PushFanout
import PushModel

let given = try Given()
let (fanout, message, content) = (given.fanout, given.message, given.content)
let (catalog, directory) = (given.catalog, given.directory)
var sent: [String] = []
@MainActor func send(_ payload: ArraySlice<UInt8>, to recipient: Identifier) {
  sent.append("\(recipient) \(String(decoding: payload, as: UTF8.self).prefix(7))")
}

// snippet
let result = fanout.decide(message)
let renderer = ContentRenderer(rules: .easemob, templates: catalog, directory: directory)
for push in renderer.render(message, content, for: Array(result.pushes.ids)) {
  send(push.payload, to: push.recipient)
}
// end
precondition(sent == [#"u1 {"aps":"#, #"u3 {"aps":"#])
let inFunction = try insideAFunction()
precondition(inFunction == sent)
print("done")
