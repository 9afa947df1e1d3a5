internal import PushModel

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
  /// What comes between the badge and the recipient, or behind the badge.
  private let middle: [UInt8]
  private let tail: [UInt8]
  private let hasBadge: Bool
  private let hasRecipient: Bool
  /// Everything before the first thing that differs.
  private let head: [UInt8]

  init(_ draft: PayloadDraft, body: String) {
    start = draft.start
    self.body = body
    hasBadge = draft.hasBadge
    hasRecipient = draft.hasRecipient
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
    if hasBadge {
      bytes.append(number: badge)
      bytes.append(contentsOf: middle)
    }
    if hasRecipient {
      bytes.append(id: recipient)
      bytes.append(contentsOf: tail)
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
    if hasBadge { own.append(number: badge) }
    if hasRecipient { own.append(id: recipient) }
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
  private(set) var hasBadge = false
  private(set) var hasRecipient = false
  private var hasBody = false

  /// What was put down since the last thing that differs.
  private mutating func put(_ body: (inout [UInt8]) -> Void) {
    if hasRecipient {
      body(&tail)
    } else if hasBadge {
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

  /// The characters of the body stand here.
  mutating func bodyHere() { hasBody = true }

  /// The recipient's badge stands here.
  mutating func badgeHere() { hasBadge = true }

  /// The characters of the recipient's id stand here.
  mutating func recipientHere() { hasRecipient = true }
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
}
