internal import PushModel
internal import PushSupport

extension IDTable {
  /// Adds the digits of new numbers as ids, in O(numbers) on several threads.
  mutating func append(digitsOf numbers: [Int64], _ store: PageStore, threads: Int) {
    let first = entries.count
    entries.grow(to: first + numbers.count, store, threads: threads)
    reserve(entries.count, store, threads: threads)
    let size = 1 << 12
    let pieceCount = (numbers.count + size - 1) / size
    @Sendable func piece(_ index: Int) -> Range<Int> {
      index * size..<min((index + 1) * size, numbers.count)
    }
    let byteCounts = Parallel.map(pieceCount, threads: threads) { index in
      piece(index).reduce(0) { $0 + longDigitCount(of: numbers[$1]) }
    }
    // The arena is for one thread.
    let offsets = byteCounts.map { $0 == 0 ? 0 : arena.add(byteCount: $0) }
    hasLong = hasLong || byteCounts.contains { $0 > 0 }
    let new = NewIDs(entries: entries, slots: slots, base: arena.base)
    Parallel.perform(pieceCount, threads: threads) { index in
      new.write(numbers, piece(index), firstIndex: first, at: offsets[index])
    }
    slots.noteUse(of: numbers.count)
  }
}

/// The number of digits, or 0 if the id is short.
private func longDigitCount(of number: Int64) -> Int {
  if (-99_999_999_999_999...999_999_999_999_999).contains(number) { return 0 }
  return unsafe withDigits(number) { $0.count }
}

/// Writes new ids on several threads.
///
/// SAFETY: threads write separate entries and characters; slots are taken atomically.
private struct NewIDs: @unchecked Sendable {
  let entries: PagedTable<IDEntry>
  let slots: IDSlots
  let base: UInt

  /// - Parameter offset: where characters of ids that are not short go.
  func write(_ numbers: [Int64], _ items: Range<Int>, firstIndex: Int, at offset: UInt) {
    var offset = offset
    // The slots of a group load at the same time.
    var group = InlineArray<16, (hash: UInt32, index: UInt32)>(repeating: (0, 0))
    var count = 0
    for item in items {
      if count == group.count {
        put(group, count)
        count = 0
      }
      let index = firstIndex + item
      let hash = unsafe withDigits(numbers[item]) { (id) -> UInt32 in
        if let short = unsafe ShortIdentifier(utf8: id) {
          entries.update(index, IDEntry(short))
        } else {
          unsafe IDArena.write(id, at: base &+ offset)
          entries.update(index, IDEntry(offset: offset, count: id.count))
          offset &+= UInt(id.count)
        }
        return unsafe slots.hash(id)
      }
      slots.prefetch(hash)
      group[count] = (hash, UInt32(index))
      count += 1
    }
    put(group, count)
  }

  private func put(_ group: InlineArray<16, (hash: UInt32, index: UInt32)>, _ count: Int) {
    for item in 0..<count { slots.putAmongOthers(group[item].hash, group[item].index) }
  }
}
