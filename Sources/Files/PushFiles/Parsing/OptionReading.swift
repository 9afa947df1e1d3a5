internal import PushModel

extension AppSettings {
  /// Reads `options`: those of decision-rules.md by name.
  mutating func readOptions(
    _ fields: JSONFields, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) {
    for (key, value) in fields {
      let name = "options.\(key.text)"
      guard let (rules, option) = Self.option(key.text) else {
        let known = RuleSet.allCases.flatMap { $0.options.map(\.name) }
        throw .unknownField(key.text, among: known, of: "options")
      }
      try read(value, of: option, name)
      uses.note(option: rules, "the option \"\(key.text)\"")
    }
  }

  /// The option of a name, and the one rule set that has it.
  private static func option(_ name: String) -> (rules: RuleSet, option: AppOption)? {
    for rules in RuleSet.allCases {
      if let option = rules.options.first(where: { $0.name == name }) { return (rules, option) }
    }
    return nil
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
    case .seconds(let path):
      self[keyPath: path] = try value.whole(field, in: AppOption.seconds)
    }
  }
}
