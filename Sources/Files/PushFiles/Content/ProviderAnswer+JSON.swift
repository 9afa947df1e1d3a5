internal import CPushFiles
public import PushContent
public import PushModel

extension ProviderAnswer {
  /// Reads an answer. A body that is no JSON of the provider's says nothing.
  ///
  /// - Parameters:
  ///   - status: the status of HTTP; nil where no answer came.
  ///   - body: the bytes of the body.
  ///   - retryAfter: the seconds of the header `Retry-After`.
  public init(_ platform: PushPlatform, status: Int?, body: [UInt8], retryAfter: Int64? = nil) {
    self.init(platform, status: status, retryAfter: retryAfter)
    let read = try? JSONObject.parse(body) { (answer, _) in
      var found = ProviderAnswer(platform, status: status, retryAfter: retryAfter)
      found.read(answer)
      return found
    }
    if let read { self = read }
  }

  private mutating func read(_ answer: JSONValue) {
    switch platform {
    case .apns:
      for (key, value) in answer.fields {
        switch key {
        case "reason": reason = value.string
        case "timestamp":
          timestamp = value.integer.flatMap { Instant(exactMilliseconds: $0) }
        default: break
        }
      }
    case .fcm:
      for (key, value) in answer.fields
      where "error" ~= key && value.kind == PF_JSON_OBJECT {
        readError(value)
      }
    }
  }

  private mutating func readError(_ error: JSONValue) {
    var code: String?
    for (key, value) in error.fields {
      switch key {
      case "status": reason = value.string
      case "message": message = value.string
      case "details" where value.kind == PF_JSON_ARRAY:
        for detail in value.items where detail.kind == PF_JSON_OBJECT {
          for (key, value) in detail.fields where "errorCode" ~= key { code = value.string ?? code }
        }
      default: break
      }
    }
    reason = code ?? reason
  }
}
