/// The contents of a compiled time zone, a TZif file of version 2 or later.
///
/// Files are untrusted input: every count is checked against the bytes that are there before
/// anything is read by it.
///
/// - Source: RFC 9636, which replaces RFC 8536.
struct ZoneFile: Equatable {
  /// When another type of local time begins, in seconds since the epoch, strictly ascending.
  private(set) var transitions: [Int64] = []
  /// Seconds east of UTC from each transition on.
  private(set) var offsets: [Int32] = []
  /// Seconds east of UTC before the first transition.
  private(set) var firstOffset: Int32 = 0
  /// The rule after the last transition, or for all time without transitions; nil when the file has
  /// none and the last offset stays.
  private(set) var rule: ZoneRule?

  /// What is wrong with a file.
  struct Problem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// RFC 9636, section 3.2: offsets are more than -25 hours and less than 26 hours.
  static let offsetRange: ClosedRange<Int32> = -89_999...93_599

  private static let headerSize = 44

  init(_ bytes: [UInt8]) throws(Problem) {
    var reader = Reader(bytes)
    let first = try Header(&reader)
    guard first.version >= UInt8(ascii: "2") else {
      throw Problem("version 1, which has no 64-bit data")
    }
    try reader.skip(first.dataSize(timeSize: 4))
    let header = try Header(&reader)
    try header.check()
    try readData(header, &reader)
    try readRule(&reader)
  }

  /// Seconds east of UTC at an instant.
  func offset(at utcSeconds: Int64) -> Int32 {
    let next = transitions.firstIndex { $0 > utcSeconds } ?? transitions.count
    if next == transitions.count, let rule { return rule.offset(at: utcSeconds) }
    return next == 0 ? firstOffset : offsets[next - 1]
  }

  private struct Header {
    let version: UInt8
    let utCount, standardCount, leapCount, timeCount, typeCount, characterCount: Int

    init(_ reader: inout Reader) throws(Problem) {
      guard try reader.take(4).elementsEqual("TZif".utf8) else {
        throw Problem("it does not begin with TZif")
      }
      version = try reader.number(UInt8.self)
      try reader.skip(15)
      utCount = Int(try reader.number(UInt32.self))
      standardCount = Int(try reader.number(UInt32.self))
      leapCount = Int(try reader.number(UInt32.self))
      timeCount = Int(try reader.number(UInt32.self))
      typeCount = Int(try reader.number(UInt32.self))
      characterCount = Int(try reader.number(UInt32.self))
    }

    /// The size of the data behind a header, in which instants have so many bytes. At most 2^37.
    func dataSize(timeSize: Int) -> Int {
      timeCount * timeSize + timeCount + typeCount * 6 + characterCount
        + leapCount * (timeSize + 4) + standardCount + utCount
    }

    func check() throws(Problem) {
      guard leapCount == 0 else {
        throw Problem("it counts leap seconds, which Unix time does not")
      }
      guard (1...256).contains(typeCount), characterCount > 0,
        [0, typeCount].contains(standardCount), [0, typeCount].contains(utCount)
      else { throw Problem("counts that contradict each other") }
    }
  }

  private mutating func readData(_ header: Header, _ reader: inout Reader) throws(Problem) {
    guard header.dataSize(timeSize: 8) <= reader.remaining else { throw Problem("it is cut off") }
    for _ in 0..<header.timeCount {
      let at = try reader.number(Int64.self)
      if let last = transitions.last, at <= last {
        throw Problem("transitions that do not ascend")
      }
      transitions.append(at)
    }
    let types = try reader.take(header.timeCount)
    var typeOffsets: [Int32] = []
    for _ in 0..<header.typeCount {
      let offset = try reader.number(Int32.self)
      guard Self.offsetRange.contains(offset) else {
        throw Problem("an offset of \(offset) seconds from UTC")
      }
      let isDaylight = try reader.number(UInt8.self)
      let designation = try reader.number(UInt8.self)
      guard isDaylight <= 1, Int(designation) < header.characterCount else {
        throw Problem("a type of local time that leads nowhere")
      }
      typeOffsets.append(offset)
    }
    try reader.skip(header.characterCount + header.standardCount + header.utCount)
    for type in types {
      guard Int(type) < typeOffsets.count else {
        throw Problem("a transition to a type that is not there")
      }
      offsets.append(typeOffsets[Int(type)])
    }
    firstOffset = typeOffsets[0]
  }

  /// Reads the footer: a rule between line feeds, which may be empty.
  private mutating func readRule(_ reader: inout Reader) throws(Problem) {
    let newline = UInt8(ascii: "\n")
    guard try reader.number(UInt8.self) == newline else { throw Problem("it has no footer") }
    let text = reader.rest.prefix { $0 != newline }
    try reader.skip(text.count)
    guard reader.remaining > 0 else { throw Problem("its footer is cut off") }
    if text.isEmpty { return }
    guard let rule = ZoneRule(text) else {
      throw Problem("the rule \"\(String(decoding: text.prefix(64), as: UTF8.self))\"")
    }
    // Section 3.3: the rule agrees with the last transition. Some compilers write a rule that was
    // taken up a little later; until then the last offset stays.
    if let last = offsets.last, last != rule.standardOffset, last != rule.daylight?.offset {
      throw Problem("a rule that contradicts the last transition")
    }
    self.rule = rule
  }

  /// Reads numbers, the highest byte first, and never beyond the end.
  private struct Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var remaining: Int { bytes.count - position }
    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func take(_ count: Int) throws(Problem) -> ArraySlice<UInt8> {
      guard count <= remaining else { throw Problem("it is cut off") }
      defer { position += count }
      return bytes[position..<position + count]
    }

    mutating func skip(_ count: Int) throws(Problem) { _ = try take(count) }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(Problem) -> Number {
      try take(Number.bitWidth / 8).reduce(0) { ($0 << 8) | Number(truncatingIfNeeded: $1) }
    }
  }
}
