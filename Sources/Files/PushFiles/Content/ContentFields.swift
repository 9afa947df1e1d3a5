internal import CPushFiles
internal import PushContent
internal import PushModel

/// What a message of messages.ndjson says of its own push. A reader of decisions knows these fields
/// and passes over them.
///
/// - Source: formats.md, "What a push says".
enum ContentFields {
  /// Their names.
  static let names = [
    "text", "translations", "mentionedContent", "pushTitle", "objectName", "pushData",
    "disablePushTitle", "forceShowDetailContent", "iOSConfig", "androidConfig", "templateId",
  ]

  /// Whether a field is one of these; called for fields that no other reader takes.
  static func isKnown(_ key: JSONKey, _ uses: inout VendorFieldUse) -> Bool {
    switch key {
    case "text": break
    case "translations": uses.note(.translations, "\"translations\"")
    case "mentionedContent": uses.note(.mentionedContent, "\"\(key.text)\"")
    case "pushTitle": uses.note(.pushTitle, "\"\(key.text)\"")
    case "objectName": uses.note(.objectName, "\"\(key.text)\"")
    case "pushData", "disablePushTitle", "forceShowDetailContent", "iOSConfig", "androidConfig",
      "templateId":
      uses.note(.pushData, "\"\(key.text)\"")
    default: return false
    }
    return true
  }

  /// Reads these fields of a line whose other fields have been read.
  static func read(
    _ line: JSONValue, in parser: JSONParser
  ) throws(FileProblem.Problem) -> MessageContent {
    var content = MessageContent()
    for (key, value) in line.fields {
      switch key {
      case "text": content.text = try value.text("text")
      case "translations": content.translations = try translations(value)
      case "mentionedContent": content.mentionedContent = try value.text("mentionedContent")
      case "pushTitle": content.pushTitle = try value.text("pushTitle")
      case "objectName": content.objectName = try value.text("objectName")
      case "pushData": content.pushData = try value.text("pushData")
      case "ext": content.readExtension(value.fields, in: parser)
      case "disablePushTitle": content.requests.hidesTitle = try value.flag("disablePushTitle")
      case "forceShowDetailContent":
        content.requests.showsDetail = try value.flag("forceShowDetailContent")
      case "iOSConfig": content.requests.readIOSConfig(try value.object("iOSConfig"))
      case "androidConfig": content.requests.readAndroidConfig(try value.object("androidConfig"))
      default: break
      }
    }
    return content
  }

  private static func translations(
    _ value: JSONValue
  ) throws(FileProblem.Problem) -> [LanguageTag: String] {
    var translations: [LanguageTag: String] = [:]
    for (key, value) in try value.object("translations") {
      let field = "translations.\(key.text)"
      guard let tag = LanguageTag(key.text) else { throw .notALanguage(field, value: key.text) }
      let text = try value.text(field)
      guard translations.updateValue(text, forKey: tag) == nil else {
        throw .repeatedLanguage(key.text)
      }
    }
    return translations
  }
}

/// `ext`: any JSON object, of which some keys are read; wrongly typed values in it are ignored.
extension MessageContent {
  fileprivate mutating func readExtension(_ fields: JSONFields, in parser: JSONParser) {
    for (key, value) in fields where value.kind == PF_JSON_OBJECT {
      switch key {
      case "em_apns_ext":
        apns = APNsExtension(value.fields, in: parser)
        for (key, value) in value.fields where "em_push_collapse_key" ~= key {
          requests.collapseID = value.string
        }
      case "em_android_push_ext": requests.readAndroidExtension(value.fields)
      case "em_push_ext": push = PushExtension(value.fields, in: parser)
      case "em_push_template": template = TemplateUse(value.fields)
      default: break
      }
    }
  }
}

/// What is wrongly typed in these objects is ignored (S-4).
extension MessageContent.RequestFields {
  fileprivate mutating func readAndroidExtension(_ fields: JSONFields) {
    for (key, value) in fields {
      switch key {
      case "fcm_channel_id": channel = value.string
      case "fcm_options" where value.kind == PF_JSON_OBJECT:
        for (key, value) in value.fields where "analytics_label" ~= key {
          analyticsLabel = value.string
        }
      default: break
      }
    }
  }

  fileprivate mutating func readIOSConfig(_ fields: JSONFields) {
    for (key, value) in fields {
      switch key {
      case "threadId": threadID = value.string
      case "category": category = value.string
      case "apnsCollapseId": collapseID = value.string
      case "richMediaUri": richMedia = value.string
      case "interruptionLevel": level = value.string.flatMap { InterruptionLevel(rawValue: $0) }
      default: break
      }
    }
  }

  fileprivate mutating func readAndroidConfig(_ fields: JSONFields) {
    for (key, value) in fields {
      switch key {
      case "fcmChannelId": channel = value.string
      case "fcmCollapseKey": collapseKey = value.string
      case "fcmImageUrl": image = value.string
      default: break
      }
    }
  }
}

extension MessageContent.APNsExtension {
  fileprivate init(_ fields: JSONFields, in parser: JSONParser) {
    self.init()
    for (key, value) in fields {
      switch key {
      case "em_push_title": title = value.string
      case "em_alert_subTitle": subtitle = value.string
      case "em_push_content": content = value.string
      case "em_push_badge": badge = value.badge
      case "em_push_sound": sound = value.string
      case "em_push_mutable_content": isMutable = EasemobExtension.isTrue(value)
      case "em_push_content_available": isContentAvailable = EasemobExtension.isTrue(value)
      case "em_push_category": category = value.string
      case "thread_id": threadID = value.string
      case "extern": extra = parser.raw(value)
      default: break
      }
    }
  }
}

extension MessageContent.PushExtension {
  fileprivate init(_ fields: JSONFields, in parser: JSONParser) {
    self.init()
    for (key, value) in fields {
      switch key {
      case "title": title = value.string
      case "content": content = value.string
      case "custom": custom = parser.raw(value)
      case "group_user_nickname": groupNickname = value.string
      default: break
      }
    }
  }
}

extension MessageContent.TemplateUse {
  fileprivate init(_ fields: JSONFields) {
    self.init()
    for (key, value) in fields {
      switch key {
      case "name": name = value.string
      case "title_args": titleArguments = value.arguments
      case "content_args": contentArguments = value.arguments
      case "directed_template": directed = Directed(value)
      default: break
      }
    }
  }
}

extension MessageContent.TemplateUse.Directed {
  fileprivate init?(_ value: JSONValue) {
    guard value.kind == PF_JSON_OBJECT,
      let name = value.fields.first(where: { "name" ~= $0.key })?.value.string, !name.isEmpty
    else { return nil }
    self.init(name: name)
    for (key, value) in value.fields {
      switch key {
      case "target": targets = value.arguments.map { Identifier($0) }
      case "title_args": titleArguments = value.arguments
      case "content_args": contentArguments = value.arguments
      default: break
      }
    }
  }
}

extension JSONValue {
  /// The strings of an array, with an empty one for an item that is no string, so that the others
  /// keep their indices.
  fileprivate var arguments: [String] {
    kind == PF_JSON_ARRAY ? items.map { $0.string ?? "" } : []
  }

  /// A whole number that a badge may be, however it is written: 3.0 is 3, as 1.0 is 1 for E-45.
  fileprivate var badge: UInt32? {
    number.flatMap { UInt32(exactly: $0) }.flatMap { $0 <= RecipientDisplay.badgeLimit ? $0 : nil }
  }
}
