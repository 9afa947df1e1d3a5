internal import Foundation
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
    guard let accept = request.fields.text(.accept), !accept.allSatisfy({ $0 == " " }) else {
      return .rows
    }
    // The greatest weight, and of equal ones what is named most exactly; codes and bits are only for
    // those who name them.
    var best: (format: AnswerFormat, weight: Double, rank: Int)?
    for format in [AnswerFormat.rows, .codes, .bitmap] {
      let (rank, weight) = weight(of: format.mediaType, in: accept)
      guard weight > 0, format == .rows || rank == 2,
        best.map({ ($0.weight, $0.rank) < (weight, rank) }) ?? true
      else { continue }
      best = (format, weight, rank)
    }
    if let best { return best.format }
    throw ServerFailure(
      .notAcceptable, "not_acceptable",
      "nothing of Accept: \(accept) can be sent; use ?format= with \(names)")
  }

  /// The weight that `Accept` gives a type: that of the most specific range (RFC 9110, 12.5.1), which
  /// is 2 for the type itself, 1 for its group, and 0 for all.
  private static func weight(
    of type: String, in accept: String
  ) -> (rank: Int, weight: Double) {
    let group = type.prefix { $0 != "/" } + "/*"
    var found: (rank: Int, weight: Double) = (-1, 0)
    for item in accept.split(separator: ",") {
      let parts = item.split(separator: ";").map {
        $0.trimmingCharacters(in: .whitespaces).lowercased()
      }
      guard let range = parts.first else { continue }
      let rank = range == type ? 2 : range == group ? 1 : range == "*/*" ? 0 : -1
      guard rank > found.rank else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      found = (rank, weight ?? 1)
    }
    return found
  }
}
