/// Texts that are only appended, in blocks, so that the store grows without being copied.
struct ByteStore {
  private static let blockSize = 1 << 20
  private var blocks: [[UInt8]] = []

  /// Where a text stands.
  struct Place: BitwiseCopyable {
    fileprivate let block: UInt32
    fileprivate let start: UInt32
    fileprivate let count: UInt32
  }

  mutating func append(_ text: [UInt8]) -> Place {
    if blocks.last.map({ $0.count + text.count > Self.blockSize }) ?? true {
      blocks.append([])
      blocks[blocks.count - 1].reserveCapacity(max(text.count, Self.blockSize))
    }
    let last = blocks.count - 1
    let start = blocks[last].count
    blocks[last].append(contentsOf: text)
    return Place(block: UInt32(last), start: UInt32(start), count: UInt32(text.count))
  }

  subscript(place: Place) -> ArraySlice<UInt8> {
    blocks[Int(place.block)][Int(place.start)..<Int(place.start + place.count)]
  }
}

/// What records say beside their ids. Most say the same as others.
struct RecordTexts {
  private var store = ByteStore()
  private var places: [ByteStore.Place] = []
  private var numbers: [[UInt8]: UInt32] = [:]
  /// Rare texts are not looked for again.
  private static let sharedCount = 4096

  /// The number of a text.
  mutating func insert(_ text: [UInt8]) -> UInt32 {
    if let number = numbers[text] { return number }
    let number = UInt32(places.count)
    places.append(store.append(text))
    if numbers.count < Self.sharedCount { numbers[text] = number }
    return number
  }

  subscript(number: UInt32) -> ArraySlice<UInt8> { store[places[Int(number)]] }
}
