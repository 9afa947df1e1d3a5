internal import PushContent
internal import PushModel
internal import PushSupport
internal import Synchronization

/// Has a store's renderer follow its commits, once there is one.
final class ContentFollower: Sendable {
  private let made = Lock<LiveRenderer?>(nil)

  var renderer: LiveRenderer? {
    get { made.withLock { $0 } }
    set { made.withLock { $0 = newValue } }
  }

  /// What a commit makes of the renderer, before it is committed: reading may fail, and publishing
  /// may not.
  ///
  /// - Parameter queries: read what the commit will have, for changes that are not known one by one.
  /// - Returns: nil where nothing is to be published.
  func next(
    _ steps: [StoreWrite.Step], _ queries: SettingsQueries
  ) throws -> ContentRenderer? {
    guard let renderer, !steps.isEmpty else { return nil }
    if steps.contains(where: { $0.isReadAgain }) {
      let (directory, templates) = (try queries.contentDirectory(), try queries.templates())
      return renderer.next(rules: try queries.rules()) {
        $0 = directory
        $1 = templates
      }
    }
    return renderer.next(rules: nil) { directory, templates in
      for step in steps { step.apply(to: &directory, &templates) }
    }
  }
}

extension StoreWrite.Step {
  /// Whether the rules may be others, or which fields of records were written is not known.
  fileprivate var isReadAgain: Bool {
    switch self {
    case .imported(let imported): imported.isPartial || imported.replacesApp
    case .record(.app): true
    default: false
    }
  }

  fileprivate func apply(
    to directory: inout ContentDirectory, _ templates: inout TemplateCatalog
  ) {
    switch self {
    case .display(let user, let display): directory.setUser(user, display)
    case .template(let name, let template): templates.set(name, template)
    case .record(.conversation(let id, let record)): directory.setConversation(id, record)
    case .record(.user(let id, let record)): directory.setDevices(record.devices ?? [], of: id)
    case .memberRemoved(let user, let conversation):
      directory.setNickname(nil, of: user, in: conversation)
    case .userRemoved(let id): directory.removeUser(id)
    case .conversationRemoved(let id): directory.removeConversation(id)
    case .renamed(.user(let id), _): directory.removeRemarks(for: id)
    case .imported(let imported):
      if let content = imported.content {
        directory.replace(by: content, for: imported.settings)
      } else {
        for number in 0..<UInt32(imported.settings.userCount)
        where imported.settings.isDeclared(UserIndex(number)) {
          directory.setDevices(
            imported.settings.user(UserIndex(number)).devices ?? [],
            of: imported.settings.id(of: UserIndex(number)))
        }
        for id in imported.settings.conversationIDs where imported.settings.isDeclared(id) {
          if let record = imported.settings.conversation(id) {
            directory.setConversation(id, record)
          }
        }
      }
    case .record, .renamed, .advancedSettingsDeleted: break
    }
  }
}
