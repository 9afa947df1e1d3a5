internal import PushModel

// What differs between the vendors' payloads.

extension PayloadLayout {
  enum Kind: Sendable {
    case easemob
    case rongcloud
    /// A notification that RongCloud's SDK shows itself, of which there is no largest.
    case local
  }

  /// The payload of some words.
  func template(_ words: RenderedContent) -> PayloadTemplate {
    var draft = PayloadDraft()
    switch kind {
    case .easemob:
      putAPS(words, senderExtension, &draft)
      putIDs(&draft)
      if let extra = content.apns.extra ?? content.push.custom {
        draft.raw(",\"e\":")
        draft.raw(extra)
      }
    case .rongcloud:
      putAPS(words, senderExtension, &draft)
      putIDs(&draft)
      if let data = content.pushData.saying {
        draft.raw(",\"appData\":")
        draft.string(data)
      }
    case .local:
      draft.raw("{\"alertBody\":\"")
      draft.bodyHere()
      draft.raw("\",\"userInfo\":{")
      putRC(&draft)
      draft.raw("}")
    }
    draft.raw("}")
    return PayloadTemplate(draft, body: words.body)
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
    case .easemob: content.apns
    case .rongcloud, .local: MessageContent.APNsExtension()
    }
  }

  /// The ids of message, sender and conversation, behind what comes before.
  func putIDs(_ draft: inout PayloadDraft) {
    switch kind {
    case .easemob: putEasemobIDs(&draft)
    case .rongcloud, .local:
      draft.raw(",")
      putRC(&draft)
    }
  }

  /// `f`, `t`, `g` and `m`.
  fileprivate func putEasemobIDs(_ draft: inout PayloadDraft) {
    if let sender = message.sender {
      draft.raw(",\"f\":")
      draft.string(sender.text)
    }
    draft.raw(",\"t\":\"")
    draft.recipientHere()
    draft.raw("\"")
    if conversation == .group || conversation == .thread {
      draft.raw(",\"g\":")
      draft.string(message.conversation.text)
    }
    draft.raw(",\"m\":")
    draft.string(message.id.text)
  }

  /// `rc`.
  fileprivate func putRC(_ draft: inout PayloadDraft) {
    draft.raw("\"rc\":{")
    if let code = conversation.rongCloudCode {
      draft.raw("\"cType\":")
      draft.string(code)
      draft.raw(",")
    }
    if let sender = message.sender {
      draft.raw("\"fId\":")
      draft.string(sender.text)
      draft.raw(",")
    }
    if let name = content.objectName.saying ?? message.body.rongCloudName {
      draft.raw("\"oName\":")
      draft.string(name)
      draft.raw(",")
    }
    draft.raw("\"tId\":")
    if conversation.isDirect, kind != .local {
      draft.raw("\"")
      draft.recipientHere()
      draft.raw("\"")
    } else {
      // On the recipient's own device the target of a direct chat is the other one.
      let target = conversation.isDirect ? message.sender : nil
      draft.string((target ?? message.conversation).text)
    }
    draft.raw(",\"mId\":")
    draft.string(message.id.text)
    draft.raw(",\"id\":")
    draft.string(message.id.text)
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
