internal import PushModel
internal import PushSupport

/// Characters of many ids, for another thread.
struct IDCharacters: Sendable {
  private(set) var bytes: [UInt8] = []
  /// The addresses of a text added whole, and its start in ``bytes``.
  private var text: Range<UInt> = 0..<0
  private var textStart = 0

  /// Adds a text of many ids at once, which costs less. It must not move until ``forgetText()``.
  mutating func add(text: UnsafeRawBufferPointer) {
    guard let start = text.baseAddress else { return }
    self.text = UInt(bitPattern: start)..<UInt(bitPattern: start) + UInt(text.count)
    textStart = bytes.count
    unsafe bytes.append(contentsOf: text)
  }

  mutating func forgetText() { text = 0..<0 }

  /// Returns the id's start.
  @inline(__always)
  mutating func store(_ id: UnsafeRawBufferPointer) -> UInt32 {
    let address = UInt(bitPattern: id.baseAddress)
    if text.contains(address) { return UInt32(textStart + Int(address - text.lowerBound)) }
    defer { unsafe bytes.append(contentsOf: id) }
    return UInt32(bytes.count)
  }
}

/// Ids, their hashes, and their indices.
struct IDColumn: Sendable {
  /// Where the characters of an id are.
  private struct Text: Sendable {
    let start: UInt32
    let count: UInt32
  }

  /// The numbers whose digits the ids are: of all ids, or none.
  private(set) var numbers: [Int64] = []
  private var texts: [Text] = []
  /// Empty for numbers and until resolved.
  private(set) var hashes: [UInt32] = []
  /// `UInt32.max` if unknown; empty until resolved.
  private(set) var indices: [UInt32] = []

  var count: Int { max(texts.count, numbers.count) }

  mutating func reserveCapacity(_ count: Int) { texts.reserveCapacity(count) }

  @inline(__always)
  mutating func append(_ id: UnsafeRawBufferPointer, _ characters: inout IDCharacters) {
    texts.append(Text(start: unsafe characters.store(id), count: UInt32(id.count)))
  }

  @inline(__always)
  mutating func append(number: Int64) { numbers.append(number) }

  /// - Precondition: no id is a text.
  mutating func append(numbers: [Int64]) {
    precondition(texts.isEmpty, "ids are numbers or texts")
    self.numbers.append(contentsOf: numbers)
  }

  func with<Value>(
    _ row: Int, _ characters: IDCharacters, _ body: (UnsafeRawBufferPointer) -> Value
  ) -> Value {
    if !numbers.isEmpty { return unsafe withDigits(numbers[row], body) }
    return unsafe characters.bytes.withUnsafeBytes { unsafe body(id(row, $0)) }
  }

  func identifier(_ row: Int, _ characters: IDCharacters) -> Identifier {
    unsafe with(row, characters) { unsafe Identifier(utf8: $0) }
  }

  @inline(__always)
  private func id(_ row: Int, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let text = texts[row]
    let start = Int(text.start)
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(text.count)])
  }

  /// Ids between prefetch and use.
  private static var distance: Int { 24 }

  /// Hashes the ids and finds the known ones in O(ids); look-ups overlap.
  mutating func resolve(
    _ characters: IDCharacters, in table: IDTable, _ slots: NumberIndex.Slots
  ) {
    if !numbers.isEmpty { return resolveNumbers(slots) }
    let (count, distance, lookup) = (count, Self.distance, table.lookup)
    var (hashes, indices) = (
      [UInt32](repeating: 0, count: count), [UInt32](repeating: .max, count: count)
    )
    unsafe characters.bytes.withUnsafeBytes { (bytes) -> Void in
      for row in 0..<count + 2 * distance {
        if row < count {
          hashes[row] = unsafe lookup.slots.hash(id(row, bytes))
          lookup.slots.prefetch(hashes[row])
        }
        let second = row - distance
        if second >= 0, second < count { lookup.prefetch(hashes[second]) }
        let third = second - distance
        guard third >= 0 else { continue }
        if let index = unsafe lookup.index(of: id(third, bytes), hash: hashes[third]) {
          indices[third] = index
        }
      }
    }
    (self.hashes, self.indices) = (hashes, indices)
  }

  /// - Complexity: O(ids); look-ups overlap.
  private mutating func resolveNumbers(_ slots: NumberIndex.Slots) {
    var indices = [UInt32](repeating: .max, count: count)
    for row in 0..<numbers.count + Self.distance {
      if row < numbers.count { slots.prefetch(numbers[row]) }
      let second = row - Self.distance
      if second >= 0, let index = slots.index(of: numbers[second]) { indices[second] = index }
    }
    self.indices = indices
  }
}

/// Looks up many ids on another thread, while the builder goes on.
///
/// SAFETY: copied tables are versions, which the one writer leaves alone. They live until the
/// engine is built, and readers of files wait for their threads before that.
package struct SettingsIDLookup: @unchecked Sendable {
  private let users: IDTable
  private let conversations: IDTable
  private let userNumbers: NumberIndex
  private let userSlots: NumberIndex.Slots
  private let conversationNumbers: NumberIndex
  private let conversationSlots: NumberIndex.Slots

  init(
    users: IDTable, _ userNumbers: NumberIndex, conversations: IDTable,
    _ conversationNumbers: NumberIndex
  ) {
    self.users = users
    self.userNumbers = userNumbers
    userSlots = userNumbers.slots
    self.conversations = conversations
    self.conversationNumbers = conversationNumbers
    conversationSlots = conversationNumbers.slots
  }

  /// Finds known ids in O(rows); look-ups overlap.
  package func resolve(_ columns: inout MembershipColumns) {
    columns.conversations.resolve(columns.characters, in: conversations, conversationSlots)
    columns.users.resolve(columns.characters, in: users, userSlots)
  }

  package func resolve(_ records: inout UserRecords) {
    records.ids.resolve(records.characters, in: users, userSlots)
  }
}
