internal import PushModel

/// Reads the fields of a record, one value of a line after the other.
struct FieldReader<Record: RecordFields>: ~Copyable, FieldVisitor {
  private(set) var record: Record
  var uses: VendorFieldUse
  /// What the fields that were read belong to, and their columns.
  private(set) var owners: VendorFields = []
  private(set) var columns: RowFields = []
  /// What its level is called.
  private let level: StaticString
  // SAFETY: it is a parameter of whoever makes the reader; a reference would be counted for each
  // record.
  @safe private unowned(unsafe) let checked: ParseCache
  /// What is read; no key once it is.
  private var key: JSONKey?
  private var value: JSONValue

  init(
    _ record: Record, level: StaticString, in line: JSONValue, _ rules: RuleSet?,
    _ checked: ParseCache
  ) {
    self.record = record
    self.level = level
    self.checked = checked
    uses = VendorFieldUse(under: rules)
    value = line
  }

  /// Reads a value into the field of its name.
  ///
  /// - Returns: whether there is one.
  mutating func read(_ key: JSONKey, _ value: JSONValue) throws(FileProblem.Problem) -> Bool {
    (self.key, self.value) = (key, value)
    try Record.visitFields(&self)
    return self.key == nil
  }

  /// What was read.
  consuming func end() -> (record: Record, uses: VendorFieldUse) { (record, uses) }

  @inline(__always)
  mutating func visit(_ field: RecordField<Record>) throws(FileProblem.Problem) {
    guard let key, field.name ~= key else { return }
    self.key = nil
    owners.formUnion(field.owner)
    columns.formUnion(field.columns)
    let (name, isLevel) = (field.name, field.columns == .level)
    if !field.owner.isEmpty {
      uses.note(field.owner, named: isLevel ? level : name, isInWords: isLevel)
    }
    switch field.value {
    case .level(let path): record[keyPath: path] = try value.level(name, &uses)
    case .kindLevels(let path): record[keyPath: path] = try value.kindLevels("\(name)", &uses)
    case .channelLevels(let path):
      record[keyPath: path] = try value.channelLevels("\(name)", &uses)
    case .quietHours(let path):
      record[keyPath: path] = try value.quietHours(&uses, checked)
    case .quietWindows(let path):
      record[keyPath: path] = try value.quietWindows("\(name)", &uses)
    case .zone(let path): record[keyPath: path] = try value.zone(name, checked)
    case .ownZone(let path): record[keyPath: path] = try value.zone(name, checked)
    case .instant(let path): record[keyPath: path] = try value.instant(name)
    case .flag(let path, _): record[keyPath: path] = try value.flag(name)
    case .answer(let path): record[keyPath: path] = try value.flag(name)
    case .localNotification(let missing, let handled):
      for (key, value) in try value.object("localNotification") {
        switch key {
        case "informationMissing": record[keyPath: missing] = try value.flag("informationMissing")
        case "handledByApp": record[keyPath: handled] = try value.flag("handledByApp")
        default: throw SettingsRecord.unknown(key, of: "localNotification")
        }
      }
    case .classes(let path): record[keyPath: path] = try value.classes("\(name)", &uses)
    case .texts(let path, let check):
      let texts = try value.strings("\(name)")
      do throws(SettingsWriteError) { try check(texts) } catch { throw .refused("\(name)", error) }
      record[keyPath: path] = texts
    case .ids(let path, let check):
      let ids = try value.identifiers("\(name)")
      do throws(SettingsWriteError) { try check?(ids) } catch { throw .refused("\(name)", error) }
      record[keyPath: path] = ids
    case .devicePolicy(let path): record[keyPath: path] = try value.choice("\(name)")
    case .devices(let path): record[keyPath: path] = try value.devices(&uses)
    }
  }
}

extension FieldReader<AppSettings> {
  /// Reads `options`: those of decision-rules.md by name.
  mutating func readOptions(
    _ fields: JSONFields
  ) throws(FileProblem.Problem) {
    for (key, value) in fields {
      let name = "options.\(key.text)"
      // Those of the app's rules first: several rule sets have options of one name.
      let all = record.rules.options + RuleSet.allCases.flatMap(\.options)
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
      guard set(&record, text) else {
        throw .unknownValue(field, value: text, allowed: allowed)
      }
    case .flag(let path): record[keyPath: path] = try value.flag(field)
    case .seconds(let path, let range):
      record[keyPath: path] = try value.whole(field, in: range)
    }
  }
}
