public import PushModel

/// A request to a provider: a push on its way to one device (S-10).
///
/// It has no credentials: whoever sends adds its own. Nor has it a description: tokens and texts
/// are to be in no log.
public struct PushRequest: Sendable {
  /// Why a request cannot be sent, or is not that of the message's content. The raw value is its
  /// name in files.
  public enum Problem: String, CaseIterable, Sendable {
    /// No sender is for the device; there is nothing to send.
    case noSender
    /// The device's token is none of Apple's; there is nothing to send.
    case badToken
    /// The vendor's plainest words stand in place of what has too many bytes.
    case payloadTooLarge
  }

  let plan: RequestPlan
  let target: PushTarget
  let item: RequestRenderer.Item
  let route: RequestRoute?
  /// The words of its sender's requests.
  let words: [RenderedContent]
  /// Those of the address and of the body.
  let bytes: ArraySlice<UInt8>

  /// The message's id.
  public var message: Identifier { plan.message.id }
  /// The id of the recipient.
  public var user: Identifier { target.user }
  /// The id of the recipient's device.
  public var device: Identifier { target.device }
  /// The provider; nil where there is no sender and the device does not say.
  public var platform: PushPlatform? { route?.sender.platform ?? item.platform }
  /// Why it cannot be sent as it should be; nil when it can.
  public var problem: Problem? { item.problem }
  /// Whether the body names the recipient, so that it is nobody else's.
  package var isPersonal: Bool { item.isPersonal }

  private var address: ArraySlice<UInt8> { bytes.prefix(Int(item.addressCount)) }
  /// The body but for an address of Firebase's.
  package var bodyBytes: ArraySlice<UInt8> { bytes.dropFirst(Int(item.addressCount)) }

  /// The name of the push certificate that the sender is for.
  public var sender: Identifier? { route?.sender.notifier }

  /// Where it goes; nil where there is nothing to send. Without a token of Apple's that the device
  /// says, it ends in `/`, and whoever sends adds it (S-11).
  public var url: String? {
    sendable.map { $0.url + ($0.isAPNs ? String(decoding: address, as: UTF8.self) : "") }
  }

  /// The headers, in their order; none where there is nothing to send.
  public var headers: [(name: String, value: String)] {
    guard let route = sendable else { return [] }
    let own = apnsID.map { [(name: "apns-id", value: String(decoding: $0, as: UTF8.self))] } ?? []
    return route.headers + own
  }

  /// The body, a JSON object in UTF-8; nil where there is nothing to send. Without an address of
  /// Firebase's that the device says, whoever sends adds it (S-11).
  public var body: [UInt8]? {
    guard sendable != nil else { return nil }
    var bytes: [UInt8] = []
    appendBody(to: &bytes)
    return bytes
  }

  /// Until when it is worth sending; nil where it is tried once, or there is nothing to send
  /// (S-72).
  public var expiry: Instant? { sendable?.expiry }

  /// The words, before the body was shortened; nil where there is nothing to send.
  public var content: RenderedContent? { sendable.map { _ in words[Int(item.words)] } }

  private var sendable: RequestRoute? {
    problem == nil || problem == .payloadTooLarge ? route : nil
  }

  /// S-24.
  private var apnsID: [UInt8]? {
    guard let route, route.sender.ids else { return nil }
    var name: [UInt8] = []
    for (index, id) in [message, user, device].enumerated() {
      if index > 0 { name.append(0) }
      name.append(contentsOf: id.text.utf8)
    }
    return Digest.uuid(name)
  }

  private func appendBody(to bytes: inout [UInt8]) {
    guard route?.isAPNs == false else { return bytes.append(contentsOf: bodyBytes) }
    bytes.append(contentsOf: "{\"message\":".utf8)
    if item.address != .none {
      bytes.append(UInt8(ascii: "{"))
      appendAddress(to: &bytes)
      bytes.append(UInt8(ascii: ","))
      bytes.append(contentsOf: bodyBytes.dropFirst())
    } else {
      bytes.append(contentsOf: bodyBytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// A member with the address of Firebase's (S-40).
  private func appendAddress(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: item.address == .fid ? "\"fid\":\"".utf8 : "\"token\":\"".utf8)
    unsafe address.withUnsafeBytes { unsafe bytes.appendJSONCharacters($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  // MARK: As a line

  /// Appends what a line has behind the user (S-10).
  ///
  /// - Parameter bodyID: the number of the body, which stands before; nil to write the body (S-12).
  package func appendLine(bodyID: Int?, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: ",\"device\":".utf8)
    bytes.appendJSON(device.text)
    if let route = sendable {
      bytes.append(contentsOf: route.lineStart)
      if route.isAPNs { bytes.append(contentsOf: address) }
      bytes.append(contentsOf: route.lineEnd)
      if let id = apnsID {
        bytes.append(contentsOf: ",\"apns-id\":\"".utf8)
        bytes.append(contentsOf: id)
        bytes.append(UInt8(ascii: "\""))
      }
      bytes.append(UInt8(ascii: "}"))
      if let bodyID {
        if !route.isAPNs, item.address != .none {
          bytes.append(UInt8(ascii: ","))
          appendAddress(to: &bytes)
        }
        bytes.append(contentsOf: ",\"bodyId\":\(bodyID)".utf8)
      } else {
        bytes.append(contentsOf: ",\"body\":".utf8)
        appendBody(to: &bytes)
      }
    } else if let route {
      bytes.append(contentsOf: route.names)
    } else if let platform {
      bytes.append(contentsOf: ",\"platform\":\"\(platform)\"".utf8)
    }
    if let problem { bytes.append(contentsOf: ",\"problem\":\"\(problem)\"".utf8) }
    bytes.append(contentsOf: "}\n".utf8)
  }

  /// Appends the line of a body that several requests have (S-12).
  package func appendBodyLine(_ bodyID: Int, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "{\"bodyId\":\(bodyID),\"body\":".utf8)
    if route?.isAPNs == false { bytes.append(contentsOf: "{\"message\":".utf8) }
    bytes.append(contentsOf: bodyBytes)
    bytes.append(contentsOf: route?.isAPNs == false ? "}}\n".utf8 : "}\n".utf8)
  }

  /// Whether there is something to send.
  package var hasBody: Bool { sendable != nil }
}

/// What the requests of one message share that have the same sender.
final class RequestRoute: Sendable {
  let sender: PushSender
  let isAPNs: Bool
  let expiry: Instant?
  let url: String
  let headers: [(name: String, value: String)]
  /// Platform and sender in a line, these with the url up to the token, and what follows up to the
  /// last header that all have.
  let names, lineStart, lineEnd: [UInt8]

  init(_ sender: PushSender, _ layout: PayloadLayout) {
    self.sender = sender
    isAPNs = sender.platform == .apns
    expiry = layout.expiry
    switch sender.platform {
    case .apns:
      let host = sender.environment == .sandbox ? "api.sandbox" : "api"
      url = "https://\(host).push.apple.com/3/device/"
      let isSlow = layout.isBackground || sender.priority == .normal
      var headers = [
        (name: "apns-topic", value: sender.topic ?? ""),
        (name: "apns-push-type", value: layout.isBackground ? "background" : "alert"),
        (name: "apns-priority", value: isSlow ? "5" : "10"),
        (name: "apns-expiration", value: "\(layout.apnsExpiration)"),
      ]
      if let id = layout.collapseID { headers.append((name: "apns-collapse-id", value: id)) }
      self.headers = headers
    case .fcm:
      url = "https://fcm.googleapis.com/v1/projects/\(sender.project ?? "")/messages:send"
      headers = [(name: "content-type", value: "application/json")]
    }
    var line = Array(",\"platform\":\"\(sender.platform)\"".utf8)
    if let notifier = sender.notifier {
      line += ",\"sender\":".utf8
      line.appendJSON(notifier.text)
    }
    names = line
    lineStart = line + ",\"url\":\"\(url)".utf8
    var json = JSONWriter.object()
    for (name, value) in headers { json.add(name, value) }
    lineEnd = "\",\"headers\":".utf8 + json.bytes
  }
}

/// The requests of one message, in the order of the users and of their devices, put together as
/// they are asked for: who sends slowly has few of them in memory.
///
///     for request in service.requests(of: message, content, by: senders) { try await send(request) }
///
/// - Memory: as of ``RenderedStream``.
public struct RequestStream: Sequence, IteratorProtocol {
  private let plan: RequestPlan?
  private var pieces: PieceStream<RequestRenderer>

  init(_ plan: RequestPlan?, _ targets: [PushTarget], threads: Int?) {
    self.plan = plan
    pieces = PieceStream(targets, threads: threads) {
      guard let plan else { preconditionFailure("targets without a message") }
      return RequestRenderer(plan)
    }
  }

  public mutating func next() -> PushRequest? {
    guard let plan else { return nil }
    while let (target, index) = pieces.next() {
      let item = pieces.current.items[index]
      if item.isLeftOut { continue }
      return PushRequest(
        plan: plan, target: target, item: item,
        route: item.sender.flatMap { plan.parts[$0]?.route },
        words: item.sender.map { pieces.current.words[$0] } ?? [],
        bytes: pieces.current.bytes(of: index))
    }
    return nil
  }
}
