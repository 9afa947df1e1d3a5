internal import Glibc
internal import PushSupport

/// Sorts texts by two numbers, more of them than memory holds: runs of them are sorted and written to a
/// file without a name, and merged. The file is gone when the process is, however that ends.
@safe final class RunSorter {
  struct Key: Comparable, BitwiseCopyable {
    let first: Int64
    let second: UInt64

    static func < (left: Key, right: Key) -> Bool {
      left.first != right.first ? left.first < right.first : left.second < right.second
    }
  }

  private struct Entry {
    let key: Key
    let start: Int
    let count: Int
  }

  private let folder: String
  private let runSize: Int
  private var texts: [UInt8] = []
  private var entries: [Entry] = []
  private var descriptor: Int32 = -1
  private var runs: [Range<Int>] = []
  private var written = 0

  private static let headSize = 20
  /// What all runs together are read into.
  private static let mergeSize = 64 << 20

  /// - Parameters:
  ///   - folder: where the file is made.
  ///   - runSize: how many bytes of text are sorted at once.
  init(folder: String, runSize: Int = 64 << 20) {
    self.folder = folder
    self.runSize = runSize
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func add(_ key: Key, _ text: some Collection<UInt8>) throws(ImportProblem) {
    entries.append(Entry(key: key, start: texts.count, count: text.count))
    texts.append(contentsOf: text)
    if texts.count >= runSize { try spill() }
  }

  /// Adds parts of a text, each with the next second number.
  func add(
    _ parts: [(first: Int64, range: Range<Int>)], of text: [UInt8], from second: inout UInt64
  ) throws(ImportProblem) {
    let start = texts.count
    for (first, range) in parts {
      second += 1
      entries.append(
        Entry(
          key: Key(first: first, second: second), start: start + range.lowerBound,
          count: range.count))
    }
    texts.append(contentsOf: text)
    if texts.count >= runSize { try spill() }
  }

  /// Gives all texts in their order.
  func drain(_ body: (Key, ArraySlice<UInt8>) throws -> Void) throws {
    entries.sort { $0.key < $1.key }
    if runs.isEmpty {
      for entry in entries { try body(entry.key, texts[entry.start..<entry.start + entry.count]) }
    } else {
      try spill()
      texts = []
      try merge(body)
    }
    (entries, texts) = ([], [])
  }

  // MARK: Runs

  private func spill() throws(ImportProblem) {
    if entries.isEmpty { return }
    if descriptor < 0 { descriptor = try openFile() }
    entries.sort { $0.key < $1.key }
    let start = written
    var buffer: [UInt8] = []
    buffer.reserveCapacity(1 << 20)
    for entry in entries {
      Self.append(entry, &buffer)
      unsafe texts.withUnsafeBufferPointer {
        let text = unsafe $0[entry.start..<entry.start + entry.count]
        unsafe buffer.append(contentsOf: UnsafeBufferPointer(rebasing: text))
      }
      if buffer.count >= 1 << 20 { try write(&buffer) }
    }
    try write(&buffer)
    runs.append(start..<written)
    entries.removeAll(keepingCapacity: true)
    texts.removeAll(keepingCapacity: true)
  }

  private static func append(_ entry: Entry, _ buffer: inout [UInt8]) {
    unsafe withUnsafeBytes(of: entry.key.first) { unsafe buffer.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: entry.key.second) { unsafe buffer.append(contentsOf: $0) }
    unsafe withUnsafeBytes(of: UInt32(entry.count)) { unsafe buffer.append(contentsOf: $0) }
  }

  private func write(_ buffer: inout [UInt8]) throws(ImportProblem) {
    let result = unsafe buffer.withUnsafeBytes { (bytes) -> Result<Void, SystemError> in
      do throws(SystemError) {
        return .success(try unsafe AtomicFile.write(bytes, to: descriptor))
      } catch {
        return .failure(error)
      }
    }
    if case .failure(let error) = result {
      throw ImportProblem(folder, "it cannot be written to: \(error.message)")
    }
    written += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  /// A file without a name where the file system has such; else one whose name is removed at once.
  private func openFile() throws(ImportProblem) -> Int32 {
    let withoutName: Int32 = 0o20_000_000 | O_DIRECTORY
    let file = unsafe open(folder, withoutName | O_RDWR | O_CLOEXEC, 0o600)
    if file >= 0 { return file }
    let name = TemporaryName(beside: "\(folder)/.runs")
    do throws(SystemError) {
      let file = try name.createFile(O_RDWR, mode: 0o600)
      name.remove()
      return file
    } catch {
      throw ImportProblem(folder, "it cannot be written to: \(error.message)")
    }
  }

  // MARK: Merging

  private struct Reader {
    var rest: Range<Int>
    var buffer: [UInt8] = []
    var position = 0
    var key = Key(first: 0, second: 0)
    var text = 0..<0
  }

  private func merge(_ body: (Key, ArraySlice<UInt8>) throws -> Void) throws {
    let size = max(16 << 10, Self.mergeSize / runs.count)
    var readers = runs.map { Reader(rest: $0) }
    // A heap of the runs, the one with the lowest key first.
    var heap: [Int] = []
    for index in readers.indices where try advance(&readers[index], size) { heap.append(index) }
    heap.sort { readers[$0].key < readers[$1].key }
    while let lowest = heap.first {
      try body(readers[lowest].key, readers[lowest].buffer[readers[lowest].text])
      if try !advance(&readers[lowest], size) {
        heap[0] = heap[heap.count - 1]
        heap.removeLast()
      }
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
          if readers[heap[child]].key < readers[heap[least]].key { least = child }
        }
        if least == parent { break }
        heap.swapAt(parent, least)
        parent = least
      }
    }
  }

  /// Goes to the next text of a run.
  private func advance(_ reader: inout Reader, _ size: Int) throws(ImportProblem) -> Bool {
    guard try has(Self.headSize, &reader, size) else { return false }
    let start = reader.position
    let (key, count) = unsafe reader.buffer.withUnsafeBytes { buffer in
      let head = unsafe buffer[start...]
      let first = unsafe head.loadUnaligned(as: Int64.self)
      let second = unsafe head.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      let count = unsafe head.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
      return (Key(first: first, second: second), Int(count))
    }
    reader.key = key
    reader.position += Self.headSize
    guard try has(count, &reader, size) else { return false }
    reader.text = reader.position..<reader.position + count
    reader.position += count
    return true
  }

  /// Reads on until so many bytes are there; false at the end of the run.
  private func has(_ count: Int, _ reader: inout Reader, _ size: Int) throws(ImportProblem) -> Bool
  {
    if reader.buffer.count - reader.position >= count { return true }
    reader.buffer.removeFirst(reader.position)
    reader.position = 0
    while reader.buffer.count < count {
      if reader.rest.isEmpty { return false }
      let wanted = min(reader.rest.count, max(size, count))
      let old = reader.buffer.count
      let rest = reader.rest
      reader.buffer.append(contentsOf: repeatElement(0, count: wanted))
      let read = unsafe reader.buffer.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress! + old, wanted, off_t(rest.lowerBound))
      }
      guard read > 0 else {
        throw ImportProblem(
          folder, "what was written to it cannot be read: \(SystemError.last.message)")
      }
      reader.buffer.removeLast(wanted - read)
      reader.rest = (rest.lowerBound + read)..<rest.upperBound
    }
    return true
  }
}
