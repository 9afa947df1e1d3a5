/// A log of changes in order. Each reader remembers its position. When the log is full the oldest
/// half is discarded, and a reader that has not reached it starts over.
struct ChangeLog<Element> {
  /// The number of the oldest element kept; `end` is one past the newest.
  private(set) var start = 0
  var end: Int { start + elements.count }

  private var elements: [Element] = []
  private let limit: Int

  init(limit: Int = 1 << 18) { self.limit = limit }

  subscript(number: Int) -> Element { elements[number - start] }

  mutating func append(_ element: Element) {
    if elements.count == limit {
      elements.removeFirst(limit / 2)
      start += limit / 2
    }
    elements.append(element)
  }
}
