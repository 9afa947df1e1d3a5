internal import PushSupport

extension IDTable {
  /// Adds the decimal digits of numbers, none of which is in the table, as ids.
  ///
  /// - Complexity: O(numbers), on several threads.
  mutating func append(digitsOf numbers: [Int64], _ store: PageStore, threads: Int) {
    let first = addresses.count
    addresses.grow(to: first + numbers.count, store, threads: threads)
    reserve(addresses.count, store, threads: threads)
    let size = 1 << 12
    let pieceCount = (numbers.count + size - 1) / size
    @Sendable func piece(_ index: Int) -> Range<Int> {
      index * size..<min((index + 1) * size, numbers.count)
    }
    let byteCounts = Parallel.map(pieceCount, threads: threads) { index in
      piece(index).reduce(0) { $0 + IDArena.recordSize(digitCount(of: numbers[$1])) }
    }
    // One piece after the other: the arena is not for several threads.
    let records = byteCounts.map { addRecords(byteCount: $0) }
    let new = NewIDs(addresses: addresses, slots: slots, base: base)
    Parallel.perform(pieceCount, threads: threads) { index in
      new.write(numbers, piece(index), firstIndex: first, at: records[index])
    }
    slots.noteUse(of: numbers.count)
  }
}

/// The number of characters of a number's decimal digits.
private func digitCount(of number: Int64) -> Int {
  let magnitude = number.magnitude
  var count = number < 0 ? 2 : 1
  var bound: UInt64 = 10
  while magnitude >= bound {
    count += 1
    let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
    if overflow { break }
    bound = next
  }
  return count
}

/// What several threads write of ids that are added together.
///
/// SAFETY: each thread writes records and addresses that no other does; slots are taken atomically.
private struct NewIDs: @unchecked Sendable {
  let addresses: PagedTable<UInt>
  let slots: IDSlots
  let base: IDBase

  /// Writes the records of numbers, their addresses and their slots.
  ///
  /// - Parameters:
  ///   - items: which of the numbers.
  ///   - firstIndex: the index of the first of all numbers.
  ///   - address: that of the first record.
  func write(_ numbers: [Int64], _ items: Range<Int>, firstIndex: Int, at address: UInt) {
    var address = address
    // The slots of a group are loaded at the same time.
    var group = InlineArray<16, (hash: UInt32, address: UInt)>(repeating: (0, 0))
    var count = 0
    for item in items {
      if count == group.count {
        put(group, count)
        count = 0
      }
      let (hash, size) = unsafe withDigits(numbers[item]) { id -> (UInt32, UInt) in
        unsafe IDArena.write(id, UInt32(firstIndex + item), at: address)
        return unsafe (slots.hash(id), UInt(IDArena.recordSize(id.count)))
      }
      slots.prefetchSlot(hash)
      addresses.update(firstIndex + item, base.distance(to: address))
      group[count] = (hash, address)
      count += 1
      address += size
    }
    put(group, count)
  }

  private func put(_ group: InlineArray<16, (hash: UInt32, address: UInt)>, _ count: Int) {
    for index in 0..<count {
      slots.putAmongOthers(group[index].hash, group[index].address, base)
    }
  }
}
