package import PushModel

/// A device that a push was decided to go to.
package struct PushTarget: Sendable {
  let user: Identifier
  let device: Identifier
  let traits: RecipientTraits

  /// - Parameters:
  ///   - isForced: whether force brought the push about.
  ///   - isMentioned: whether the message is of a class of mentions for the user.
  package init(user: Identifier, device: Identifier, isForced: Bool, isMentioned: Bool) {
    (self.user, self.device) = (user, device)
    traits = (isForced ? RecipientTraits.forced : []).union(isMentioned ? .mentioned : [])
  }
}

extension ContentRenderer {
  /// The requests of a message's pushes, as they are asked for.
  ///
  /// - Parameters:
  ///   - targets: the devices that were decided, those of a user in a row.
  ///   - senders: how requests are made, of which a device has one (S-6).
  ///   - platforms: those of which there are requests (S-7).
  ///   - app: the settings that it was decided by.
  ///   - threads: how many threads may work; nil for as many as the system gives.
  package func requests(
    of message: Message, _ content: MessageContent, to targets: [PushTarget],
    by senders: [PushSender], for platforms: Set<PushPlatform>, in app: AppSettings,
    threads: Int? = nil
  ) -> RequestStream {
    if targets.isEmpty { return RequestStream(nil, [], threads: 1) }
    let plan = RequestPlan(self, message, content, senders, platforms, app)
    return RequestStream(plan, targets, threads: threads)
  }
}

/// What the requests of one message need to know of it, the same for all threads.
final class RequestPlan: Sendable {
  /// What a sender's requests share.
  final class Part: Sendable {
    let plan: RenderingPlan
    let route: RequestRoute

    init(_ plan: RenderingPlan, _ sender: PushSender) {
      self.plan = plan
      route = RequestRoute(sender, plan.layout)
    }
  }

  let message: Message
  let directory: ContentDirectory
  let platforms: Set<PushPlatform>
  /// Of each sender its part; nil for one of a platform that is left out.
  let parts: [Part?]
  private let names: [(platform: PushPlatform, notifier: Identifier?)]

  init(
    _ renderer: ContentRenderer, _ message: Message, _ content: MessageContent,
    _ senders: [PushSender], _ platforms: Set<PushPlatform>, _ app: AppSettings
  ) {
    self.message = message
    self.platforms = platforms
    directory = renderer.directory
    names = senders.map { ($0.platform, $0.notifier) }
    parts = senders.map { sender in
      guard platforms.contains(sender.platform) else { return nil }
      var sender = sender
      sender.ttl = sender.ttl ?? app.requestSeconds
      return Part(RenderingPlan(renderer, message, content, for: sender), sender)
    }
  }

  /// The sender of a device (S-6).
  func sender(_ platform: PushPlatform?, _ notifier: Identifier?) -> Int? {
    var usual: Int?
    for index in names.indices where platform == nil || names[index].platform == platform {
      if let name = names[index].notifier {
        if name == notifier { return index }
      } else if usual == nil {
        if notifier == nil { return index }
        usual = index
      }
    }
    return usual
  }
}

/// Renders the requests of one message, one device at a time.
struct RequestRenderer: PieceRenderer {
  /// Its bytes are those of an address that the device says, and those of the body.
  struct Item: PieceItem {
    enum Address { case none, token, fid }

    var end = 0
    var words: UInt32 = 0
    var address = Address.none
    var addressCount: UInt16 = 0
    /// What the device says.
    var platform: PushPlatform?
    var sender: Int?
    /// Whether it is of a platform that is left out.
    var isLeftOut = false
    /// Whether the body names its recipient.
    var isPersonal = false
    var problem: PushRequest.Problem?
  }

  private let plan: RequestPlan
  private var renderers: [MessageRenderer?]
  /// How much memory the words took that the renderers have put together.
  private var wordBytes = 0

  init(_ plan: RequestPlan) {
    self.plan = plan
    renderers = plan.parts.map { _ in nil }
  }

  mutating func piece(_ targets: ArraySlice<PushTarget>, byteLimit: Int) -> Piece<Item> {
    for sender in renderers.indices { renderers[sender]?.trim() }
    let before = wordBytes
    var piece = Piece<Item>()
    piece.items.reserveCapacity(targets.count)
    var ahead: [(item: Item, appearance: ContentDirectory.Appearance)] = []
    var addresses: [UInt8] = []
    var addressStart = 0
    // Summed, so that the reads are not left out.
    var known = 0
    defer { withExtendedLifetime(known) {} }
    for (index, target) in targets.enumerated() {
      // Reads in a row wait for memory at the same time.
      let place = index % MessageRenderer.lookAhead
      if place == 0 {
        ahead.removeAll(keepingCapacity: true)
        addresses.removeAll(keepingCapacity: true)
        addressStart = 0
        let next = targets.dropFirst(index).prefix(MessageRenderer.lookAhead)
        for target in next { known &+= plan.directory.deviceCount(of: target.user) }
        for target in next { ahead.append(item(target, to: &addresses)) }
      }
      var item = ahead[place].item
      let addressEnd = addressStart + Int(item.addressCount)
      piece.bytes.append(contentsOf: addresses[addressStart..<addressEnd])
      addressStart = addressEnd
      if let sender = item.sender, item.problem == nil, let part = plan.parts[sender] {
        wordBytes += Self.render(
          target, ahead[place].appearance, part, by: &renderers[sender], &item, to: &piece.bytes)
      }
      item.end = piece.bytes.count
      if piece.items.isEmpty {
        // Most bodies of a message are about as long as the first.
        let expected = piece.bytes.count * targets.count * 17 / 16
        piece.bytes.reserveCapacity(min(expected, byteLimit))
      }
      piece.items.append(item)
      piece.byteCount =
        piece.bytes.count + piece.items.count * MemoryLayout<Item>.stride + wordBytes - before
      if piece.byteCount > byteLimit { break }
    }
    piece.words = renderers.map { $0?.words ?? [] }
    return piece
  }

  /// A request without its body, its address behind `bytes`, and how the user's pushes look.
  private func item(
    _ target: PushTarget, to bytes: inout [UInt8]
  ) -> (item: Item, appearance: ContentDirectory.Appearance) {
    let known = plan.directory.withPerson(target.user) { person in
      guard let index = person.devices.firstIndex(where: { $0.id == target.device }) else {
        return (item(nil, notifier: nil), person.appearance)
      }
      var item = item(
        person.devices[index].platform, notifier: person.devices[index].notifier)
      if let sender = item.sender {
        let isAPNs = plan.parts[sender]?.route.isAPNs == true
        if !isAPNs, let fid = person.devices[index].fid {
          Self.add(.fid, fid, isAPNs: false, to: &bytes, &item)
        } else if let token = person.devices[index].token {
          Self.add(.token, token, isAPNs: isAPNs, to: &bytes, &item)
        }
      }
      return (item, person.appearance)
    }
    return known ?? (item(nil, notifier: nil), ContentDirectory.Appearance())
  }

  /// A request of which only the device's platform and notifier are known.
  private func item(_ platform: PushPlatform?, notifier: Identifier?) -> Item {
    var item = Item(platform: platform)
    if let sender = plan.sender(platform, notifier) {
      if plan.parts[sender] == nil { item.isLeftOut = true } else { item.sender = sender }  // S-7
    } else {
      item.problem = .noSender
      item.isLeftOut = platform.map { !plan.platforms.contains($0) } ?? false
    }
    return item
  }

  /// Adds the address of a device (S-40).
  private static func add(
    _ address: Item.Address, _ text: String, isAPNs: Bool, to bytes: inout [UInt8],
    _ item: inout Item
  ) {
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    if isAPNs, !isAPNsToken(bytes[start...]) {
      item.problem = .badToken
      bytes.removeLast(bytes.count - start)
    } else {
      item.address = address
      item.addressCount = UInt16(bytes.count - start)
    }
  }

  /// Renders the body of a request.
  ///
  /// - Returns: how many bytes of words were put together for it.
  private static func render(
    _ target: PushTarget, _ appearance: ContentDirectory.Appearance, _ part: RequestPlan.Part,
    by renderer: inout MessageRenderer?, _ item: inout Item, to bytes: inout [UInt8]
  ) -> Int {
    if renderer == nil { renderer = MessageRenderer(part.plan) }
    let before = renderer?.variantBytes ?? 0
    let rendered = renderer?.append(target.user, appearance, target.traits, to: &bytes)
    guard let (words, state) = rendered else { return 0 }
    item.words = UInt32(words)
    item.isPersonal = renderer?.namesRecipient(words) ?? false
    if state.problem != nil { item.problem = .payloadTooLarge }
    return (renderer?.variantBytes ?? 0) - before
  }

  /// S-9.
  private static func isAPNsToken(_ token: ArraySlice<UInt8>) -> Bool {
    // Without an end at the first other byte, so that many are compared at once.
    let others = token.reduce(0 as UInt8) {
      $0 | ($1 &- 0x30 < 10 || ($1 | 0x20) &- 0x61 < 6 ? 0 : 1)
    }
    return others == 0 && (2...200).contains(token.count) && token.count % 2 == 0
  }
}
