internal import PushModel

/// What of a payload is a recipient's own.
enum OwnPart: Sendable {
  /// How many messages wait.
  case badge
  /// The characters of the id.
  case recipient
  /// The same in a JSON text that is a string.
  case nestedRecipient
  /// A member that says how many messages wait, if some do (S-48).
  case notificationCount
  /// The same among `data`, as a string (S-42).
  case dataCount
}

/// A payload as it is the same for many recipients: all of it but the badge, the recipient's id
/// and, when it must be shortened, the body.
///
/// An object, so that using one for a recipient counts one reference and not those of its parts.
final class PayloadTemplate: Sendable {
  /// What comes before the characters of the body.
  private let start: [UInt8]
  private let body: String
  /// What comes between the body and the first thing that differs.
  private let behindBody: [UInt8]
  /// What is a recipient's own, and what comes behind each.
  private let first: OwnPart?
  private let middle: [UInt8]
  private let second: OwnPart?
  private let tail: [UInt8]
  /// Everything before the first thing that differs.
  private let head: [UInt8]

  init(_ draft: PayloadDraft, body: String) {
    start = draft.start
    self.body = body
    first = draft.first
    second = draft.second
    behindBody = draft.behindBody
    middle = draft.middle
    tail = draft.tail
    head = Self.head(start, body, behindBody)
  }

  private static func head(_ start: [UInt8], _ body: String, _ end: [UInt8]) -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(start.count + body.utf8.count + end.count)
    head += start
    head.appendJSONCharacters(body)
    head += end
    return head
  }

  /// How large a payload is without what is a recipient's own.
  var leastSize: Int { head.count + middle.count + tail.count }

  /// About how much memory it takes beside the body.
  var byteCount: Int {
    head.count + start.count + behindBody.count + middle.count + tail.count
  }

  /// Whether the recipient's id is in it.
  var namesRecipient: Bool {
    [first, second].contains(.recipient) || [first, second].contains(.nestedRecipient)
  }

  /// Appends the payload of a recipient.
  @inline(__always)
  func append(_ recipient: Identifier, badge: UInt32, to bytes: inout [UInt8]) {
    append(head, recipient, badge, to: &bytes)
  }

  @inline(__always)
  private func append(
    _ head: [UInt8], _ recipient: Identifier, _ badge: UInt32, to bytes: inout [UInt8]
  ) {
    bytes.append(contentsOf: head)
    guard let first else { return }
    append(first, recipient, badge, to: &bytes)
    bytes.append(contentsOf: middle)
    guard let second else { return }
    append(second, recipient, badge, to: &bytes)
    bytes.append(contentsOf: tail)
  }

  @inline(__always)
  private func append(
    _ part: OwnPart, _ recipient: Identifier, _ badge: UInt32, to bytes: inout [UInt8]
  ) {
    switch part {
    case .badge: bytes.append(number: badge)
    case .recipient: bytes.append(id: recipient)
    default: appendOther(part, recipient, badge, to: &bytes)
    }
  }

  private func appendOther(
    _ part: OwnPart, _ recipient: Identifier, _ badge: UInt32, to bytes: inout [UInt8]
  ) {
    switch part {
    case .badge, .recipient: break
    case .nestedRecipient:
      var id: [UInt8] = []
      id.append(id: recipient)
      bytes.appendJSONCharacters(of: id)
    case .notificationCount:
      if badge > 0 { bytes.append(contentsOf: ",\"notification_count\":\(badge)".utf8) }
    case .dataCount: if badge > 0 { bytes.append(contentsOf: ",\"count\":\"\(badge)\"".utf8) }
    }
  }

  /// Appends the payload of a recipient with as much of the body as has room.
  ///
  /// - Throws: how large it is with the shortest body, when that is too much.
  func appendShortened(
    _ recipient: Identifier, badge: UInt32, limit: Int, to bytes: inout [UInt8],
    _ heads: inout [Int: [UInt8]]
  ) throws(ContentProblem) {
    var own: [UInt8] = []
    for part in [first, second] {
      if let part { append(part, recipient, badge, to: &own) }
    }
    let size = start.count + behindBody.count + middle.count + tail.count + own.count
    if heads[own.count] == nil {
      guard let short = body.shortened(toJSONBytes: limit - size) else {
        let bodySize = head.count - start.count - behindBody.count
        throw .payloadTooLarge(bytes: size + min(bodySize, LimitedText.ellipsis.utf8.count))
      }
      heads[own.count] = Self.head(start, short, behindBody)
    }
    append(heads[own.count] ?? [], recipient, badge, to: &bytes)
  }
}

/// A payload as it is being put together, from the front to the back.
struct PayloadDraft {
  private(set) var start: [UInt8] = []
  private(set) var behindBody: [UInt8] = []
  private(set) var middle: [UInt8] = []
  private(set) var tail: [UInt8] = []
  private(set) var first: OwnPart?
  private(set) var second: OwnPart?
  private var hasBody = false
  /// Whether what is put down is inside a JSON text that is a string.
  private var isNested = false
  /// Whether an object was opened and nothing put into it yet.
  private var isAtStart = false

  /// What was put down since the last thing that differs.
  private mutating func put(_ body: (inout [UInt8]) -> Void) {
    isAtStart = false
    if isNested {
      var text: [UInt8] = []
      body(&text)
      isNested = false
      put { $0.appendJSONCharacters(of: text) }
      isNested = true
    } else if second != nil {
      body(&tail)
    } else if first != nil {
      body(&middle)
    } else if hasBody {
      body(&behindBody)
    } else {
      body(&start)
    }
  }

  mutating func raw(_ text: StaticString) {
    put { bytes in
      text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }
  }

  mutating func raw(_ json: RawJSON) { put { $0.append(contentsOf: json.bytes) } }

  mutating func string(_ text: String) { put { $0.appendJSON(text) } }

  mutating func number(_ number: UInt32) { put { $0.append(number: number) } }

  /// Opens an object.
  mutating func open() {
    raw("{")
    isAtStart = true
  }

  /// The name of a member; its value comes next.
  mutating func name(_ name: StaticString) {
    if !isAtStart { raw(",") }
    raw("\"")
    raw(name)
    raw("\":")
  }

  /// A member that is a text; nothing without one.
  mutating func member(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    self.name(name)
    string(text)
  }

  /// A JSON text as a string.
  mutating func nested(_ body: (inout PayloadDraft) -> Void) {
    raw("\"")
    isNested = true
    body(&self)
    isNested = false
    raw("\"")
  }

  /// The characters of the body stand here.
  mutating func bodyHere() { hasBody = true }

  /// A member with the body.
  mutating func body() {
    name("body")
    raw("\"")
    bodyHere()
    raw("\"")
  }

  /// What is a recipient's own stands here; there are at most two such parts.
  mutating func own(_ part: OwnPart) {
    isAtStart = false
    if first == nil { first = part } else { second = part }
  }

  /// A member that is the recipient's id.
  mutating func recipient(_ name: StaticString) {
    self.name(name)
    raw("\"")
    own(isNested ? .nestedRecipient : .recipient)
    raw("\"")
  }
}

extension [UInt8] {
  mutating func append(number: UInt32) {
    if number < 10 {
      append(0x30 + UInt8(number))
    } else {
      append(contentsOf: "\(number)".utf8)
    }
  }

  /// Appends the characters of an id as they stand inside a JSON string.
  @inline(__always)
  mutating func append(id: Identifier) { appendJSONCharacters(id.text) }

  /// Appends UTF-8 as the inside of a JSON string.
  mutating func appendJSONCharacters(of text: [UInt8]) {
    unsafe text.withUnsafeBytes { unsafe appendJSONCharacters($0) }
  }
}
