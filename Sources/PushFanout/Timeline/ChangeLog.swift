/// What has changed, in order. Whoever reads it remembers how far; of very much, the oldest is
/// forgotten, and who has not read it begins anew.
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
