internal import CPushFiles

/// Makes the arrays of a batch from its nodes and buffers, which are in the order of the fields.
///
/// - Source: Apache Arrow, Message.fbs, whose fields have the numbers below.
///
/// SAFETY: the arrays point into the body, and are valid with it and with their memory.
@safe struct ArrowBatchReader {
  private let batch: FlatTable
  private let body: UnsafeRawBufferPointer
  private let dictionaries: [Int64: ArrowMemory.Owned]
  private let memory = ArrowMemory()
  /// Each has two numbers: rows and nulls, and where a buffer begins and its size.
  private let nodes: FlatTable.Vector
  private let buffers: FlatTable.Vector
  /// How many buffers of characters each column of views has.
  private let viewBuffers: FlatTable.Vector?
  private var nextNode = 0
  private var nextBuffer = 0
  private var nextViews = 0

  init(
    _ batch: FlatTable, _ body: UnsafeRawBufferPointer, _ dictionaries: [Int64: ArrowMemory.Owned]
  ) throws {
    guard try batch.table(3) == nil else {
      throw FileProblem.Problem.arrow("the stream is compressed; send it without compression")
    }
    guard let nodes = try batch.vector(1, stride: 16), let buffers = try batch.vector(2, stride: 16)
    else { throw FileProblem.Problem.arrow("the stream has a batch without columns") }
    self.batch = batch
    unsafe self.body = unsafe body
    self.dictionaries = dictionaries
    self.nodes = nodes
    self.buffers = buffers
    viewBuffers = try batch.vector(4, stride: 8)
  }

  mutating func rows(_ root: ArrowField) throws -> ArrowMemory.Owned {
    let length: Int64 = try batch.number(0)
    try check(length, of: root.column)
    return unsafe ArrowMemory.Owned(
      array: make(length, [nil], try root.children.map { try unsafe array($0) }), memory: memory)
  }

  mutating func entries(_ field: ArrowField) throws -> ArrowMemory.Owned {
    unsafe ArrowMemory.Owned(array: try array(field), memory: memory)
  }

  private mutating func array(_ field: ArrowField) throws -> ArrowArray {
    let column = field.column
    guard nextNode < nodes.count else { throw damaged(column, "is missing") }
    let length = try batch.number(2 * nextNode, of: nodes)
    let nulls = try batch.number(2 * nextNode + 1, of: nodes)
    nextNode += 1
    try check(length, of: column)
    guard case .null = column.kind else {
      return try unsafe array(field, Int(length), hasNulls: nulls != 0)
    }
    return unsafe make(length, [], [])
  }

  private mutating func array(
    _ field: ArrowField, _ length: Int, hasNulls: Bool
  ) throws -> ArrowArray {
    let column = field.column
    var list: [UnsafeRawPointer?] = unsafe []
    let validity = try unsafe buffer(column)
    guard unsafe validity.isEmpty ? !hasNulls : validity.count >= (length + 7) / 8 else {
      throw damaged(column, "has too few bits of nulls")
    }
    unsafe list.append(hasNulls ? validity.baseAddress : nil)
    switch column.kind {
    case .object: break
    case .bool: try unsafe list.append(values(column, bytes: (length + 7) / 8))
    case .signed(let size), .unsigned(let size), .float(let size),
      .dictionary(.signed(let size), _), .dictionary(.unsigned(let size), _):
      try unsafe list.append(values(column, bytes: length * size))
    case .time: try unsafe list.append(values(column, bytes: length * 8))
    case .text(let isLarge):
      let offsets = try unsafe buffer(column)
      let characters = try unsafe buffer(column)
      try unsafe list.append(
        check(offsets, column, length, isLarge: isLarge, limit: characters.count))
      unsafe list.append(characters.baseAddress)
    case .views:
      try unsafe list.append(values(column, bytes: length * 16))
      try unsafe appendCharacters(of: column, to: &list)
    case .list(_, let isLarge):
      let offsets = try unsafe buffer(column)
      let child = try unsafe array(field.children[0])
      try unsafe list.append(
        check(offsets, column, length, isLarge: isLarge, limit: Int(child.length)))
      return unsafe make(Int64(length), list, [child])
    case .dictionary, .null: throw damaged(column, "has indices that are no integers")
    }
    if let id = field.dictionary {
      guard let dictionary = dictionaries[id] else { throw damaged(column, "lacks its dictionary") }
      memory.keep(dictionary.memory)
      var array = unsafe make(Int64(length), list, [])
      unsafe array.dictionary = unsafe memory.allocate([dictionary.array])
      return unsafe array
    }
    return unsafe make(Int64(length), list, try field.children.map { try unsafe array($0) })
  }

  // MARK: Buffers

  private mutating func buffer(_ column: ArrowColumn) throws -> UnsafeRawBufferPointer {
    guard nextBuffer < buffers.count else { throw damaged(column, "lacks buffers") }
    let start = try batch.number(2 * nextBuffer, of: buffers)
    let size = try batch.number(2 * nextBuffer + 1, of: buffers)
    nextBuffer += 1
    let room = unsafe Int64(body.count)
    guard start >= 0, size >= 0, start <= room, size <= room - start else {
      throw damaged(column, "has a buffer that is not in its message")
    }
    return unsafe UnsafeRawBufferPointer(rebasing: body[Int(start)..<Int(start + size)])
  }

  /// The buffer of values, of that size at least.
  private mutating func values(
    _ column: ArrowColumn, bytes: Int
  ) throws -> UnsafeRawPointer? {
    let values = try unsafe buffer(column)
    guard values.count >= bytes else { throw damaged(column, "has fewer values than rows") }
    return values.baseAddress
  }

  /// The buffers of characters that views are parts of, and one of the sizes of these, as the C
  /// data interface has them.
  private mutating func appendCharacters(
    of column: ArrowColumn, to list: inout [UnsafeRawPointer?]
  ) throws {
    guard let viewBuffers, nextViews < viewBuffers.count else {
      throw damaged(column, "lacks buffers")
    }
    var sizes: [Int64] = []
    for _ in 0..<max(0, try batch.number(nextViews, of: viewBuffers)) {
      let characters = try unsafe buffer(column)
      unsafe list.append(characters.baseAddress)
      sizes.append(Int64(characters.count))
    }
    nextViews += 1
    unsafe list.append(UnsafeRawPointer(memory.allocate(sizes)))
  }

  /// Checks the offsets of texts or lists, which ascend up to `limit` at most.
  private func check(
    _ offsets: UnsafeRawBufferPointer, _ column: ArrowColumn, _ length: Int, isLarge: Bool,
    limit: Int
  ) throws -> UnsafeRawPointer? {
    // A column without rows may do without its one offset.
    if unsafe length == 0 && offsets.isEmpty {
      return unsafe UnsafeRawPointer(memory.allocate([0]))
    }
    let size = isLarge ? 8 : 4
    guard offsets.count >= (length + 1) * size else {
      throw damaged(column, "has fewer values than rows")
    }
    var last = 0
    for index in 0...length {
      let offset =
        isLarge
        ? unsafe Int(offsets.loadUnaligned(fromByteOffset: index * size, as: Int64.self))
        : unsafe Int(offsets.loadUnaligned(fromByteOffset: index * size, as: Int32.self))
      guard offset >= last, offset <= limit else {
        throw damaged(column, "has offsets that descend or are out of range")
      }
      last = offset
    }
    return offsets.baseAddress
  }

  /// Checks a number of rows: each has a bit at least, or a few bytes could say that there are any.
  private func check(_ length: Int64, of column: ArrowColumn) throws {
    guard unsafe length >= 0 && length <= Int64(body.count) * 8 else {
      throw damaged(column, "has more rows than bits")
    }
  }

  private func damaged(_ column: ArrowColumn, _ what: String) -> FileProblem.Problem {
    .arrow("the stream is damaged: the column \"\(column.name)\" \(what)")
  }

  private func make(
    _ length: Int64, _ list: [UnsafeRawPointer?], _ children: [ArrowArray]
  ) -> ArrowArray {
    var array = unsafe ArrowArray()
    unsafe array.length = length
    unsafe array.n_buffers = Int64(list.count)
    unsafe array.buffers = unsafe memory.allocate(list)
    unsafe array.n_children = Int64(children.count)
    if unsafe !children.isEmpty {
      unsafe array.children = unsafe memory.allocate(
        children.map { child in unsafe Optional(memory.allocate([child])) })
    }
    return unsafe array
  }
}

/// Memory of the structures that describe a batch, freed with it.
///
/// SAFETY: written by who makes the structures, and only read afterwards.
@safe final class ArrowMemory: @unchecked Sendable {
  /// An array, and what its pointers lead to beside the bytes of the stream.
  @safe struct Owned {
    let array: ArrowArray
    let memory: ArrowMemory
  }

  private var blocks: [UnsafeMutableRawPointer] = unsafe []
  /// Dictionaries, which a stream may replace while a batch still has them.
  private var kept: [ArrowMemory] = []

  func keep(_ other: ArrowMemory) { kept.append(other) }

  func allocate<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafeMutablePointer<Value> {
    let start = UnsafeMutablePointer<Value>.allocate(capacity: max(1, values.count))
    unsafe start.update(from: values, count: values.count)
    unsafe blocks.append(UnsafeMutableRawPointer(start))
    return unsafe start
  }

  deinit {
    while let block = unsafe blocks.popLast() { unsafe block.deallocate() }
  }
}
