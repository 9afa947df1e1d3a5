internal import PushModel

// What Firebase Cloud Messaging takes (S-40 to S-51).

/// What of a message is left when it has too many bytes.
enum FCMParts {
  case all
  /// All but what the sender passes through, and the image.
  case ids
  /// Title and body alone.
  case words
}

extension PayloadLayout {
  /// `message`, without the address of a device.
  func putFCM(_ words: RenderedContent, _ parts: FCMParts, _ draft: inout PayloadDraft) {
    guard let sender else { preconditionFailure("a message of Firebase's without a sender") }
    let request = content.requests
    let image = parts == .all ? request.image.saying : nil
    let isShown = sender.style == .notification && !isBackground  // S-50
    draft.open()
    if isShown {  // S-42
      draft.name("notification")
      draft.open()
      draft.member("title", words.title.saying)
      draft.body()
      draft.member("image", image)
      draft.raw("}")
    }
    if !isShown && !isBackground || parts != .words {
      draft.name("data")
      draft.open()
      if !isShown, !isBackground {
        draft.member("title", words.title.saying)
        draft.body()
        draft.member("image", image)
        draft.own(.dataCount)
      }
      if parts != .words { putData(hasExtra: parts == .all, &draft) }
      draft.raw("}")
    }
    draft.name("android")
    draft.open()
    let byConversation = !isShown && sender.collapse == .conversation
    draft.member(
      "collapse_key", short(request.collapseKey) ?? (byConversation ? ownCollapseID : nil))  // S-44
    draft.member("priority", sender.priority == .normal || isBackground ? "NORMAL" : "HIGH")
    draft.member("ttl", "\(fcmSeconds)s")
    draft.member("restricted_package_name", sender.package)
    if isShown {
      draft.name("notification")
      draft.open()
      draft.member("channel_id", short(request.channel) ?? sender.channel)  // S-46
      draft.member("tag", ownCollapseID)
      draft.member("icon", sender.icon)
      draft.member("color", sender.color)
      draft.member("click_action", sender.clickAction)
      draft.name("default_sound")
      draft.raw("true")
      draft.member("event_time", start.rfc3339)  // S-47
      draft.own(.notificationCount)
      draft.raw("}")
    }
    draft.raw("}")
    if let label = request.analyticsLabel, Self.isLabel(label) {
      draft.name("fcm_options")
      draft.open()
      draft.member("analytics_label", label)
      draft.raw("}")
    }
    draft.raw("}")
  }

  /// A text of at most 200 bytes; nil for others, and an empty one.
  private func short(_ text: String?) -> String? {
    text.saying.flatMap { $0.utf8.count <= 200 ? $0 : nil }
  }

  /// S-49.
  private static func isLabel(_ text: String) -> Bool {
    (1...50).contains(text.utf8.count)
      && text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.~%".utf8.contains($0) }
  }

  // MARK: How long, and in place of what

  /// How many seconds after ``start`` the push is worth delivering.
  private var ttl: Int64 { sender?.ttl ?? 0 }

  /// When it is not worth delivering any more.
  private var end: Int64 { start.milliseconds + ttl * 1_000 }

  /// S-45.
  private var fcmSeconds: Int64 {
    let left = end - message.at.milliseconds
    return ttl == 0 || left < 0 ? 0 : min(left / 1_000, 2_419_200)
  }

  /// S-22.
  var apnsExpiration: Int64 {
    ttl > 0 && end > message.at.milliseconds ? end / 1_000 : 0
  }

  /// Until when the provider keeps it; nil where it is tried once.
  var expiry: Instant? {
    let end =
      sender?.platform == .apns
      ? apnsExpiration * 1_000
      : fcmSeconds == 0 ? 0 : message.at.milliseconds + fcmSeconds * 1_000
    return end == 0 ? nil : Instant(milliseconds: end)
  }

  /// What the push takes the place of, as the message says, else as the sender does (S-23).
  var collapseID: String? { content.requests.collapseID.saying.map(Self.collapse) ?? ownCollapseID }

  /// The same without what the message says.
  private var ownCollapseID: String? {
    switch sender?.collapse {
    case .message: Self.collapse(message.id.text)
    case .conversation:
      Self.collapse(
        conversation == .ultraGroup && !message.channel.isEmpty
          ? message.conversation.text + "/" + message.channel.text : message.conversation.text)
    case Optional.none, .some(.none): nil
    }
  }

  /// A value that Apple takes: a long one, or one of other characters, by its hash.
  private static func collapse(_ value: String) -> String {
    (1...64).contains(value.utf8.count) && value.utf8.allSatisfy { (0x21...0x7E).contains($0) }
      ? value : Digest.sha256(value)
  }
}
