public import PushModel

/// Messages that are passed where they are, as a service passes the one that it has just read. Taken
/// out of an `Array` or a `Span`, a message is copied, with a reference counted for each of its
/// fields.
@safe public final class MessageArray: @unchecked Sendable {
  /// A message that cannot be copied.
  private struct Element: ~Copyable {
    let message: Message
  }

  private let start: UnsafeMutablePointer<Element>
  public let count: Int

  public init(_ messages: [Message]) {
    count = messages.count
    unsafe start = .allocate(capacity: messages.count)
    for (index, message) in messages.enumerated() {
      unsafe (start + index).initialize(to: Element(message: message))
    }
  }

  deinit {
    unsafe start.deinitialize(count: count)
    unsafe start.deallocate()
  }

  public var indices: Range<Int> { 0..<count }

  /// Calls `body` with a message.
  public func with(_ index: Int, _ body: (borrowing Message) -> Void) {
    precondition(indices.contains(index))
    unsafe Self.borrow(start[index], body)
  }

  private static func borrow(_ element: borrowing Element, _ body: (borrowing Message) -> Void) {
    body(element.message)
  }
}
