internal import Foundation
internal import HTTPTypes
internal import NIOCore
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
  /// A JSON object a request to a provider: of `/v1/requests` alone.
  case requests

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

  /// Those of decisions.
  private static let choices = allCases.filter { $0 != .requests }
  static var names: String { choices.map(\.rawValue).joined(separator: ", ") }

  /// The parameter `format`; without it what `Accept` asks for; rows without both.
  ///
  /// - Parameter only: the format of an address that has no others.
  /// - Returns: the format, and whether its lines are the items of a JSON array.
  static func of(
    _ request: ServerRequest, only: AnswerFormat? = nil
  ) throws(ServerFailure) -> (format: AnswerFormat, isArray: Bool) {
    let accept = request.fields.text(.accept).flatMap { $0.allSatisfy { $0 == " " } ? nil : $0 }
    let format = if let only { only } else { try format(request, accept) }
    return (format, format.mediaType == Answer.ndjson && isArray(request, accept))
  }

  /// Whether lines are sent as an array: as `Accept` has it, or where it leaves the choice, when one
  /// message was sent. A client that was generated sends one, and names nothing.
  private static func isArray(_ request: ServerRequest, _ accept: String?) -> Bool {
    let isOne = request.mediaType == Answer.json
    guard let accept else { return isOne }
    let (array, lines) = (
      weight(of: Answer.json, in: accept), weight(of: Answer.ndjson, in: accept)
    )
    if array == lines { return isOne }
    return (array.weight, array.rank) > (lines.weight, lines.rank)
  }

  private static func format(
    _ request: ServerRequest, _ accept: String?
  ) throws(ServerFailure) -> AnswerFormat {
    if let name = try request.parameter("format") {
      guard let format = choices.first(where: { $0.rawValue == name }) else {
        throw .badRequest("there is no format \(name); there are \(names)")
      }
      return format
    }
    guard let accept else { return .rows }
    // The greatest weight, and of equal ones what is named most exactly; codes and bits are only for
    // those who name them.
    var best: (format: AnswerFormat, weight: Double, rank: Int)?
    for (format, type) in [
      (AnswerFormat.rows, Answer.ndjson), (.rows, Answer.json),
      (.codes, AnswerFormat.codes.mediaType),
      (.bitmap, AnswerFormat.bitmap.mediaType),
    ] {
      let (rank, weight) = weight(of: type, in: accept)
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

/// Lines of JSON, some at a time, as the items of an array.
struct ItemsOfLines {
  private var hasBegun = false
  private var isEmpty = true

  /// The next bytes of the array.
  ///
  /// - Parameter lines: whole lines.
  mutating func next(_ lines: ByteBuffer, isLast: Bool) -> ByteBuffer {
    var array = ByteBuffer()
    if !hasBegun { array.writeString("[") }
    hasBegun = true
    if lines.readableBytes > 0 {
      if !isEmpty { array.writeString(",") }
      isEmpty = false
      // No string of JSON has the byte itself.
      let newline = UInt8(ascii: "\n")
      array.writeBytes(
        lines.readableBytesView.dropLast().map { $0 == newline ? UInt8(ascii: ",") : $0 })
    }
    if isLast { array.writeString("]\n") }
    return array
  }
}
