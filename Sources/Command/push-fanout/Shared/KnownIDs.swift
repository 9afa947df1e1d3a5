import PushFanout
import PushFiles
import PushModel
import PushService
import PushStore
import PushSupport
import Synchronization

/// The ids of the world that is read, in which those are looked for that were most likely meant by
/// ids that it does not have. They are gone through only then.
enum KnownIDs {
  private enum World {
    case none
    case engine(Fanout)
    case values(FanoutSettings)
    case store(String)
  }

  private static let world = Mutex(World.none)

  /// From now on the ids are those of an engine.
  static func use(_ fanout: Fanout) { world.withLock { $0 = .engine(fanout) } }

  /// From now on the ids are those of values.
  static func use(_ settings: FanoutSettings) { world.withLock { $0 = .values(settings) } }

  /// From now on the ids are those of a store, which is opened again for them.
  static func use(store: String) { world.withLock { $0 = .store(store) } }

  /// What was most likely meant, as the end of a message about an id that there is not; nothing if no
  /// id is near.
  ///
  /// - Complexity: O(users) or O(conversations).
  static func advice(user: String? = nil, conversation: String? = nil) -> String {
    guard let id = user ?? conversation else { return "" }
    var search = EditDistance.Search(id, keepsDigits: true)
    let consider = { search.consider($0) }
    switch world.withLock({ $0 }) {
    case .none: break
    case .engine(let fanout):
      return fanout.currentVersion.advice(
        user: user.map { Identifier($0) }, conversation: conversation.map { Identifier($0) })
    case .values(let settings):
      if user == nil {
        for id in settings.conversationIDs { consider(id.text) }
      } else {
        for index in 0..<settings.userCount {
          consider(settings.id(of: UserIndex(UInt32(index))).text)
        }
      }
    case .store(let path):
      // What cannot be read gives no advice; the error is about something else.
      guard let reader = try? StoreReader(path) else { break }
      try? reader.forEachID(ofUsers: user != nil) { consider($0.text) }
      try? reader.close()
    }
    return search.nearest.map { "; did you mean \"\($0)\"?" } ?? ""
  }

  /// An error, with what was most likely meant if it is about an id that there is not.
  static func text(_ error: any Error) -> String {
    let (user, conversation): (String?, String?) =
      switch error {
      case FanoutError.unknownUser(let id), StoreError.unknownUser(let id): (id.text, nil)
      case FanoutError.unknownConversation(let id), StoreError.unknownConversation(let id):
        (nil, id.text)
      case let problem as FileProblem:
        if case .unknownConversation(let id) = problem.problem { (nil, id) } else { (nil, nil) }
      default: (nil, nil)
      }
    return "\(error)" + advice(user: user, conversation: conversation)
  }
}
