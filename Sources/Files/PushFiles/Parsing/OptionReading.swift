internal import PushModel

extension AppSettings {
  /// Reads `options`: those of decision-rules.md by name.
  mutating func readOptions(
    _ fields: JSONFields, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) {
    for (key, value) in fields {
      let name = "options.\(key.text)"
      // Those of the app's rules first: several rule sets have options of one name.
      let all = rules.options + RuleSet.allCases.flatMap(\.options)
      guard let option = all.first(where: { $0.name == key.text }) else {
        throw .unknownField(key.text, among: all.map(\.name), of: "options")
      }
      try read(value, of: option, name)
      uses.note(option: key.text)
    }
  }

  private mutating func read(
    _ value: JSONValue, of option: AppOption, _ field: String
  ) throws(FileProblem.Problem) {
    switch option.value {
    case .choice(let allowed, _, let set):
      let text = try value.text(field)
      guard set(&self, text) else {
        throw .unknownValue(field, value: text, allowed: allowed)
      }
    case .flag(let path): self[keyPath: path] = try value.flag(field)
    case .seconds(let path, let range):
      self[keyPath: path] = try value.whole(field, in: range)
    }
  }
}
