internal import Foundation
internal import HTTPTypes
internal import NIOCore

/// A request, taken apart.
struct ServerRequest: Sendable {
  let head: HTTPRequest
  /// What came of the body; all of it where the request is answered by it.
  var body = ByteBuffer()
  /// Without the query, percent-decoded where it is used.
  let path: Substring
  /// The parameters by name, as they were sent.
  private let parameters: [(name: Substring, value: Substring)]

  init(_ head: HTTPRequest) {
    self.head = head
    let target = head.path ?? "/"
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      path = target[...]
      parameters = []
      return
    }
    path = target[..<mark]
    parameters = target[target.utf8.index(after: mark)...].utf8
      .split(separator: UInt8(ascii: "&")).map { pair in
        let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
        return (Substring(pair[..<end]), Substring(pair[end...].dropFirst()))
      }
  }

  var fields: HTTPFields { head.headerFields }
  var method: HTTPRequest.Method { head.method }

  /// The type of the body without parameters, in lower case; nil for none.
  var mediaType: String? {
    guard let type = fields.text(.contentType) else { return nil }
    guard let semicolon = type.utf8.firstIndex(of: UInt8(ascii: ";")) else {
      return type.lowercased()
    }
    return type[..<semicolon].trimmingCharacters(in: .whitespaces).lowercased()
  }

  /// The value of a parameter; nil for one that is not there.
  ///
  /// - Throws: ``ServerFailure`` 400 for one that is there twice, or is not UTF-8.
  func parameter(_ name: String) throws(ServerFailure) -> String? {
    var found: String?
    for parameter in parameters where parameter.name == name {
      guard found == nil else { throw .badRequest("the parameter \(name) is there twice") }
      found = try Self.decoded(parameter.value, isQuery: true)
    }
    return found
  }

  /// - Throws: ``ServerFailure`` 400 for a parameter that is not there.
  func required(_ name: String) throws(ServerFailure) -> String {
    guard let value = try parameter(name), !value.isEmpty else {
      throw .badRequest("the parameter \(name) is missing: add ?\(name)=")
    }
    return value
  }

  /// - Throws: ``ServerFailure`` 400 for a parameter that is no number of the range.
  func number(
    _ name: String, _ range: ClosedRange<Int64>, default value: Int64
  ) throws(ServerFailure) -> Int64 {
    guard let text = try parameter(name) else { return value }
    guard let number = Int64(text), range.contains(number) else {
      throw .badRequest(
        "the parameter \(name) is not a number in \(range.lowerBound)...\(range.upperBound)")
    }
    return number
  }

  /// - Throws: ``ServerFailure`` 400 for a parameter that the route does not have.
  func checkParameters(_ known: [String]) throws(ServerFailure) {
    for (name, _) in parameters where !known.contains(where: { $0 == name }) {
      let there = known.isEmpty ? "there are none" : "there are \(known.joined(separator: ", "))"
      throw .badRequest("\(path) has no parameter \(name.prefix(100)); \(there)")
    }
  }

  /// - Throws: ``ServerFailure`` 400 for another value than true or false.
  func flag(_ name: String) throws(ServerFailure) -> Bool {
    switch try parameter(name) {
    case nil, "false": return false
    case "true": return true
    case let text?: throw .badRequest("the parameter \(name) is true or false, not \(text)")
    }
  }

  static func decoded(_ text: Substring, isQuery: Bool = false) throws(ServerFailure) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return String(text)
    }
    let spaced = isQuery ? text.replacing("+", with: " ") : text
    guard let decoded = String(spaced).removingPercentEncoding else {
      throw .badRequest("the address has a percent sign without two digits, or is not UTF-8")
    }
    return decoded
  }

  /// The name that a client gives its request, if it can stand in a log.
  var id: String? {
    guard let id = fields.text(.requestID), (1...128).contains(id.utf8.count),
      id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return id
  }

  /// How long the client waits for the answer; nil for as long as it takes.
  ///
  /// - Throws: ``ServerFailure`` 400 for what is no number of milliseconds in 1...3,600,000.
  var timeout: TimeAmount? {
    get throws(ServerFailure) {
      guard let text = fields.text(.timeout) else { return nil }
      guard let milliseconds = Int64(text), (1...3_600_000).contains(milliseconds) else {
        throw .badRequest("Push-Fanout-Timeout is not a number of milliseconds in 1...3600000")
      }
      return .milliseconds(milliseconds)
    }
  }

  /// The number of bytes of the body, if it is announced.
  var contentLength: Int? { fields.text(.contentLength).flatMap { Int($0) } }

  /// Checks what the head says of the body.
  ///
  /// - Throws: ``ServerFailure`` 413 or 415.
  func checkBody(upTo limit: Int, types: [String]) throws(ServerFailure) {
    if let type = mediaType, !types.contains(type) {
      throw ServerFailure(
        .unsupportedMediaType, "unsupported_media_type",
        "the content type \(type) is not understood; send \(types.joined(separator: " or "))")
    }
    if let coding = fields.text(.contentEncoding), coding.lowercased() != "identity" {
      throw ServerFailure(
        .unsupportedMediaType, "unsupported_media_type",
        "the content coding \(coding) is not understood; send the body as it is")
    }
    if let length = contentLength, length > limit { throw .tooLarge(limit) }
  }
}

extension HTTPFields {
  /// Whether `If-None-Match` has a tag, compared weakly, or is `*` (RFC 9110, 13.1.2).
  func matches(_ tag: String) -> Bool {
    self[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { item in
      let item = item.trimmingCharacters(in: .whitespaces)
      return item == "*" || (item.hasPrefix("W/") ? String(item.dropFirst(2)) : item) == tag
    }
  }

  /// The value of a field, as by subscript; several times faster for one that is there once.
  func text(_ name: HTTPField.Name) -> String? {
    var found: String?
    for field in self where field.name == name {
      guard found == nil else { return self[name] }
      found = field.value
    }
    return found
  }
}
