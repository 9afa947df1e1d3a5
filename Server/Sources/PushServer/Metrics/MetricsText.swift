/// Prometheus' text format, version 0.0.4: the lines of a metric stand together, in whatever order they are added.
struct MetricsText {
  private var names: [String] = []
  private var metrics: [String: String] = [:]
  /// What each line that is added has before its own labels; nil for nothing.
  var label: (name: String, value: String)?

  /// Adds a line.
  ///
  /// - Parameters:
  ///   - name: without `push_fanout_`.
  ///   - kind: counter, gauge, histogram or summary.
  ///   - help: a sentence.
  ///   - labels: `name="value"`, with commas.
  ///   - suffix: `_sum` and the like.
  mutating func add(
    _ name: String, _ kind: String, _ help: String, _ value: String, labels: String = "",
    suffix: String = ""
  ) {
    let common = label.map { "\($0.name)=\"\($0.value)\"" } ?? ""
    let all = [common, labels].filter { !$0.isEmpty }.joined(separator: ",")
    let full = "push_fanout_\(name)"
    if metrics[name] == nil {
      names.append(name)
      metrics[name] = "# HELP \(full) \(help)\n# TYPE \(full) \(kind)\n"
    }
    metrics[name]?.append("\(full)\(suffix)\(all.isEmpty ? "" : "{\(all)}") \(value)\n")
  }

  /// A text as the value of a label.
  static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n", "\r\n": escaped += "\\n"
      default: escaped.append(character)
      }
    }
  }

  var text: String { names.map { metrics[$0] ?? "" }.joined() }
}
