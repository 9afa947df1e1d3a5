internal import PushFiles
internal import PushModel
internal import PushSupport

extension ExpectationResult: CustomStringConvertible {
  /// `FILE:LINE: ` and the label; where it does not hold, what was expected, what was decided, and the
  /// first sentence of the explanation, each on a line.
  public var description: String {
    TerminalText.lines(["\(file):\(line): \(label)"] + details.map { "  \($0)" })
  }

  /// Why it does not hold, in lines.
  private var details: [String] {
    switch verdict {
    case .holds: []
    case .problem(let text): [text]
    case .differs(let explanation):
      [
        "expected  \(Self.text(expected))", "got       \(ServiceText.decision(decision))",
        ServiceText.withLocalTimes(explanation.answer, explanation.timeZone),
      ]
    }
  }

  private static func text(_ expected: ExpectedDecision) -> String {
    let words = [
      expected.action?.name, expected.reason.map { "reason \($0.name)" },
      expected.scope.map { "scope \($0.name)" },
      expected.devices.map { devices in
        devices.isEmpty ? "to no device" : "to " + devices.map(\.text).joined(separator: ", ")
      },
    ]
    return words.compactMap { $0 }.joined(separator: ", ")
  }
}

/// Results of expectations as files for programs.
public enum ExpectationReport {
  /// A JSON object a line: `file`, `line`, `label`, `holds`, and, where they are known, `message`,
  /// `user`, `expected`, `got`, the explanation's `answer`, or the `problem`.
  public static func json(_ results: [ExpectationResult]) -> [UInt8] {
    results.flatMap { json($0) + [UInt8(ascii: "\n")] }
  }

  private static func json(_ result: ExpectationResult) -> [UInt8] {
    var json = JSONWriter.object()
    if case .differs(let explanation) = result.verdict { json.add("answer", explanation.answer) }
    json.add("expected", raw: result.expected.json())
    json.add("file", result.file)
    if let decision = result.decision { json.add("got", raw: ServiceJSON.decision(decision)) }
    json.add("holds", raw: "\(result.holds)")
    json.add("label", result.label)
    json.add("line", raw: "\(result.line)")
    json.add("message", result.message?.text)
    if case .problem(let text) = result.verdict { json.add("problem", text) }
    json.add("user", result.user?.text)
    return json.end()
  }

  /// JUnit's XML, which CI servers show: a suite a file, a case a line.
  ///
  /// - Source: https://github.com/testmoapp/junitxml
  public static func junit(_ results: [ExpectationResult]) -> String {
    var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    lines.append("<testsuites name=\"push-fanout test\"\(counts(results))>")
    var files: [String] = []
    for result in results where !files.contains(result.file) { files.append(result.file) }
    for file in files {
      let suite = results.filter { $0.file == file }
      lines.append("  <testsuite name=\"\(escaped(file))\"\(counts(suite))>")
      for result in suite { lines += testCase(result) }
      lines.append("  </testsuite>")
    }
    lines.append("</testsuites>")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func counts(_ results: [ExpectationResult]) -> String {
    let failures = results.count { if case .differs = $0.verdict { true } else { false } }
    let errors = results.count { if case .problem = $0.verdict { true } else { false } }
    return " tests=\"\(results.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
  }

  private static func testCase(_ result: ExpectationResult) -> [String] {
    let file = escaped(result.file)
    let open =
      "    <testcase classname=\"\(file)\" name=\"\(escaped(result.label))\" file=\"\(file)\" "
      + "line=\"\(result.line)\""
    let text = escaped(result.description)
    switch result.verdict {
    case .holds: return [open + "/>"]
    case .problem(let problem):
      return [open + ">", "      <error message=\"\(escaped(problem))\">\(text)</error>"] + close
    case .differs(let explanation):
      let message = escaped(explanation.answer)
      return [open + ">", "      <failure message=\"\(message)\">\(text)</failure>"] + close
    }
  }

  private static let close = ["    </testcase>"]

  /// Text in XML; characters that XML does not have are replaced.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n", "\t": escaped.unicodeScalars.append(scalar)
      case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
