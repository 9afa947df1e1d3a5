import Foundation
import PushContent
import PushModel
import Testing

/// Goal: with the words that the vendor's documents show, which are those of older servers, a
/// payload is what the documents show, value by value.
///
/// - Source: Easemob, "APNs 内容解析" and "解析收到的推送字段" (docs/content.md names them).
@Suite struct VendorExampleTests {
  struct Example: Sendable, CustomTestStringConvertible {
    let name: String
    var kind = ConversationKind.private
    var style: DisplayStyle?
    var content = MessageContent(text: "hello from rest")
    let payload: String
    var testDescription: String { name }
  }

  private static func apns(
    _ set: (inout MessageContent.APNsExtension) -> Void
  ) -> MessageContent {
    var content = MessageContent(text: "hello from rest")
    set(&content.apns)
    return content
  }

  static let examples = [
    Example(
      name: "single chat",
      payload: """
        {"aps":{"alert":{"body":"您有一条新消息"},"badge":1,"sound":"default"},
         "f":"6001","t":"6006","m":"373360335316321408"}
        """),
    Example(
      name: "single chat with details", style: .messageSummary,
      content: MessageContent(text: "xxxx"),
      payload: """
        {"aps":{"alert":{"body":"ApnsNickName:xxxx"},"badge":1,"sound":"default"},
         "f":"6001","t":"6006","m":"373360335316321408"}
        """),
    Example(
      name: "group", kind: .group,
      payload: """
        {"aps":{"alert":{"body":"您有一条新消息"},"badge":1,"sound":"default"},
         "f":"6001","t":"6006","g":"1421300621769","m":"373360335316321408"}
        """),
    Example(
      name: "custom field", content: apns { $0.extra = .string("自定义推送扩展") },
      payload: """
        {"aps":{"alert":{"body":"您有一条新消息"},"badge":1,"sound":"default"},
         "e":"自定义推送扩展","f":"6001","t":"6006","m":"373360335316321408"}
        """),
    Example(
      name: "custom display", content: apns { $0.content = "自定义推送显示" },
      payload: """
        {"aps":{"alert":{"body":"自定义推送显示"},"badge":1,"sound":"default"},
         "f":"6001","t":"6006","m":"373360335316321408"}
        """),
    Example(
      name: "custom display and custom field",
      content: apns {
        $0.content = "自定义推送显示"
        $0.extra = .string("自定义推送扩展")
      },
      payload: """
        {"aps":{"alert":{"body":"自定义推送显示"},"badge":1,"sound":"default"},
         "f":"6001","t":"6006","m":"373360335316321408","e":"自定义推送扩展"}
        """),
    Example(
      name: "custom sound", content: apns { $0.sound = "custom.caf" },
      payload: """
        {"aps":{"alert":{"body":"您有一条新消息"},"badge":1,"sound":"custom.caf"},
         "f":"6001","t":"6006","m":"373360335316321408"}
        """),
    Example(
      name: "mutable-content", content: apns { $0.isMutable = true },
      payload: """
        {"aps":{"alert":{"body":"您有一条新消息"},"badge":1,"sound":"default","mutable-content":1},
         "f":"6001","t":"6006","m":"373360335316321408"}
        """),
  ]

  @Test(arguments: examples)
  func payloadIsTheDocuments(_ example: Example) throws {
    let conversation: Identifier = example.kind == .group ? "1421300621769" : "6001-6006"
    var directory = ContentDirectory()
    directory.setConversation(conversation, kind: example.kind)
    var sender = RecipientDisplay()
    sender.name = "ApnsNickName"
    directory.setUser("6001", sender)
    var recipient = RecipientDisplay()
    recipient.style = example.style
    directory.setUser("6006", recipient)
    let catalog = try TemplateCatalog([
      PushTemplate(name: "default", title: "", content: "您有一条新消息"),
      PushTemplate(name: "detail", title: "", content: "{$fromNickname}:{$msg}"),
    ])
    let renderer = ContentRenderer(rules: .easemob, templates: catalog, directory: directory)
    let message = Message(
      id: "373360335316321408", conversation: conversation, at: .zero, sender: "6001")
    let push = renderer.render(message, example.content, for: ["6006"])[0]
    let expected = try JSONSerialization.jsonObject(with: Data(example.payload.utf8))
    let found = try push.json() as NSDictionary
    #expect(found == expected as? NSDictionary)
  }
}
