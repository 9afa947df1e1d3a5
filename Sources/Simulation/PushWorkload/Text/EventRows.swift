internal import PushModel

/// The rows of what happens: messages and presence changes, as CSV or NDJSON.
struct EventRows: Sendable {
  private let workload: Workload
  private let isJSON: Bool
  private let hasReplies: Bool
  /// The texts of messages; nil for none.
  private let texts: MessageText?

  init(_ workload: Workload, isJSON: Bool) {
    let options = workload.options
    self.workload = workload
    self.isJSON = isJSON
    let isFirst = options.rates == .first
    hasReplies = !isFirst && options.traffic.replyShare > 0
    texts = !isFirst && options.traffic.hasText ? MessageText(workload) : nil
  }

  var messageHeader: [UInt8] {
    if isJSON { return [] }
    let columns = "at,conversation,sender,mentions,mentionsAll"
    return Array((columns + (hasReplies ? ",reply,replyTo\n" : "\n")).utf8)
  }

  let presenceHeader = Array("ts,conversation,user,online\n".utf8)

  func append(_ message: WorkloadMessage, number: Int, to bytes: inout [UInt8]) {
    if isJSON {
      appendJSON(message, number, to: &bytes)
      return
    }
    bytes.append(number: Int(message.at.milliseconds))
    bytes.append(",c")
    bytes.append(number: message.room)
    bytes.append(",u")
    bytes.append(number: message.sender)
    bytes.append(",")
    for (index, user) in message.mentions.enumerated() {
      bytes.append(index == 0 ? "u" : ";u")
      bytes.append(number: user)
    }
    bytes.append(message.mentionsAll ? ",1" : ",")
    if hasReplies {
      bytes.append(message.replyTo == nil ? ",," : ",1,u")
      if let user = message.replyTo { bytes.append(number: user) }
    }
    bytes.append("\n")
  }

  private func appendJSON(_ message: WorkloadMessage, _ number: Int, to bytes: inout [UInt8]) {
    bytes.append("{\"id\":\"")
    bytes.append(number: number)
    bytes.append("\",\"conversation\":\"")
    bytes.append(room: message.room, workload.thread(of: message))
    bytes.append("\",\"sender\":\"u")
    bytes.append(number: message.sender)
    bytes.append("\",\"at\":")
    bytes.append(number: Int(message.at.milliseconds))
    if !message.mentions.isEmpty {
      bytes.append(",\"mentions\":[")
      for (index, user) in message.mentions.enumerated() {
        bytes.append(index == 0 ? "\"u" : ",\"u")
        bytes.append(number: user)
        bytes.append("\"")
      }
      bytes.append("]")
    }
    if message.mentionsAll { bytes.append(",\"mentionsAll\":true") }
    if let user = message.replyTo {
      bytes.append(",\"reply\":true,\"replyTo\":\"u")
      bytes.append(number: user)
      bytes.append("\"")
      if workload.options.hasOpenFacts {
        bytes.append(",\"replyToUser\":\"u")
        bytes.append(number: user)
        bytes.append("\"")
      }
    }
    if let role = workload.role(of: message, number: number) {
      bytes.append(text: ",\"mentionsRoles\":[\"\(role)\"]")
    }
    if let texts {
      bytes.append(",\"text\":\"")
      texts.append(message, number: number, to: &bytes)
      bytes.append("\"")
    }
    bytes.append("}\n")
  }

  /// A user is connected, and not in a room: the conversation is empty.
  func append(_ change: WorkloadPresence, to bytes: inout [UInt8]) {
    bytes.append(number: Int(change.at.milliseconds))
    bytes.append(",,u")
    bytes.append(number: change.user)
    bytes.append(change.isOnline ? ",1\n" : ",0\n")
  }
}
