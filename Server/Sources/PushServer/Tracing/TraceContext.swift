internal import HTTPTypes

/// What a request is in a trace (W3C Trace Context, level 1): the caller's trace, and a span of its
/// own below the caller's; or the first span of a new trace.
struct TraceContext: Sendable, Equatable {
  /// 32 hexadecimal digits.
  let trace: String
  /// The caller's span, 16 digits; nil for the first of a trace.
  let parent: String?
  /// The request's own.
  let span: String
  /// Whether the caller keeps the trace.
  let isSampled: Bool

  /// That of the request that is being answered; nil for one without a trace.
  @TaskLocal static var current: TraceContext?

  /// Begins a sampled trace.
  init() {
    trace = Self.randomDigits() + Self.randomDigits()
    parent = nil
    span = Self.randomDigits()
    isSampled = true
  }

  /// Begins a trace for one in so many requests, by chance; nil for the others.
  ///
  /// - Parameter count: 0 for none.
  static func oneIn(_ count: Int) -> TraceContext? {
    count > 0 && Int.random(in: 0..<count) == 0 ? TraceContext() : nil
  }

  /// The field by which the server that is called continues the trace.
  var traceparent: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

  /// Continues the trace of a `traceparent` field; nil for one that is not valid, which is then to
  /// be ignored.
  init?(traceparent: String) {
    let bytes = Array(traceparent.utf8)
    let hyphen = UInt8(ascii: "-")
    guard bytes.count >= 55, bytes[2] == hyphen, bytes[35] == hyphen, bytes[52] == hyphen,
      let version = Self.hex(bytes[0..<2]), let trace = Self.hex(bytes[3..<35]),
      let parent = Self.hex(bytes[36..<52]), let flags = Self.hex(bytes[53..<55]),
      let bits = UInt8(flags, radix: 16), version != "ff",
      // Later versions may go on after a hyphen.
      bytes.count == 55 || version != "00" && bytes[55] == hyphen,
      trace.contains(where: { $0 != "0" }), parent.contains(where: { $0 != "0" })
    else { return nil }
    self.trace = trace
    self.parent = parent
    span = Self.randomDigits()
    isSampled = bits & 1 == 1
  }

  /// Lower-case hexadecimal digits as text; nil for anything else.
  private static func hex(_ bytes: ArraySlice<UInt8>) -> String? {
    let isHex = bytes.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
    return isHex ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// 16 hexadecimal digits, not all of them 0.
  private static func randomDigits() -> String {
    let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension HTTPField.Name {
  /// The caller's trace.
  static let traceparent = HTTPField.Name("traceparent")!
}
