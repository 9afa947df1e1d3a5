import Foundation
import PushContent
import PushModel
import TestSupport
import Testing

/// Golden payloads: what they were when a person last read them and agreed.
///
/// A file of `Goldens` has sections of a world, templates and messages, and behind each what every
/// recipient gets, in bytes, with the sources of title and body. `PUSH_UPDATE_GOLDEN=1 swift test`
/// rewrites the files; the run fails all the same, and the difference is what is to be read.
@Suite struct GoldenTests {
  static let folder = Repository.root.appending(path: "Tests/PushContentTests/Goldens")

  static let files = ["easemob-examples", "easemob-texts", "rongcloud"]

  @Test(arguments: files)
  func payloadsAreThose(_ name: String) throws {
    let url = Self.folder.appending(path: "\(name).golden")
    let stored = try String(contentsOf: url, encoding: .utf8)
    let fresh = try Self.rendered(stored)
    if ProcessInfo.processInfo.environment["PUSH_UPDATE_GOLDEN"] != nil {
      try fresh.write(to: url, atomically: true, encoding: .utf8)
    }
    #expect(fresh == stored, "\(name) differs; GoldenTests says how to update it")
  }

  /// Every folder entry is one of the files that are compared.
  @Test func noFileIsForgotten() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    let known = (Self.files + ["easemob-priorities"]).map { "\($0).golden" }
    #expect(Set(names) == Set(known))
  }

  /// The file again, with what is rendered now.
  static func rendered(_ stored: String) throws -> String {
    var text = ""
    var world = ContentWorld()
    func finish() throws {
      guard !world.messages.isEmpty else { return }
      let shown = try world.shown()
      for one in shown {
        let sources = "\(one.push.content.titleSource) \(one.push.content.bodySource)"
        text += "= \(one.push.recipient) \(one.action.name) \(sources)\n"
        for note in one.push.content.notes { text += "  note: \(note)\n" }
        if one.push.isShortened { text += "  shortened: \(one.push.payload.count) bytes\n" }
        if let problem = one.push.problem { text += "  problem: \(problem)\n" }
        text += "  \(one.push.text)\n"
      }
      if shown.isEmpty { text += "= nobody\n" }
      text += "\n"
    }
    for line in stored.split(separator: "\n") {
      if line.hasPrefix("#") {
        try finish()
        world = ContentWorld()
        text += line + "\n"
      } else if let (kind, record) = input(line) {
        switch kind {
        case "settings": world.settings.append(record)
        case "template": world.templates.append(record)
        default: world.messages.append(record)
        }
        text += line + "\n"
      }
    }
    try finish()
    return text
  }

  private static func input(_ line: Substring) -> (kind: Substring, record: String)? {
    for kind in ["settings", "template", "message"] where line.hasPrefix(kind + " ") {
      return (line.prefix(kind.count), String(line.dropFirst(kind.count + 1)))
    }
    return nil
  }
}
