import CPushFiles
import PushFiles

/// A value of a column.
indirect enum Cell: Sendable {
  case null
  case text(String)
  case number(Int64)
  case flag(Bool)
  case object([String: Cell])
  case list([Cell])

  var json: String {
    switch self {
    case .null: "null"
    case .text(let text): quoted(text)
    case .number(let number): "\(number)"
    case .flag(let flag): "\(flag)"
    case .object(let fields):
      "{"
        + fields.sorted { $0.key < $1.key }.map { quoted($0.key) + ":" + $0.value.json }
        .joined(separator: ",") + "}"
    case .list(let items): "[" + items.map(\.json).joined(separator: ",") + "]"
    }
  }

  var isNull: Bool { if case .null = self { true } else { false } }
}

/// A text as JSON.
func quoted(_ text: String) -> String {
  "\"" + text.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
}

/// The type of a column.
indirect enum Form: Sendable {
  case null, flag
  case utf8, large, views
  case integer(String)
  case timestamp(String)
  case dictionary(indices: String, Form)
  case object([(name: String, form: Form)])
  case list(Form, isLarge: Bool)

  var format: String {
    switch self {
    case .null: "n"
    case .flag: "b"
    case .utf8: "u"
    case .large: "U"
    case .views: "vu"
    case .integer(let format): format
    case .timestamp(let format): format
    case .dictionary(let indices, _): indices
    case .object: "+s"
    case .list(_, let isLarge): isLarge ? "+L" : "+l"
    }
  }
}

/// An Arrow stream of values, whose structures a producer in C would fill in. Its memory is freed
/// with it, and it counts what is not released.
///
/// SAFETY: used on one thread at a time, but for the buffers, which are only read.
@safe final class ArrowFixture: @unchecked Sendable {
  typealias Rows = [[Cell]]
  private let fields: [(name: String, form: Form)]
  private var batches: [Rows]
  /// The rows of columns begin behind so many that do not count.
  private let offset: Int
  private var memory: [UnsafeMutableRawPointer] = unsafe []
  private(set) var unreleased = 0
  /// What the stream says instead of its batch of a number.
  var failure: (batch: Int, words: String)?
  private var given = 0
  private let stream = UnsafeMutablePointer<ArrowArrayStream>.allocate(capacity: 1)

  /// - Parameter batches: each with rows, each with a value for each field.
  init(_ fields: [(name: String, form: Form)], _ batches: [Rows], offset: Int = 0) {
    self.fields = fields
    self.batches = batches
    self.offset = offset
    unsafe stream.initialize(
      to: ArrowArrayStream(
        get_schema: { stream, schema in
          unsafe ArrowFixture.of(stream).write(schema)
          return 0
        },
        get_next: { stream, array in unsafe ArrowFixture.of(stream).next(array) },
        get_last_error: { stream in
          let fixture = unsafe ArrowFixture.of(stream)
          return unsafe fixture.characters(fixture.failure?.words ?? "no error")
        },
        release: { unsafe $0?.pointee.release = nil },
        private_data: Unmanaged.passUnretained(self).toOpaque()))
  }

  deinit {
    while let block = unsafe memory.popLast() { unsafe block.deallocate() }
    unsafe stream.deallocate()
  }

  /// The stream, to be read once while the fixture lives.
  func stream(of rows: ArrowStream.Rows) throws -> ArrowStream {
    try unsafe ArrowStream(UnsafeMutableRawPointer(stream), of: rows)
  }

  private static func of(_ stream: UnsafeMutablePointer<ArrowArrayStream>?) -> ArrowFixture {
    unsafe Unmanaged<ArrowFixture>.fromOpaque(stream!.pointee.private_data).takeUnretainedValue()
  }

  // MARK: Memory

  private func allocate<Value: BitwiseCopyable>(
    _ values: [Value]
  ) -> UnsafeMutablePointer<Value> {
    let start = UnsafeMutablePointer<Value>.allocate(capacity: max(1, values.count))
    unsafe start.update(from: values, count: values.count)
    unsafe memory.append(UnsafeMutableRawPointer(start))
    return unsafe start
  }

  private func characters(_ text: String) -> UnsafePointer<CChar> {
    unsafe UnsafePointer(allocate(Array(text.utf8CString)))
  }

  // MARK: Schema

  private func write(_ schema: UnsafeMutablePointer<ArrowSchema>?) {
    unsafe schema?.pointee = self.schema("", .object(fields))
  }

  private func schema(_ name: String, _ form: Form) -> ArrowSchema {
    var schema = unsafe ArrowSchema()
    unsafe schema.format = characters(form.format)
    unsafe schema.name = characters(name)
    unsafe schema.flags = 2
    unsafe schema.release = { unsafe $0?.pointee.release = nil }
    var children: [UnsafeMutablePointer<ArrowSchema>?] = unsafe []
    switch form {
    case .object(let fields):
      for field in fields {
        unsafe children.append(allocate([self.schema(field.name, field.form)]))
      }
    case .list(let item, _): unsafe children.append(allocate([self.schema("item", item)]))
    case .dictionary(_, let entries):
      unsafe schema.dictionary = allocate([self.schema("", entries)])
    default: break
    }
    unsafe schema.n_children = Int64(children.count)
    unsafe schema.children = allocate(children)
    return unsafe schema
  }

  // MARK: Arrays

  private func next(_ array: UnsafeMutablePointer<ArrowArray>?) -> Int32 {
    if given == failure?.batch { return 5 }
    guard given < batches.count else {
      unsafe array?.pointee = ArrowArray()
      return 0
    }
    let rows = batches[given]
    given += 1
    let columns = fields.indices.map { field in rows.map { $0[field] } }
    var made = unsafe self.array(.object([]), rows.map { _ in .object([:]) }, isRoot: true)
    var children: [UnsafeMutablePointer<ArrowArray>?] = unsafe []
    for (field, column) in zip(fields, columns) {
      unsafe children.append(allocate([self.array(field.form, column)]))
    }
    unsafe made.n_children = Int64(children.count)
    unsafe made.children = allocate(children)
    unsafe made.private_data = Unmanaged.passUnretained(self).toOpaque()
    unsafe made.release = { array in
      unsafe Unmanaged<ArrowFixture>.fromOpaque(array!.pointee.private_data).takeUnretainedValue()
        .unreleased -= 1
      unsafe array!.pointee.release = nil
    }
    unreleased += 1
    unsafe array?.pointee = unsafe made
    return 0
  }

  private func array(_ form: Form, _ cells: [Cell], isRoot: Bool = false) -> ArrowArray {
    var array = unsafe ArrowArray()
    let padding = isRoot ? 0 : offset
    let cells = Array(repeating: Cell.null, count: padding) + cells
    unsafe array.length = Int64(cells.count - padding)
    unsafe array.offset = Int64(padding)
    unsafe array.null_count = -1
    unsafe array.release = { unsafe $0?.pointee.release = nil }
    var validity = [UInt8](repeating: 0, count: cells.count / 8 + 1)
    for (row, cell) in cells.enumerated() where !cell.isNull {
      validity[row / 8] |= 1 << UInt8(row % 8)
    }
    var buffers: [UnsafeRawPointer?] = unsafe [UnsafeRawPointer(allocate(validity))]
    // No bits of nulls where there are none.
    if cells.allSatisfy({ !$0.isNull }) { unsafe buffers[0] = nil }
    switch form {
    case .null: unsafe buffers = []
    case .flag:
      var bits = [UInt8](repeating: 0, count: cells.count / 8 + 1)
      for (row, cell) in cells.enumerated() {
        if case .flag(true) = cell { bits[row / 8] |= 1 << UInt8(row % 8) }
      }
      unsafe buffers.append(UnsafeRawPointer(allocate(bits)))
    case .utf8: unsafe buffers += texts(cells, Int32.self)
    case .large: unsafe buffers += texts(cells, Int64.self)
    case .views: unsafe buffers += views(cells)
    case .integer(let format), .timestamp(let format):
      let numbers = cells.map { if case .number(let number) = $0 { number } else { Int64(0) } }
      unsafe buffers.append(integers(numbers, format))
    case .dictionary(let indices, let entries):
      var keys: [Int64] = []
      var values: [Cell] = []
      for cell in cells {
        // Entries twice, and a null now and then as an entry.
        keys.append(Int64(values.count))
        values.append(cell)
      }
      unsafe buffers[0] = cells.count % 2 == 0 ? nil : buffers[0]
      unsafe buffers.append(integers(keys, indices))
      unsafe array.dictionary = allocate([self.array(entries, values, isRoot: true)])
    case .object(let fields):
      var children: [UnsafeMutablePointer<ArrowArray>?] = unsafe []
      for field in fields {
        let values = cells.map { cell in
          if case .object(let object) = cell { object[field.name] ?? .null } else { Cell.null }
        }
        unsafe children.append(allocate([self.array(field.form, values, isRoot: true)]))
      }
      unsafe array.n_children = Int64(children.count)
      unsafe array.children = allocate(children)
    case .list(let item, let isLarge):
      var items: [Cell] = []
      var offsets: [Int64] = [0]
      for cell in cells {
        if case .list(let list) = cell { items += list }
        offsets.append(Int64(items.count))
      }
      unsafe buffers.append(integers(offsets, isLarge ? "l" : "i"))
      let child: [UnsafeMutablePointer<ArrowArray>?] = unsafe [
        allocate([self.array(item, items, isRoot: true)])
      ]
      unsafe array.n_children = 1
      unsafe array.children = allocate(child)
    }
    unsafe array.n_buffers = Int64(buffers.count)
    unsafe array.buffers = allocate(buffers)
    return unsafe array
  }

  private func texts<Offset: FixedWidthInteger & BitwiseCopyable>(
    _ cells: [Cell], _ type: Offset.Type
  ) -> [UnsafeRawPointer?] {
    var offsets: [Offset] = [0]
    var characters: [UInt8] = []
    for cell in cells {
      if case .text(let text) = cell { characters += Array(text.utf8) }
      offsets.append(Offset(characters.count))
    }
    return unsafe [UnsafeRawPointer(allocate(offsets)), UnsafeRawPointer(allocate(characters))]
  }

  /// Views, long ones in two buffers in turn.
  private func views(_ cells: [Cell]) -> [UnsafeRawPointer?] {
    var long: [[UInt8]] = [[], []]
    var views: [UInt8] = []
    func append(_ number: Int) {
      for shift in [0, 8, 16, 24] { views.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    for (row, cell) in cells.enumerated() {
      var text: [UInt8] = []
      if case .text(let characters) = cell { text = Array(characters.utf8) }
      append(text.count)
      if text.count <= 12 {
        views += text + Array(repeating: 0, count: 12 - text.count)
      } else {
        views += text[..<4]
        append(row % 2)
        append(long[row % 2].count)
        long[row % 2] += text
      }
    }
    return unsafe [
      UnsafeRawPointer(allocate(views)), UnsafeRawPointer(allocate(long[0])),
      UnsafeRawPointer(allocate(long[1])),
      UnsafeRawPointer(allocate(long.map { Int64($0.count) })),
    ]
  }

  private func integers(_ numbers: [Int64], _ format: String) -> UnsafeRawPointer {
    switch format {
    case "c": unsafe UnsafeRawPointer(allocate(numbers.map { Int8(truncatingIfNeeded: $0) }))
    case "C": unsafe UnsafeRawPointer(allocate(numbers.map { UInt8(truncatingIfNeeded: $0) }))
    case "s": unsafe UnsafeRawPointer(allocate(numbers.map { Int16(truncatingIfNeeded: $0) }))
    case "S": unsafe UnsafeRawPointer(allocate(numbers.map { UInt16(truncatingIfNeeded: $0) }))
    case "i": unsafe UnsafeRawPointer(allocate(numbers.map { Int32(truncatingIfNeeded: $0) }))
    case "I": unsafe UnsafeRawPointer(allocate(numbers.map { UInt32(truncatingIfNeeded: $0) }))
    case "f": unsafe UnsafeRawPointer(allocate(numbers.map { Float($0) / 4 }))
    case "g": unsafe UnsafeRawPointer(allocate(numbers.map { Double($0) / 4 }))
    case let format where format.hasPrefix("tss"):
      unsafe UnsafeRawPointer(allocate(numbers.map { $0 / 1000 }))
    // Digits behind the milliseconds are dropped.
    case let format where format.hasPrefix("tsu"):
      unsafe UnsafeRawPointer(allocate(numbers.map { $0 * 1000 + 999 }))
    case let format where format.hasPrefix("tsn"):
      unsafe UnsafeRawPointer(allocate(numbers.map { $0 * 1_000_000 + 1 }))
    default: unsafe UnsafeRawPointer(allocate(numbers))
    }
  }
}
