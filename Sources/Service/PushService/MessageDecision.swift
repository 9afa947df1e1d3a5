public import PushContent
public import PushFanout
public import PushModel
internal import PushSupport
internal import Synchronization

/// The decisions for a message, and the content of its pushes: everything from one version of the
/// settings, however they change meanwhile.
public struct MessageDecision: Sendable {
  /// The message that was decided.
  public let message: Message
  /// The message's own fields for its push.
  public let content: MessageContent
  /// The engine's decisions for all members, by rank.
  public let result: FanoutResult
  private let payloads: Payloads

  init(
    _ message: Message, _ content: MessageContent, _ result: FanoutResult,
    _ renderer: ContentRenderer
  ) {
    self.message = message
    self.content = content
    self.result = result
    payloads = Payloads(renderer, message, content)
  }

  /// The version of the settings it was decided on.
  public var version: UInt64 { result.version }

  /// `Fanout.epoch`: versions of different epochs do not compare.
  public var epoch: UInt64 { result.epoch }

  /// `FanoutResult.membershipVersion`: equal ones of an epoch mean equal ranks.
  public var membershipVersion: UInt64 { result.membershipVersion }

  /// How often each outcome occurs.
  ///
  /// - Complexity: as for `FanoutResult.counts`.
  public var counts: FanoutCounts { result.counts }

  /// The outcome's code of each member, by rank; 0 for one who is no recipient.
  ///
  /// - Complexity: O(members).
  public var codes: [UInt8] {
    var codes = [UInt8](repeating: 0, count: result.memberCount)
    var span = codes.mutableSpan
    result.writeCodes(into: &span)
    return codes
  }

  /// Who gets a push, in the order of users.
  public var pushes: PushRecipients { PushRecipients(decision: self) }

  fileprivate func recipient(
    _ user: UserIndex, _ id: Identifier, _ action: Action
  ) -> PushRecipient {
    PushRecipient(
      id: id, index: user, action: action, devices: result.targets(of: user, action),
      payloads: payloads)
  }

  /// Renders payloads when they are asked for; the words are put together once for all who see the
  /// same.
  fileprivate final class Payloads: Sendable {
    private let content: ContentRenderer
    private let message: Message
    private let messageContent: MessageContent
    private let renderers = Lock<(push: MessageRenderer?, local: MessageRenderer?)>((nil, nil))

    init(_ content: ContentRenderer, _ message: Message, _ messageContent: MessageContent) {
      self.content = content
      self.message = message
      self.messageContent = messageContent
    }

    func payload(for id: Identifier, _ action: Action) -> RenderedPush {
      renderers.withLock { renderers in
        if action == .local {
          var renderer =
            renderers.local.take() ?? content.renderer(of: message, messageContent, as: .local)
          defer { renderers.local = renderer }
          return renderer.render(id)
        }
        var renderer = renderers.push.take() ?? content.renderer(of: message, messageContent)
        defer { renderers.push = renderer }
        return renderer.render(id)
      }
    }
  }

  /// A recipient of a push or a local notification.
  public struct PushRecipient: Sendable {
    /// The user's id.
    public let id: Identifier
    /// The user's index in the version that the message was decided on.
    public let index: UserIndex
    /// Push or local.
    public let action: Action
    /// Where it goes, in the order in which the user's devices are listed.
    public let devices: [Device]
    fileprivate let payloads: Payloads

    /// The payload, as the bytes to send.
    ///
    /// - Complexity: O(bytes of the payload), when others before saw the same words.
    public func payload() -> RenderedPush { payloads.payload(for: id, action) }
  }

  /// Those who get a push for a message, in the order of users.
  public struct PushRecipients: Sequence, Sendable {
    fileprivate let decision: MessageDecision

    public func makeIterator() -> Iterator {
      Iterator(decision: decision, users: decision.result.pushes.ids.makeIterator())
    }

    /// Gives one recipient after the other.
    public struct Iterator: IteratorProtocol {
      fileprivate let decision: MessageDecision
      fileprivate var users: PushSet.IDs.Iterator

      /// - Complexity: O(devices).
      public mutating func next() -> PushRecipient? {
        users.nextWithUser().map { decision.recipient($0.user, $0.id, .push) }
      }
    }
  }
}
