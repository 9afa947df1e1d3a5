import Foundation
import PushFiles
import PushModel
import TestSupport
import Testing

/// A folder of files for one test.
struct TestFolder {
  let url: URL

  var path: String { url.path }

  func path(_ name: String) -> String { url.appending(path: name).path }

  @discardableResult func write(_ bytes: some Sequence<UInt8>, as name: String) throws -> String {
    try Data(bytes).write(to: url.appending(path: name))
    return path(name)
  }

  @discardableResult func write(_ lines: [String], as name: String) throws -> String {
    try write(lines.joined(separator: "\n").utf8, as: name)
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
  }

  /// The names of the files in the folder, sorted.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  /// A text without the folder's path, the folder itself as `FOLDER`.
  func short(_ text: some CustomStringConvertible) -> String {
    text.description.replacing(url.path + "/", with: "").replacing(url.path, with: "FOLDER")
  }

  /// What stops one file of settings from being loaded, without the file's name:
  /// `LINE: what is wrong`.
  func problem(_ lines: [String]) throws -> String {
    let path = try write(lines, as: "world.ndjson")
    return problem(SettingsPaths(settings: [path])).replacing("world.ndjson:", with: "")
  }

  /// Reads messages until the end: the id of each, or what is wrong with it.
  func messages(_ name: String, rules: RuleSet = .easemob) -> [String] {
    results(name, rules: rules) { $0.id.text }
  }

  /// Reads messages until the end: what `show` says of each, or what is wrong with it.
  func results(
    _ name: String, rules: RuleSet, _ show: (Message) -> String
  ) -> [String] {
    var found: [String] = []
    do throws(FileProblem) {
      let reader = try MessageReader(path: path(name), rules: rules)
      while true {
        do throws(FileProblem) {
          guard let message = try reader.next() else { return found }
          found.append(show(message))
        } catch {
          found.append(short(error))
          if !error.isOfOneLine { return found }
        }
      }
    } catch {
      return found + [short(error)]
    }
  }
}

/// Gives a test a folder and removes it afterwards.
func withFolder<Result>(_ body: (TestFolder) throws -> Result) throws -> Result {
  try ScratchFolder.with { try body(TestFolder(url: $0)) }
}

/// Everything in a world, to be compared.
struct World: Equatable {
  struct User: Equatable {
    let id: Identifier
    let settings: UserSettings
  }

  struct Conversation: Equatable {
    let id: Identifier
    let settings: ConversationSettings?
    let members: [Identifier: MemberSettings]
  }

  let app: AppSettings
  /// In the order of first appearance, as the two below.
  let users: [User]
  let conversations: [Conversation]

  init(_ world: FanoutSettings) {
    app = world.app
    users = (0..<UInt32(world.userCount)).map { UserIndex($0) }.map {
      User(id: world.id(of: $0), settings: world.user($0))
    }
    conversations = world.conversationIDs.map { id in
      Conversation(
        id: id, settings: world.conversation(id),
        members: Dictionary(
          uniqueKeysWithValues: world.members(of: id).map {
            (world.id(of: $0), world.member($0, of: id)!)
          }))
    }
  }

  /// The same, but for the order in which things first appeared.
  var sorted: World { World(self) }

  private init(_ other: World) {
    app = other.app
    users = other.users.sorted { $0.id.text < $1.id.text }
    conversations = other.conversations.sorted { $0.id.text < $1.id.text }
  }
}
