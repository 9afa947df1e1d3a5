internal import PushContent
internal import PushModel

/// What settings say of how pushes look, collected beside what decides. A reader of decisions knows
/// these fields and passes over them.
///
/// - Source: formats.md, "What a push says".
final class ContentCollector {
  private(set) var directory = ContentDirectory()

  /// Reads these fields of a record whose other fields have been read.
  func add(
    _ line: JSONValue, _ record: borrowing SettingsRecord, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) {
    switch record {
    case .app: break
    case .user(let id, _): try addUser(id, line, &uses)
    case .conversation(let id, let settings):
      let name = try line.fields.first { "name" ~= $0.key }?.value.text("name")
      directory.setConversation(id, kind: settings.kind, name: name, parent: settings.parent)
    case .member(let user, let conversation, _, _):
      if let nickname = line.fields.first(where: { "nickname" ~= $0.key })?.value {
        uses.note(.nickname, "\"nickname\"")
        directory.setNickname(try nickname.text("nickname"), of: user, in: conversation)
      } else if directory.hasNicknames(in: conversation) {
        directory.setNickname(nil, of: user, in: conversation)
      }
    }
  }

  private func addUser(
    _ id: Identifier, _ line: JSONValue, _ uses: inout VendorFieldUse
  ) throws(FileProblem.Problem) {
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
    // A record replaces an earlier one, these fields included.
    if let display {
      directory.setUser(id, display)
    } else if directory.contains(id) {
      directory.setUser(id, RecipientDisplay())
    }
  }

  private func display(
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
      default: throw .unknownField(field)
      }
    }
    return display
  }

  private func remarked(
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
