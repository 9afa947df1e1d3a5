public import PushContent
public import PushFanout
public import PushModel

/// What a service decides by, and where changes of it go: only an engine (``EngineBackend``), or a
/// store that keeps the settings.
public protocol SettingsBackend: Sendable {
  /// Decides by all changes that were acknowledged.
  var engine: Fanout { get }

  /// Display settings of users.
  func content() throws -> ContentDirectory

  /// Renders by the settings that ``engine`` decides by, as they change; nil for a backend whose
  /// display settings change only by batches of the service. It has ``content()`` and templates of
  /// its own.
  func liveRenderer() throws -> LiveRenderer?

  /// Of when the settings of a user in a conversation and its parent are, and what was changed after
  /// an instant, in words; nil for a backend that does not know.
  func changes(
    after sent: Instant, of user: Identifier, in conversations: [Identifier]
  ) throws -> String?

  /// Makes the changes of a batch, all or none. When it returns, the engine decides by them, and a
  /// backend that keeps settings has them on the disk.
  ///
  /// A backend judges what records say of each other, of these and of its own together, and refuses
  /// those that do not go together.
  ///
  /// - Parameters:
  ///   - batch: the changes.
  ///   - now: when the change is made.
  ///   - device: the user's device that makes it, which need not be notified.
  func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) throws

  /// The same, without blocking a thread.
  func apply(_ batch: SettingsBatch, at now: Instant, from device: Identifier?) async throws
}

extension SettingsBackend {
  /// No renderer that follows.
  public func liveRenderer() throws -> LiveRenderer? { nil }

  /// Nothing is known.
  public func changes(
    after sent: Instant, of user: Identifier, in conversations: [Identifier]
  ) throws -> String? { nil }
}

/// Changes of settings that become visible together.
public struct SettingsBatch: Sendable {
  /// A membership.
  public struct Member: Hashable, Sendable {
    /// The member.
    public var user: Identifier
    /// The conversation that the user is a member of.
    public var conversation: Identifier

    /// A user in a conversation.
    public init(_ user: Identifier, of conversation: Identifier) {
      self.user = user
      self.conversation = conversation
    }
  }

  /// Records that replace those of the same key, whole, as in files; others stay. Its app counts
  /// only if ``replacesApp``.
  public var settings: FanoutSettings
  /// Whether the app's settings are replaced too.
  public var replacesApp: Bool
  /// How pushes look by these records; nil leaves it as it is.
  public var content: ContentDirectory?
  /// Memberships that end, after the records are in.
  public var removedMembers: [Member] = []

  /// - Parameters:
  ///   - settings: the records. The rules of its app must be those of the settings that are there,
  ///     unless there are none.
  ///   - replacesApp: whether the app's settings are replaced too.
  ///   - content: how pushes look by these records; nil leaves it as it is.
  public init(
    _ settings: FanoutSettings, replacesApp: Bool = false, content: ContentDirectory? = nil
  ) {
    self.settings = settings
    self.replacesApp = replacesApp
    self.content = content
  }
}

/// An entry of the change feed.
public struct ServiceEvent: Hashable, Sendable {
  /// 1, 2, 3 …, in the order of changes, without gaps.
  public let sequence: Int64
  /// When the change was made.
  public let at: Instant
  /// What was changed, like `user` or `memberRemoved`: a name of the store's feed.
  public let change: String
  /// The user whose settings changed; nil when the change is of no user.
  public let user: Identifier?
  /// The conversation; nil when the change is of none.
  public let conversation: Identifier?
  /// The channel of the conversation; nil when the change is of none.
  public let channel: Identifier?
  /// The device that made the change, which need not be notified.
  public let device: Identifier?
  /// What was set before, and what is set since, in words; nil for nothing, or where it is not known.
  public let old, new: String?
  /// The cursor of this entry, after which a reader continues.
  public let cursor: String

  /// An entry of a feed.
  public init(
    sequence: Int64, cursor: String, at: Instant, change: String, user: Identifier? = nil,
    conversation: Identifier? = nil, channel: Identifier? = nil, device: Identifier? = nil,
    old: String? = nil, new: String? = nil
  ) {
    self.sequence = sequence
    self.cursor = cursor
    self.at = at
    self.change = change
    self.user = user
    self.conversation = conversation
    self.channel = channel
    self.device = device
    (self.old, self.new) = (old, new)
  }
}

/// Why a service refused something. Nothing has then changed.
public enum ServiceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A batch of other rules than the settings that are there.
  case rulesDiffer(engine: RuleSet, batch: RuleSet)
  /// Records that do not go together, or not with those that are there: which, and why.
  case contradiction(String)
  /// A cursor that the feed does not have: it is of another feed, or of before a restart.
  case unknownCursor(String)
  /// A user that the settings do not have.
  case unknownUser(Identifier)
  /// A format that is a folder of files.
  case notInBytes(String)
  /// What a push contains, under rules that do not say it.
  case noPushContent(RuleSet)

  public var description: String {
    switch self {
    case .rulesDiffer(let engine, let batch):
      "the changes are by the rules \(batch.rawValue), the settings by \(engine.rawValue)"
    case .contradiction(let reason): "the records do not go with the settings: \(reason)"
    case .unknownCursor(let text):
      "the change feed has no entry \"\(text)\"; reload the settings and continue after its end"
    case .unknownUser(let id): "there is no user \"\(id)\""
    case .noPushContent(let rules):
      "the rules \(rules.rawValue) do not say what a push contains; rows say to whom it goes"
    case .notInBytes(let format): "the format \(format) is a folder of files; use another"
    }
  }
}
