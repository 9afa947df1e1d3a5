internal import PushModel
internal import PushSupport

/// A text for each outcome, by its code.
///
/// All are one array: with an array for each, threads would count references to the same ones for
/// every row.
struct OutcomeTexts: Sendable {
  private var bytes: [UInt8] = []
  /// Where the text of a code begins; the next one's beginning is its end.
  private var starts = [0]

  /// - Parameter add: adds the text of an outcome; codes without an outcome have none.
  init(_ add: (Outcome, _ text: inout [UInt8]) -> Void) {
    for code in 0..<Outcome.codeCount {
      if let outcome = Outcome(code: UInt8(code)) { add(outcome, &bytes) }
      starts.append(bytes.count)
    }
  }

  /// Calls `body` with the texts, which live as long.
  func withTexts(_ body: (Texts) -> Void) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe starts.withUnsafeBufferPointer { starts in
        body(unsafe Texts(bytes: bytes, starts: starts))
      }
    }
  }

  /// SAFETY: used only in the closure that it is given to.
  @safe struct Texts {
    fileprivate let bytes: UnsafeBufferPointer<UInt8>
    fileprivate let starts: UnsafeBufferPointer<Int>

    @inline(__always)
    subscript(code: UInt8) -> UnsafeBufferPointer<UInt8> {
      unsafe UnsafeBufferPointer(rebasing: bytes[starts[Int(code)]..<starts[Int(code) + 1]])
    }
  }
}

extension [UInt8] {
  /// Appends a text, the inside of a JSON string, and a text.
  @inline(__always)
  mutating func append(
    _ start: UnsafeBufferPointer<UInt8>, json id: UnsafeRawBufferPointer,
    _ end: UnsafeBufferPointer<UInt8>
  ) {
    if unsafe !id.needsJSONEscapes { return unsafe append(start, id, end) }
    unsafe append(contentsOf: start)
    unsafe appendJSONCharacters(id)
    unsafe append(contentsOf: end)
  }

  /// Appends a text, a CSV cell, and a text.
  @inline(__always)
  mutating func append(
    _ start: UnsafeBufferPointer<UInt8>, csv id: UnsafeRawBufferPointer,
    _ end: UnsafeBufferPointer<UInt8>
  ) {
    if unsafe !id.needsCSVQuotes { return unsafe append(start, id, end) }
    unsafe append(contentsOf: start)
    unsafe appendCSV(id)
    unsafe append(contentsOf: end)
  }

  @inline(__always)
  private mutating func append(
    _ start: UnsafeBufferPointer<UInt8>, _ id: UnsafeRawBufferPointer,
    _ end: UnsafeBufferPointer<UInt8>
  ) {
    append(addingCapacity: start.count + id.count + end.count) { row in
      unsafe row.append(copying: start)
      unsafe row.append(copying: id.assumingMemoryBound(to: UInt8.self))
      unsafe row.append(copying: end)
    }
  }
}
