internal import PushModel

// What differs between the vendors' payloads.

extension PayloadLayout {
  enum Kind: Sendable {
    case easemob
    case rongcloud
    /// A notification that RongCloud's SDK shows itself, of which there is no largest.
    case local
  }

  /// What Apple's devices get.
  func putPayload(
    _ words: RenderedContent, _ traits: RecipientTraits, _ draft: inout PayloadDraft
  ) {
    draft.open()
    switch kind {
    case .easemob:
      putAPS(words, senderExtension, traits, &draft)
      putIDs(&draft)
      if let extra = content.apns.extra ?? content.push.custom {
        draft.name("e")
        draft.raw(extra)
      }
    case .rongcloud:
      let media = sender != nil && !isBackground ? content.requests.richMedia.saying : nil  // S-26
      var apns = senderExtension
      apns.isMutable = media != nil
      putAPS(words, apns, traits, &draft)
      putIDs(&draft)
      draft.member("appData", content.pushData.saying)
      draft.member("richMediaUri", media)
    case .local:
      draft.name("alertBody")
      draft.raw("\"")
      draft.bodyHere()
      draft.raw("\"")
      draft.name("userInfo")
      draft.open()
      putIDs(&draft)
      draft.raw("}")
    }
    draft.raw("}")
  }

  /// Members of `data` (S-43).
  ///
  /// - Parameter hasExtra: whether what the sender passes through is among them.
  func putData(hasExtra: Bool, _ draft: inout PayloadDraft) {
    switch kind {
    case .easemob:
      putIDs(&draft)
      if hasExtra, let extra = content.push.custom {
        draft.member("e", extra.text ?? extra.description)
      }
    case .rongcloud, .local:
      draft.name("rc")
      draft.nested { putRC(&$0) }
      if hasExtra { draft.member("appData", content.pushData.saying) }
    }
  }

  /// Since when the message waits for its recipients (S-22).
  var start: Instant {
    switch kind {
    case .easemob: message.sentAt ?? message.at
    case .rongcloud, .local: message.at
    }
  }

  /// The most bytes of a payload.
  var limit: Int {
    switch kind {
    case .easemob, .rongcloud: APNsPayload.byteLimit
    case .local: .max
    }
  }

  /// The vendor's title and body that reveal nothing but that a message arrived.
  var plainTitle: String {
    switch kind {
    case .easemob: VendorText.bannerTitle
    case .rongcloud, .local: ""
    }
  }

  var plainBody: String {
    switch kind {
    case .easemob: VendorText.bannerBody
    case .rongcloud, .local: VendorText.hidden
    }
  }

  /// The sender's options for the delivery of a push.
  var senderExtension: MessageContent.APNsExtension {
    switch kind {
    case .easemob:
      var apns = content.apns
      apns.threadID = apns.threadID.saying ?? threadByConversation
      return apns
    case .rongcloud, .local:
      var apns = MessageContent.APNsExtension()
      guard let sender else { return apns }
      apns.category =
        content.requests.category.saying ?? (sender.category == .messageType ? objectName : nil)
      apns.threadID = content.requests.threadID.saying ?? threadByConversation
      return apns
    }
  }

  /// S-25.
  private var threadByConversation: String? {
    sender?.thread == .conversation ? message.conversation.text : nil
  }

  private var objectName: String? { content.objectName.saying ?? message.body.rongCloudName }

  /// The ids of message, sender and conversation.
  func putIDs(_ draft: inout PayloadDraft) {
    switch kind {
    case .easemob:
      draft.member("f", message.sender?.text)
      draft.recipient("t")
      if conversation == .group || conversation == .thread {
        draft.member("g", message.conversation.text)
      }
      draft.member("m", message.id.text)
    case .rongcloud, .local:
      draft.name("rc")
      putRC(&draft)
    }
  }

  /// What `rc` is.
  private func putRC(_ draft: inout PayloadDraft) {
    draft.open()
    draft.member("cType", conversation.rongCloudCode)
    draft.member("fId", message.sender?.text)
    draft.member("oName", objectName)
    if conversation.isDirect, kind != .local {
      draft.recipient("tId")
    } else {
      // On the recipient's own device the target of a direct chat is the other one.
      let target = conversation.isDirect ? message.sender : nil
      draft.member("tId", (target ?? message.conversation).text)
    }
    draft.member("mId", message.id.text)
    draft.member("id", message.id.text)
    draft.raw("}")
  }
}

extension ConversationKind {
  /// `cType`; nil where the vendor names no code.
  var rongCloudCode: String? {
    switch self {
    case .private: "PR"
    case .discussion: "DS"
    case .group: "GRP"
    case .customerService: "CS"
    case .system: "SYS"
    case .thread, .ultraGroup, .room: nil
    }
  }
}

extension MessageBody {
  /// `oName` of a message without a type; nil where there is no usual one.
  var rongCloudName: String? {
    switch self {
    case .text: "RC:TxtMsg"
    case .command: "RC:CmdMsg"
    case .status, .custom: nil
    }
  }
}
