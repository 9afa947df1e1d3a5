public import PushContent
public import PushFanout
public import PushFiles
public import PushModel
internal import PushSupport
internal import Synchronization

/// An engine together with what renders its pushes and where changes of its settings go: for
/// dispatch services, and for programs in other languages, which hold one value. It decides,
/// explains, renders and changes, in values here and in bytes in
/// ``decide(ndjson:as:showsDevices:on:)`` and its neighbours.
///
/// What needs no content and no change is asked of the ``engine`` itself. A program that writes
/// single operations, as the command and the server do, calls the store.
///
/// It is opened from files, from an engine, or on a ``SettingsBackend`` such as a store. One value
/// serves all threads. It opens no file but those it is given the names of, and reads no clock.
public final class FanoutService: Sendable {
  /// What it decides by, and where changes go.
  public let backend: any SettingsBackend
  private let templates: TemplateCatalog
  private let contentState: Lock<ContentState>
  /// The backend's renderer, if it has one that follows; then `contentState` is not used.
  private let live: LiveRenderer?

  /// How pushes look, and what renders them.
  private struct ContentState {
    var directory: ContentDirectory
    var renderer: ContentRenderer

    init(_ rules: RuleSet, _ templates: TemplateCatalog, _ directory: ContentDirectory) {
      self.directory = directory
      renderer = ContentRenderer(rules: rules, templates: templates, directory: directory)
    }
  }

  // MARK: Opening

  /// Decides by a backend.
  ///
  /// - Parameters:
  ///   - backend: has the settings, and takes changes of them.
  ///   - templates: those of the app, for the content of pushes; without any, those of the backend.
  /// - Throws: what the backend throws when it cannot read display settings.
  public init(
    _ backend: any SettingsBackend, templates: TemplateCatalog = TemplateCatalog()
  ) throws {
    self.backend = backend
    self.templates = templates
    live = try backend.liveRenderer()
    contentState = Lock(
      ContentState(
        backend.engine.app.rules, templates,
        live == nil ? try backend.content() : ContentDirectory()))
  }

  /// Decides by an existing engine; changes are not stored anywhere else.
  public init(
    _ engine: Fanout, content: ContentDirectory = ContentDirectory(),
    templates: TemplateCatalog = TemplateCatalog()
  ) {
    backend = EngineBackend(engine, content: content)
    self.templates = templates
    live = nil
    contentState = Lock(ContentState(engine.app.rules, templates, content))
  }

  /// Decides by the settings of files, or of bytes instead of files (`SettingsPaths.contents`).
  ///
  /// - Parameters:
  ///   - paths: the files, read as one.
  ///   - templates: those of the app, for the content of pushes.
  ///   - threads: how many threads one call may use; nil for the cores that the process may use.
  ///   - progress: called now and then with the share of the bytes that has been read, 0...1.
  /// - Throws: `FileProblem`, or a `FanoutError` when there is more of something than the engine
  ///   can hold.
  /// - Complexity: O(bytes).
  public convenience init(
    _ paths: SettingsPaths, templates: TemplateCatalog = TemplateCatalog(), threads: Int? = nil,
    progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    try self.init(
      paths, templates: templates, threads: threads,
      LoadOptions(readsContent: true, progress: progress))
  }

  /// The same, with what is asked meanwhile whether it goes on.
  ///
  /// - Parameter watch: called on this thread with the number of records so far; what it throws
  ///   ends the load.
  package convenience init(
    _ paths: SettingsPaths, threads: Int?, watch: @escaping (_ records: Int) throws -> Void
  ) throws {
    var options = LoadOptions(readsContent: true)
    options.watch = watch
    try self.init(paths, templates: TemplateCatalog(), threads: threads, options)
  }

  private convenience init(
    _ paths: SettingsPaths, templates: TemplateCatalog, threads: Int?, _ options: LoadOptions
  ) throws {
    var builder = FanoutBuilder(threads: threads, unknownZones: paths.unknownZones)
    let files = try SettingsLoader.load(paths, into: &builder, options)
    try options.watch?(files.recordCount)
    self.init(
      try builder.build(threads: threads), content: files.content, templates: templates)
  }

  /// Decides by the bytes of a settings.ndjson.
  ///
  /// - Parameters:
  ///   - settings: the bytes of a settings.ndjson.
  ///   - templates: the bytes of a templates.ndjson.
  ///   - threads: how many threads one call may use; nil for the cores that the process may use.
  /// - Throws: as ``init(_:templates:threads:progress:)``.
  public convenience init(
    ndjson settings: [UInt8], templates: [UInt8]? = nil, threads: Int? = nil
  ) throws {
    try self.init(
      SettingsPaths(settings),
      templates: try templates.map { (bytes) throws(FileProblem) in try TemplateReader.load(bytes) }
        ?? TemplateCatalog(),
      threads: threads)
  }

  /// The engine that decides.
  public var engine: Fanout { backend.engine }

  /// The app's settings.
  public var app: AppSettings { engine.app }

  /// How people and conversations are displayed.
  ///
  /// - Throws: what the backend throws when it cannot read that.
  public var content: ContentDirectory {
    get throws {
      live == nil ? contentState.withLock { $0.directory } : try backend.content()
    }
  }

  /// Renders the content of pushes, by the current settings.
  public var renderer: ContentRenderer {
    live.map { withTemplates($0.renderer) } ?? contentState.withLock { $0.renderer }
  }

  /// The same with the templates that the service was given, if it was given any.
  private func withTemplates(_ renderer: ContentRenderer) -> ContentRenderer {
    templates.count == 0 ? renderer : renderer.replacingTemplates(templates)
  }

  /// The engine's current version, and the renderer of it.
  ///
  /// - Parameter templates: take the place of those that the service has, if there are any.
  func pinned(
    _ templates: TemplateCatalog = TemplateCatalog()
  ) -> (version: FanoutVersion, renderer: ContentRenderer) {
    guard templates.count == 0 else {
      let (version, renderer) = pinned()
      return (version, renderer.replacingTemplates(templates))
    }
    guard let live else { return (engine.currentVersion, renderer) }
    let (version, renderer) = live.pin(
      { engine.currentVersion }, number: { $0.settingsVersion })
    return (version, withTemplates(renderer))
  }

  // MARK: Deciding

  /// Decides a message.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - content: the message's own fields for its push.
  /// - Complexity: as for `Fanout.decide`.
  public func decide(
    _ message: Message, _ content: MessageContent = MessageContent()
  ) -> MessageDecision {
    let (version, renderer) = pinned()
    var result = FanoutResult()
    engine.decide(message, on: version, into: &result)
    return MessageDecision(message, content, result, renderer)
  }

  /// Decides messages on one version of the settings, on several threads.
  ///
  /// - Returns: a decision for each message, in their order.
  public func decide(
    _ messages: [(message: Message, content: MessageContent)]
  ) -> [MessageDecision] {
    guard !messages.isEmpty else { return [] }
    let (version, renderer) = pinned()
    let results = engine.decide(messages.map(\.message), on: version)
    return zip(messages, results).map {
      MessageDecision($0.message, $0.content, $1, renderer)
    }
  }

  // MARK: Explaining

  /// Each rule that was evaluated for a message and a user, in order, and which one decided.
  ///
  /// - Complexity: O(log members + devices).
  public func explain(_ message: Message, for user: Identifier) -> Explanation {
    explain(message, for: user, by: engine.currentVersion)
  }

  /// The same, with what the backend knows of when settings were changed.
  func explain(
    _ message: Message, for user: Identifier, by version: FanoutVersion
  ) -> Explanation {
    var explanation = version.explain(message, for: user)
    explanation.conversationName = renderer.name(of: message.conversation)
    do {
      explanation.settings = try backend.changes(
        after: message.at, of: user, in: version.chain(of: message.conversation))
    } catch {
      explanation.settings =
        "as of now; what was changed after the message cannot be read: \(error)"
    }
    return explanation
  }

  // MARK: Members

  /// Who a conversation's messages may go to, by rank: the order of ``MessageDecision/codes``.
  ///
  /// Codes belong to these members if their ``MessageDecision/epoch`` and
  /// ``MessageDecision/membershipVersion`` are equal; otherwise call it again.
  ///
  /// - Complexity: O(members).
  public func members(of conversation: Identifier) -> ConversationMembers {
    let result = engine.decide(Message(id: "", conversation: conversation, at: .zero))
    return ConversationMembers(
      version: result.version, epoch: result.epoch, membershipVersion: result.membershipVersion,
      ids: (0..<result.memberCount).map { result.id(of: result.member(at: $0)) })
  }

  // MARK: Changing

  /// Makes changes, all or none; decisions that begin when it has returned are by them.
  ///
  /// What records say of each other is judged of these and of the settings together: that a
  /// thread's parent is a group, say, or that who has settings in a thread is a member of its
  /// parent.
  ///
  /// - Parameters:
  ///   - batch: the changes.
  ///   - now: when the change is made.
  ///   - device: the user's device that makes it, which need not be notified.
  /// - Throws: ``ServiceError/contradiction(_:)`` or ``ServiceError/rulesDiffer(engine:batch:)``,
  ///   and what the engine throws; a store throws its own errors for the same.
  public func change(
    _ batch: SettingsBatch, at now: Instant, from device: Identifier? = nil
  ) throws {
    try backend.apply(batch, at: now, from: device)
    follow(batch)
  }

  /// The same, without blocking a thread.
  public func change(
    _ batch: SettingsBatch, at now: Instant, from device: Identifier? = nil
  ) async throws {
    try await backend.apply(batch, at: now, from: device)
    follow(batch)
  }

  /// Takes over from a batch that was applied how pushes look.
  private func follow(_ batch: SettingsBatch) {
    guard live == nil, batch.content != nil || batch.replacesApp else { return }
    let rules = app.rules
    contentState.withLock { contentState in
      var directory = contentState.directory
      if let content = batch.content { directory.replace(by: content, for: batch.settings) }
      contentState = ContentState(rules, templates, directory)
    }
  }
}

/// Who a conversation's messages may go to.
public struct ConversationMembers: Hashable, Sendable {
  /// The version of the settings.
  public let version: UInt64
  /// `Fanout.epoch`: versions of different epochs do not compare.
  public let epoch: UInt64
  /// `FanoutResult.membershipVersion`: equal ones of an epoch mean equal ranks.
  public let membershipVersion: UInt64
  /// The ids by rank.
  public let ids: [Identifier]
}
