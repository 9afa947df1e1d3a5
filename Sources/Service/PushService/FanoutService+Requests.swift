public import PushContent
internal import PushFanout
public import PushFiles
public import PushModel

extension FanoutService {
  /// The requests of a message, by the settings that it is decided by, in the order of users and of
  /// their devices (S-8), put together as they are asked for.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - content: the message's own fields for its push.
  ///   - senders: how requests are made.
  ///   - platforms: those of which there are requests.
  ///   - templates: those of the app; without any, those that the service has.
  ///   - user: only for this user; nil for all.
  ///   - threads: how many threads may render; nil for as many as the system gives.
  /// - Precondition: rules that say what a push contains (``checkPushContent()``).
  /// - Complexity: O(members + requests).
  public func requests(
    of message: Message, _ content: MessageContent, by senders: [PushSender],
    for platforms: Set<PushPlatform> = Set(PushPlatform.allCases),
    templates: TemplateCatalog = TemplateCatalog(), onlyFor user: Identifier? = nil,
    threads: Int? = nil
  ) -> RequestStream {
    let (version, renderer) = pinned(templates)
    let mentions = version.mentions(of: message)
    var targets: [PushTarget] = []
    func add(_ id: Identifier, _ index: UInt32?, _ outcome: Outcome, _ device: Identifier) {
      targets.append(
        PushTarget(
          user: id, device: device, isForced: outcome.reason == .forced,
          isMentioned: mentions.everyone
            || !mentions.users.isEmpty && index.map(mentions.users.contains) ?? false))
    }
    if let user {
      guard let decision = version.decision(message, for: user), decision.outcome.action == .push
      else { return renderer.requests(of: message, content, to: [], by: [], for: [], in: app) }
      for device in decision.devices {
        add(user, version.index(of: user), decision.outcome, device)
      }
    } else {
      var result = FanoutResult()
      engine.decide(message, on: version, into: &result)
      let devices = result.targetReader
      unsafe result.forEachRecipient(in: 0..<result.memberCount, withDevices: true) {
        (index, id, code) -> Void in
        guard let outcome = Outcome(code: code), outcome.action == .push else { return }
        let id = unsafe Identifier(utf8: id)
        unsafe devices.forEachID(of: index, code: code) {
          add(id, index, outcome, unsafe Identifier(utf8: $0))
        }
      }
    }
    return renderer.requests(
      of: message, content, to: targets, by: senders, for: platforms, in: app, threads: threads)
  }

  /// Decides the messages of a messages.ndjson and makes the requests of their pushes.
  ///
  /// - Returns: what `render --platform` writes (S-10).
  /// - Throws: `FileProblem` for the first line that is not understood,
  ///   ``ServiceError/noPushContent(_:)``.
  public func requests(
    ndjson messages: [UInt8], by senders: [PushSender],
    for platforms: Set<PushPlatform> = Set(PushPlatform.allCases), sharesBodies: Bool = false
  ) throws -> [UInt8] {
    var lines = try RequestLines(self, by: senders, for: platforms, sharesBodies: sharesBodies)
    let reader = try MessageReader(messages, rules: app.rules)
    while let (message, content) = try reader.nextWithContent() {
      lines.begin(message, content)
      _ = try lines.write()
    }
    return lines.take()
  }
}

/// The lines of requests (S-10), put together as they are asked for: who takes them slowly has few
/// of them in memory.
public struct RequestLines {
  private let service: FanoutService
  private let senders: [PushSender]
  private let platforms: Set<PushPlatform>
  private let templates: TemplateCatalog
  private let output = OutputBytes()
  private let writer: RequestWriter
  /// The requests of the message that are not written yet; nil for none.
  private var waiting: RequestStream?

  /// - Parameters:
  ///   - service: decides and renders, on as many threads as its engine has.
  ///   - senders: how requests are made.
  ///   - platforms: those of which there are requests.
  ///   - sharesBodies: whether equal bodies of a message are written once (S-12).
  ///   - templates: those of the app; without any, those that the service has.
  /// - Throws: ``ServiceError/noPushContent(_:)``.
  public init(
    _ service: FanoutService, by senders: [PushSender],
    for platforms: Set<PushPlatform> = Set(PushPlatform.allCases), sharesBodies: Bool = false,
    templates: TemplateCatalog = TemplateCatalog()
  ) throws(ServiceError) {
    try service.checkPushContent()
    self.service = service
    (self.senders, self.platforms, self.templates) = (senders, platforms, templates)
    writer = RequestWriter(output, sharesBodies: sharesBodies)
  }

  /// How many bytes are there to be taken.
  public var byteCount: Int { output.bytes.count }

  /// Decides a message, whose lines follow those of the one before.
  public mutating func begin(_ message: Message, _ content: MessageContent) {
    writer.begin(message)
    waiting = service.requests(
      of: message, content, by: senders, for: platforms, templates: templates,
      threads: service.engine.threads)
  }

  /// Writes lines of the message until there are about so many bytes.
  ///
  /// - Returns: whether all of them are written.
  public mutating func write(upTo limit: Int = .max) throws(OutputProblem) -> Bool {
    while byteCount < limit {
      guard let request = waiting?.next() else {
        waiting = nil
        return true
      }
      try writer.write(request)
    }
    return waiting == nil
  }

  /// Takes the lines that were written.
  public func take() -> [UInt8] { output.take() }
}
