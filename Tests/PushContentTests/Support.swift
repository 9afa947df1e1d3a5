import Foundation
import PushContent
import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

/// A world in files, read as the program reads it.
struct ContentWorld {
  var settings: [String] = []
  var templates: [String] = []
  var messages: [String] = []

  /// What a message comes to for one user.
  struct Shown {
    let message: Identifier
    let action: Action
    let push: RenderedPush
  }

  struct Loaded {
    let fanout: Fanout
    let renderer: ContentRenderer
    let messages: [(message: Message, content: MessageContent)]
  }

  func load() throws -> Loaded {
    let folder = ScratchFolder()
    defer { withExtendedLifetime(folder) {} }
    let write = { (lines: [String], name: String) -> String in
      let path = folder.path(name)
      try (lines.joined(separator: "\n") + "\n").write(
        toFile: path, atomically: false, encoding: .utf8)
      return path
    }
    var builder = FanoutBuilder()
    let directory = try SettingsLoader.load(
      SettingsPaths(settings: [write(settings, "settings.ndjson")]), into: &builder,
      LoadOptions(readsContent: true)
    ).content
    let fanout = try builder.build()
    let catalog =
      templates.isEmpty
      ? TemplateCatalog() : try TemplateReader.load([write(templates, "templates.ndjson")])
    let reader = try MessageReader(
      path: write(messages, "messages.ndjson"), rules: fanout.app.rules)
    var read: [(message: Message, content: MessageContent)] = []
    while let next = try reader.nextWithContent() { read.append(next) }
    return Loaded(
      fanout: fanout,
      renderer: ContentRenderer(
        rules: fanout.app.rules, templates: catalog, directory: directory),
      messages: read)
  }

  /// Decides every message and renders it for everybody who gets it, in the order of users.
  func shown() throws -> [Shown] {
    let loaded = try load()
    return loaded.messages.flatMap { message, content in
      loaded.shown(message, content)
    }
  }
}

extension ContentWorld.Loaded {
  func shown(_ message: Message, _ content: MessageContent) -> [ContentWorld.Shown] {
    let result = fanout.decide(message)
    var shown: [ContentWorld.Shown] = []
    result.forEachRecipient { user, outcome in
      guard outcome.action != .suppress else { return }
      let form: PayloadForm = outcome.action == .local ? .local : .push
      let pushes = renderer.render(message, content, for: [result.id(of: user)], as: form)
      shown.append(.init(message: message.id, action: outcome.action, push: pushes[0]))
    }
    return shown
  }
}

extension RenderedPush {
  var text: String { String(decoding: payload, as: UTF8.self) }

  /// The payload as another reader of JSON sees it.
  func json() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
  }

  func aps() throws -> [String: Any] { try #require(try json()["aps"] as? [String: Any]) }

  func alert() throws -> [String: String] {
    try #require(try aps()["alert"] as? [String: String])
  }
}

/// Renders a message that is not read from files.
func render(
  _ content: MessageContent, to recipient: Identifier = "u1", sender: Identifier? = "u9",
  in kind: ConversationKind = .group, id: Identifier = "m1",
  templates: [(name: String, title: String, content: String)] = [],
  _ set: (inout ContentDirectory) -> Void = { _ in }
) throws -> RenderedPush {
  var directory = ContentDirectory()
  directory.setConversation("g1", kind: kind)
  set(&directory)
  let catalog = try TemplateCatalog(
    templates.map { try PushTemplate(name: $0.name, title: $0.title, content: $0.content) })
  let renderer = ContentRenderer(rules: .easemob, templates: catalog, directory: directory)
  let message = Message(id: id, conversation: "g1", at: .zero, sender: sender)
  return renderer.render(message, content, for: [recipient])[0]
}

extension ContentRenderer {
  /// All payloads of a message.
  func render(
    _ message: Message, _ content: MessageContent, for recipients: [Identifier],
    as form: PayloadForm = .push, threads: Int? = nil
  ) -> [RenderedPush] {
    Array(stream(message, content, for: recipients, as: form, threads: threads))
  }
}
