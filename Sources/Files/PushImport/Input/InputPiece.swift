internal import CPushFiles
internal import Glibc

/// A piece of an input that is parsed apart from the others: whole lines, or items of a document.
/// `PF_JSON_PADDING` bytes behind it are readable.
///
/// SAFETY: changed only before it is handed to another thread.
@safe final class InputPiece: @unchecked Sendable {
  /// An item of a document, or a value that stands in place of an array.
  struct Item: Sendable {
    let range: Range<Int>
    /// 1-based.
    let line: Int
    /// Which member of the document it belongs to, by ``InputPiece/tables``.
    let table: Int
    /// Whether it is an item of the member's array, and not a value in place of one.
    let isInArray: Bool
  }

  private let buffer: UnsafeMutableRawBufferPointer
  let count: Int
  /// The file, or the archive and the entry.
  let file: String
  /// The 1-based number of the first line.
  let line: Int
  /// The group of lines that all its lines are of; nil where they are of several, or of none.
  let group: Int?
  /// Of a document.
  let items: [Item]
  /// The names of the document's members so far.
  let tables: [String]

  fileprivate init(
    _ buffer: UnsafeMutableRawBufferPointer, _ count: Int, file: String, line: Int,
    group: Int? = nil, items: [Item] = [], tables: [String] = []
  ) {
    unsafe self.buffer = unsafe buffer
    self.count = count
    self.file = file
    self.line = line
    self.group = group
    self.items = items
    self.tables = tables
  }

  deinit { unsafe buffer.deallocate() }

  subscript(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: buffer[range])
  }

  /// The 1-based line of a value of an item, counting values and names from 0.
  func line(of token: Int, in item: Item) -> Int {
    let text = unsafe self[item.range]
    let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let offset = unsafe pf_json_token_start(start, text.count, token)
    return unsafe item.line + pf_line_feeds(start, offset)
  }

  /// The 1-based line on which an item stops being JSON.
  func lineOfFault(in item: Item) -> Int {
    let text = unsafe self[item.range]
    let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let fault = unsafe JSONFault.first(in: text)
    return unsafe item.line + pf_line_feeds(start, fault?.offset ?? 0)
  }

  /// Calls `body` with each line that is not blank, and its number.
  func forEachLine<Failure: Error>(
    _ body: (UnsafeRawBufferPointer, Int) throws(Failure) -> Void
  ) throws(Failure) {
    var (start, number) = (0, line)
    while start < count {
      let base = unsafe UnsafeRawPointer(buffer.baseAddress!)
      let feed = unsafe memchr(base + start, 0x0A, count - start)
      let end = unsafe feed.map { unsafe UnsafeRawPointer($0) - base } ?? count
      var text = unsafe self[start..<end]
      if number == 1, unsafe text.starts(with: [0xEF, 0xBB, 0xBF]) {
        unsafe text = UnsafeRawBufferPointer(rebasing: text[3...])
      }
      if unsafe !text.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
        try unsafe body(text, number)
      }
      start = end + 1
      number += 1
    }
  }
}

/// What is read of an entry and not handed out, in memory that pieces are made of.
@safe struct PieceBuffer {
  /// The size of pieces: large enough that handing one to another thread costs nothing beside parsing it.
  static let size = 1 << 20
  /// A record may have so many bytes: parsing it takes several times as many.
  static let limit = 64 << 20

  private(set) var bytes: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int = PieceBuffer.size) {
    unsafe bytes = .allocate(byteCount: capacity + Int(PF_JSON_PADDING), alignment: 64)
  }

  var text: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count]) }
  var isFull: Bool { unsafe count + Int(PF_JSON_PADDING) == bytes.count }

  /// Reads once.
  ///
  /// - Returns: whether there was something.
  mutating func fill(from source: any ByteSource) throws(ImportProblem) -> Bool {
    let end = unsafe bytes.count - Int(PF_JSON_PADDING)
    let more = try unsafe source.read(
      into: UnsafeMutableRawBufferPointer(rebasing: bytes[count..<end]))
    count += more
    return more > 0
  }

  mutating func grow() { replace(with: PieceBuffer(capacity: unsafe bytes.count * 2), from: 0) }

  /// Gives the first bytes away and keeps those behind them, in memory of its own.
  mutating func take(_ taken: Int) -> UnsafeMutableRawBufferPointer {
    let old = unsafe bytes
    var next = PieceBuffer(capacity: max(Self.size, 2 * (count - taken)))
    unsafe next.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: old[taken..<count]))
    next.count = count - taken
    self = next
    return unsafe old
  }

  /// Drops the first bytes.
  mutating func drop(_ dropped: Int) {
    unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[dropped..<count]))
    count -= dropped
  }

  private mutating func replace(with larger: PieceBuffer, from start: Int) {
    var larger = larger
    unsafe larger.bytes.copyMemory(from: text)
    larger.count = count
    unsafe bytes.deallocate()
    self = larger
  }

  func deallocate() { unsafe bytes.deallocate() }
}

/// Cuts an entry into pieces of whole lines.
@safe final class LinePieces {
  private var source: any ByteSource
  private let file: String
  private let groups: [[StaticString]]
  private var buffer = PieceBuffer()
  private var line = 1
  private var isAtEnd = false

  /// - Parameters:
  ///   - groups: how the lines of a group begin, in one of these ways.
  ///   - takesArray: whether one JSON array may stand in place of lines.
  init(
    _ input: InputFile, groups: [[StaticString]] = [], takesArray: Bool = false
  ) throws(ImportProblem) {
    file = input.name
    self.groups = groups
    source = input
    if takesArray { try expectArray() }
  }

  deinit { buffer.deallocate() }

  /// The next piece; nil at the end.
  func next() throws(ImportProblem) -> InputPiece? {
    while true {
      if !isAtEnd, !buffer.isFull {
        isAtEnd = try !buffer.fill(from: source)
        if !isAtEnd, !buffer.isFull { continue }
      }
      if isAtEnd, buffer.count == 0 { return nil }
      let text = unsafe buffer.text
      let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
      let whole = isAtEnd ? text.count : unsafe pf_whole_lines(start, text.count)
      if whole > 0 {
        let first = line
        let group = unsafe countLines(UnsafeRawBufferPointer(rebasing: text[..<whole]))
        return unsafe InputPiece(
          buffer.take(whole), whole, file: file, line: first, group: group)
      }
      if text.count > PieceBuffer.limit {
        throw ImportProblem(file, line: line, "the line is longer than 64 MiB")
      }
      buffer.grow()
    }
  }
}

/// Cuts a document, one JSON object whose members are arrays, into pieces of whole items.
@safe final class DocumentPieces {
  /// The names of the members, in the order in which they were met.
  private var names: [String] = []
  private let input: InputFile
  private var buffer = PieceBuffer()
  private var document = pf_json_document()
  private var isAtEnd = false
  private var isOver = false

  init(_ input: InputFile) { self.input = input }

  deinit { buffer.deallocate() }

  /// The next piece; nil at the end.
  func next() throws(ImportProblem) -> InputPiece? {
    var items: [InputPiece.Item] = []
    if isOver { return nil }
    while true {
      let text = unsafe buffer.text
      let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
      let event = unsafe pf_json_walk(&document, start, text.count)
      switch event {
      case PF_EVENT_NAME:
        let name = unsafe text[(document.start + 1)..<(document.end - 1)]
        names.append(unsafe String(decoding: name, as: UTF8.self))
      case PF_EVENT_ITEM, PF_EVENT_VALUE:
        items.append(
          InputPiece.Item(
            range: document.start..<document.end, line: document.start_line + 1,
            table: names.count - 1, isInArray: event == PF_EVENT_ITEM))
      case PF_EVENT_MORE:
        if isAtEnd {
          guard unsafe pf_json_is_complete(&document) else {
            throw ImportProblem(input.name, line: document.line + 1, "the JSON text is cut off")
          }
          isOver = true
          return items.isEmpty ? nil : piece(items)
        }
        if !items.isEmpty, buffer.isFull { return piece(items) }
        if items.isEmpty, buffer.isFull { try makeRoom() }
        isAtEnd = try !buffer.fill(from: input)
      default:
        throw ImportProblem(input.name, line: document.line + 1, "this is not JSON")
      }
    }
  }

  private func piece(_ items: [InputPiece.Item]) -> InputPiece {
    let end = items[items.count - 1].range.upperBound
    let piece = unsafe InputPiece(
      buffer.take(end), end, file: input.name, line: items[0].line, items: items,
      tables: names)
    move(end)
    return piece
  }

  /// Drops what was passed over, or makes the buffer larger for the item that fills it.
  private func makeRoom() throws(ImportProblem) {
    let kept = min(document.start, document.position)
    let isInItem = document.end <= document.start
    let dropped = isInItem ? kept : document.position
    if dropped > 0 {
      buffer.drop(dropped)
      move(dropped)
      return
    }
    if buffer.count > PieceBuffer.limit {
      throw ImportProblem(
        input.name, line: document.start_line + 1, "the item is longer than 64 MiB")
    }
    buffer.grow()
  }

  private func move(_ count: Int) {
    document.position -= count
    document.start = document.start >= count ? document.start - count : 0
    document.end = document.end >= count ? document.end - count : 0
  }
}

extension LinePieces {
  /// Counts the lines of a text.
  ///
  /// - Returns: the group that all of them are of.
  private func countLines(_ text: UnsafeRawBufferPointer) -> Int? {
    let start = unsafe text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    func begins(at offset: Int, _ group: Int) -> Bool {
      groups[group].contains { prefix in
        unsafe text.count - offset >= prefix.utf8CodeUnitCount
          && memcmp(start + offset, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
      }
    }
    var group = groups.indices.first { begins(at: 0, $0) }
    var offset = 0
    while offset < text.count {
      guard let asked = group else {
        unsafe line += pf_line_feeds(start + offset, text.count - offset)
        break
      }
      if !begins(at: offset, asked) {
        group = nil
        continue
      }
      guard let feed = unsafe memchr(start + offset, 0x0A, text.count - offset) else { break }
      offset = unsafe UnsafeRawPointer(feed) - UnsafeRawPointer(start) + 1
      line += 1
    }
    return group
  }
}

// MARK: Arrays in place of lines

extension LinePieces {
  /// Has the items of a JSON array be lines, if the text is one.
  private func expectArray() throws(ImportProblem) {
    while !isAtEnd, !buffer.isFull { isAtEnd = try !buffer.fill(from: source) }
    let start = unsafe buffer.text.baseAddress!.assumingMemoryBound(to: UInt8.self)
    guard unsafe pf_json_is_arrays(start, buffer.count) else { return }
    source = ArrayItems(buffer, file: file, isAtEnd: isAtEnd, source)
    buffer = PieceBuffer()
    isAtEnd = false
  }
}

/// The items of JSON arrays, as lines.
@safe private final class ArrayItems: ByteSource {
  private let source: any ByteSource
  private let file: String
  private var arrays = pf_json_arrays()
  private var text: PieceBuffer
  private var used = 0
  private var isAtEnd: Bool

  init(_ text: PieceBuffer, file: String, isAtEnd: Bool, _ source: any ByteSource) {
    self.text = text
    self.file = file
    self.isAtEnd = isAtEnd
    self.source = source
  }

  deinit { text.deallocate() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ImportProblem) -> Int {
    let output = unsafe buffer.baseAddress!.assumingMemoryBound(to: UInt8.self)
    while true {
      let start = unsafe text.text.baseAddress!.assumingMemoryBound(to: UInt8.self)
      var count = 0
      let written = unsafe pf_json_items(
        &arrays, start + used, text.count - used, &count, output, buffer.count)
      used += count
      if written > 0 { return written }
      if isAtEnd {
        if arrays.state == PF_ARRAY_OUTSIDE || arrays.state == PF_ARRAY_LINE { return 0 }
        throw ImportProblem(file, line: arrays.feeds_read + 1, "the JSON array is cut off")
      }
      text.drop(text.count)
      used = 0
      isAtEnd = try !text.fill(from: source)
    }
  }
}
