import Foundation

/// A line of results: what was measured, what it must be, and whether it is.
func say(_ what: String, _ value: String, must: String, _ holds: Bool) {
  show(
    "\(padded(what, 46)) \(padded(value, 26)) must be \(must)"
      + (holds ? "" : "   NOT HELD"))
}

/// Text with spaces behind it, up to a width; whole when it is longer.
private func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// At once, also when nobody looks.
func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func text(_ number: Double, digits: Int = 2) -> String {
  number.formatted(.number.precision(.fractionLength(digits)))
}
