internal import HTTPTypes
internal import PushFiles

/// In which form decisions are answered.
enum AnswerFormat: String, CaseIterable, Sendable {
  /// A JSON object a message: how often each outcome occurred.
  case counts
  /// A JSON object a message: who gets a push.
  case pushes
  /// A JSON object a decision.
  case rows
  /// A JSON object for each push: its payload.
  case payloads
  /// A frame a message, a byte a member.
  case codes
  /// A frame a message, a bit a member: whether it gets a push.
  case bitmap

  var mediaType: String {
    switch self {
    case .codes: "application/vnd.push-fanout.codes"
    case .bitmap: "application/vnd.push-fanout.bitmap"
    default: Answer.ndjson
    }
  }

  /// The format of files with the same bytes.
  var decisionFormat: DecisionFormat? {
    switch self {
    case .counts: .counts
    case .pushes: .pushlist
    case .rows: .ndjson
    default: nil
    }
  }

  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The parameter `format`; without it what `Accept` asks for; rows without both.
  static func of(_ request: ServerRequest) throws(ServerFailure) -> AnswerFormat {
    if let name = try request.parameter("format") {
      guard let format = AnswerFormat(rawValue: name) else {
        throw .badRequest("there is no format \(name); there are \(names)")
      }
      return format
    }
    guard let accept = request.fields.text(.accept) else { return .rows }
    for item in accept.split(separator: ",") {
      let type = item.split(separator: ";")[0].filter { $0 != " " }.lowercased()
      switch type {
      case AnswerFormat.codes.mediaType: return .codes
      case AnswerFormat.bitmap.mediaType: return .bitmap
      case Answer.ndjson, "application/*", "*/*", "application/json": return .rows
      default: continue
      }
    }
    throw ServerFailure(
      .notAcceptable, "not_acceptable",
      "nothing of Accept: \(accept) can be sent; use ?format= with \(names)")
  }
}
