internal import PushModel

extension CSVTable {
  /// The names in a file's header, whatever they are.
  static func header(
    of path: String, separator: UInt8 = UInt8(ascii: ",")
  ) throws(FileProblem.Problem) -> [String] {
    let table = try CSVTable(.path(path), nil, separator: separator)
    return table.header
  }
}

/// What a CSV file holds by its header.
enum CSVContents {
  case messages, presence, members, users

  /// - Parameter options: how messages are written.
  init(of path: String, _ options: MessageOptions) throws(FileProblem.Problem) {
    let comma = UInt8(ascii: ",")
    var header: [String] = []
    if options.delimiter != comma {
      header = (try? CSVTable.header(of: path, separator: options.delimiter)) ?? []
    }
    if header.count < 2 { header = try CSVTable.header(of: path, separator: comma) }
    if let named = options.columns?.written, !named.isEmpty, named.allSatisfy(header.contains) {
      self = .messages
    } else {
      self.init(header)
    }
  }

  private init(_ header: [String]) {
    let found = header.count == 1 ? UnknownColumns.delimiter(of: header[0], but: ",") : nil
    let names =
      found.map {
        header[0].split(separator: $0, omittingEmptySubsequences: false).map(String.init)
      } ?? header
    let columns = ExportNames.guesses(names, among: ["conversation", "user", "at"]).map(\.column)
    if names.contains("at") {
      self = .messages
    } else if names.contains("online") {
      self = .presence
    } else if names.contains("user"), names.contains("conversation") || !columns.contains("at") {
      self = .members
    } else if names.contains(where: UserColumns.names.contains), !columns.contains("at") {
      self = .users
    } else {
      // An export, most likely of messages; one of members has no time.
      self = Set(columns) == ["conversation", "user"] ? .members : .messages
    }
  }
}

extension JSONLines {
  enum Contents {
    case settings, messages, templates, senders, changes, heartbeats
    /// None of these: what the first record has.
    case unknown(UnknownRecord)
  }

  /// Whether some record of settings, or a message, has a field of this name.
  private static func isKnown(_ key: String) -> Bool {
    MessageFields.names.contains(key) || ContentFields.names.contains(key)
      || SettingsRecord.fields.values.contains { $0.contains(key) }
  }

  /// What a file holds by its first record that can be read: a message is one without a kind, in a
  /// conversation or at an instant; a change has both, a kind and an instant.
  static func contents(of path: String) throws(FileProblem.Problem) -> Contents {
    let lines = try JSONLines(.path(path))
    var isEmpty = true
    while true {
      do throws(FileProblem.Problem) {
        guard let line = try lines.next() else { break }
        isEmpty = false
        if let kind = line.fields.first(where: { "kind" ~= $0.key })?.value {
          if "template" ~= kind { return .templates }
          if "sender" ~= kind { return .senders }
          return line.fields.contains { "at" ~= $0.key } ? .changes : .settings
        }
        let keys = line.fields.map(\.key.text)
        if keys.contains("device") { return .heartbeats }
        if keys.contains("at") || keys.contains("conversation") { return .messages }
        return keys.allSatisfy(Self.isKnown) ? .settings : .unknown(UnknownRecord(names: keys))
      } catch {
        isEmpty = false
        if !error.isOfOneLine { return .settings }
      }
    }
    if isEmpty { throw .isEmpty }
    return .settings
  }
}
