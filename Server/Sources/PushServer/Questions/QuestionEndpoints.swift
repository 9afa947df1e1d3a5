internal import HTTPTypes
internal import NIOCore
internal import PushFanout
internal import PushFiles
internal import PushModel
internal import PushService

/// Questions about one user or one conversation.
enum QuestionEndpoints {
  /// `POST /v1/explain`: `{"message":{…},"user":"…","content":true}`
  static func explain(_ request: ServerRequest, _ app: OpenedApp) throws -> Answer {
    let (fields, found) = try FileProblem.ofBody { () throws(FileProblem.Problem) in
      try JSONObject.read(Array(buffer: request.body), messageIn: "message", rules: app.rules)
    }
    let known = ["message", "user", "content"]
    if let name = fields.names.first(where: { !known.contains($0) }) {
      throw ServerFailure.badRequest("unknown field \"\(name)\"; there are \(known)")
    }
    guard let found else {
      throw ServerFailure.badRequest("\"message\" is missing, or is not an object")
    }
    let user = try fields.identifier("user")
    let content = try fields.flag("content") == true ? found.content : nil
    let number = app.settingsNumber
    var messages = [(message: found.message, content: content)][...]
    var answer = Answer(
      Answer.json, try app.service.explain(for: user) { messages.popFirst() })
    answer.fields[.settings] = number
    return answer
  }

  /// `GET /v1/next-change?conversation=&user=&channel=&after=`
  static func nextChange(_ request: ServerRequest, _ app: OpenedApp) throws -> Answer {
    let conversation = Identifier(try request.required("conversation"))
    let user = Identifier(try request.required("user"))
    let channel = Identifier(try request.parameter("channel") ?? "")
    var after = WallClock.now
    if let text = try request.parameter("after") {
      guard let instant = Instant(text: text) else {
        throw ServerFailure.badRequest(
          "after=\(text) is not an instant; send Unix milliseconds or an RFC 3339 time")
      }
      after = instant
    }
    let number = app.settingsNumber
    let found = try app.engine.currentVersion.plainAnswer(
      for: user, in: conversation, channel: channel, after: after)
    var answer = Answer(Answer.json, ServiceJSON.plainAnswer(found) + [UInt8(ascii: "\n")])
    answer.fields[.settings] = number
    return answer
  }

  /// `GET /v1/conversations/{id}/members`
  static func members(
    _ request: ServerRequest, of conversation: Identifier, _ app: OpenedApp
  ) throws -> Answer {
    guard
      app.engine.conversation(conversation) != nil || app.engine.memberCount(of: conversation) > 0
    else { throw FanoutError.unknownConversation(conversation) }
    // Who has them asks for the version only.
    if request.fields[.ifNoneMatch] != nil {
      let result = app.engine.decide(Message(id: "", conversation: conversation, at: .zero))
      let current = tag(result.epoch, result.membershipVersion)
      if request.fields.matches(current) {
        var answer = Answer(Answer.json, [UInt8]())
        answer.status = .notModified
        answer.fields = [.eTag: current]
        return answer
      }
    }
    let members = app.service.members(of: conversation)
    var answer = Answer(Answer.json, ServiceJSON.members(members) + [UInt8(ascii: "\n")])
    answer.fields[.eTag] = tag(members.epoch, members.membershipVersion)
    answer.fields[.membership] = "\(members.membershipVersion)"
    return answer
  }

  private static func tag(_ epoch: UInt64, _ version: UInt64) -> String {
    "\"\(String(epoch, radix: 16))-\(String(version, radix: 16))\""
  }
}
