internal import PushContent
internal import PushFanout
internal import PushModel

/// The display settings of one record.
///
/// - Source: formats.md, "What a push says".
enum DisplayRecord: Sendable {
  /// A user's display, nil for none, and devices.
  case user(Identifier, RecipientDisplay?, [Device])
  /// A conversation's kind, name and parent.
  case conversation(Identifier, ConversationKind, name: String?, parent: Identifier?)
  /// A member's nickname; nil for none.
  case nickname(String?, of: Identifier, in: Identifier)

  /// Reads these fields of a record that is not a member's and whose other fields have been read;
  /// nil for none.
  static func read(
    _ line: JSONValue, _ record: borrowing SettingsRecord, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> DisplayRecord? {
    switch record {
    case .app, .member: return nil
    case .user(let id, let user):
      return .user(id, try DisplayFields.read(line, &uses), user.devices ?? [])
    case .conversation(let id, let settings):
      let name = try line.fields.first { "name" ~= $0.key }?.value.text("name")
      return .conversation(id, settings.kind, name: name, parent: settings.parent)
    }
  }

  /// Reads a member's nickname; nil for none.
  static func nickname(
    _ line: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> String? {
    guard let nickname = line.fields.first(where: { "nickname" ~= $0.key })?.value else {
      return nil
    }
    uses.note(.nickname, "\"nickname\"")
    return try nickname.text("nickname")
  }
}

/// What settings say of how pushes look, collected beside what decides.
final class ContentCollector {
  private(set) var directory = ContentDirectory()

  /// Adds the fields of a record. A record replaces an earlier one, these fields included.
  func add(_ note: DisplayRecord) {
    switch note {
    case .user(let id, let display, let devices):
      directory.setDevices(devices, of: id)
      if let display {
        directory.setUser(id, display)
      } else if directory.contains(id) {
        directory.setUser(id, RecipientDisplay())
      }
    case .conversation(let id, let kind, let name, let parent):
      directory.setConversation(id, kind: kind, name: name, parent: parent)
    case .nickname(let nickname?, let user, let conversation):
      directory.setNickname(nickname, of: user, in: conversation)
    case .nickname(nil, let user, let conversation):
      if directory.hasNicknames(in: conversation) {
        directory.setNickname(nil, of: user, in: conversation)
      }
    }
  }

  /// Adds memberships without nicknames.
  func add(_ columns: MembershipColumns, stretches: Range<Int>) {
    guard directory.hasNicknames else { return }
    for stretch in stretches {
      let conversation = columns.conversation(of: stretch)
      guard directory.hasNicknames(in: conversation) else { continue }
      for row in columns.rows(of: stretch) {
        directory.setNickname(nil, of: columns.user(at: row), in: conversation)
      }
    }
  }
}

/// The display fields of a user's record.
private enum DisplayFields {
  private static let fields = ["name", "style", "language", "template", "offlineMessages"]

  static func read(
    _ line: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> RecipientDisplay? {
    var display: RecipientDisplay?
    for (key, value) in line.fields {
      switch key {
      case "display":
        let remarks = display?.remarks
        display = try self.display(value, &uses)
        display?.remarks = remarks ?? [:]
      case "remarks": display = try remarked(display ?? RecipientDisplay(), value)
      default: break
      }
    }
    return display
  }

  private static func display(
    _ value: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) -> RecipientDisplay {
    var display = RecipientDisplay()
    for (key, value) in try value.object("display") {
      let field = "display.\(key.text)"
      switch key {
      case "name": display.name = try value.text(field)
      case "style": display.style = try value.choice(field)
      case "language":
        uses.note(.displayLanguage, "\"display.language\"")
        let text = try value.text(field)
        guard let tag = LanguageTag(text) else { throw .notALanguage(field, value: text) }
        display.language = tag
      case "template":
        uses.note(.templates, "\"display.template\"")
        let name = try value.text(field)
        guard PushTemplate.isName(name) else { throw .template(field, .badName(name)) }
        display.template = name
      case "offlineMessages":
        let badges = 0...Int64(RecipientDisplay.badgeLimit)
        display.offlineMessages = UInt32(try value.whole(field, in: badges))
      default: throw .unknownField(key.text, among: fields, of: "display")
      }
    }
    return display
  }

  private static func remarked(
    _ display: RecipientDisplay, _ value: JSONValue
  ) throws(FileProblem.Problem) -> RecipientDisplay {
    var display = display
    for (key, value) in try value.object("remarks") {
      if key.text.isEmpty { throw .emptyID("remarks") }
      display.remarks[Identifier(key.text)] = try value.text("remarks.\(key.text)")
    }
    return display
  }
}
