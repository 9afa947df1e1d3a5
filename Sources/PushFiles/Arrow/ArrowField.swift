/// A field of the schema of a stream of bytes.
struct ArrowField {
  let column: ArrowColumn
  /// The id of the dictionary whose entries have the type of the only child.
  let dictionary: Int64?
  let children: [ArrowField]

  /// The rows that a schema describes.
  ///
  /// - Parameters:
  ///   - path: what problems call the stream.
  ///   - ids: the names of the fields that are ids, or lists of ids.
  init(schema: FlatTable, _ path: String, ids: Set<String>) throws {
    guard try schema.number(0, absent: Int16(0)) == 0 else {
      throw FileProblem.Problem.arrow("the stream is big-endian, which is not read")
    }
    var reader = SchemaReader(path: path, ids: ids)
    children = try reader.fields(of: schema, 1, path, depth: 1, holdsIDs: false)
    dictionary = nil
    column = try ArrowColumn(
      name: "", format: "+s", children: children.map(\.column), dictionary: nil, holdsIDs: false,
      path)
  }

  fileprivate init(
    _ column: ArrowColumn, dictionary: Int64? = nil, _ children: [ArrowField] = []
  ) {
    self.column = column
    self.dictionary = dictionary
    self.children = children
  }
}

/// - Source: Apache Arrow, Schema.fbs, whose fields and types have the numbers below.
private struct SchemaReader {
  let path: String
  let ids: Set<String>
  /// A schema can refer to one field many times, so that a small one has any number of them.
  private var count = 0
  private static let countLimit = 10_000

  init(path: String, ids: Set<String>) {
    self.path = path
    self.ids = ids
  }

  /// The fields that a vector of a schema or of a field has.
  mutating func fields(
    of table: FlatTable, _ vector: Int, _ path: String, depth: Int, holdsIDs: Bool
  ) throws -> [ArrowField] {
    guard let vector = try table.vector(vector, stride: 4) else { return [] }
    var fields: [ArrowField] = []
    for index in 0..<vector.count {
      count += 1
      guard count <= Self.countLimit else { throw problem("the schema has too many fields") }
      guard depth <= ArrowColumn.depthLimit else { throw problem("the type is nested too deeply") }
      let field = try table.table(index, of: vector)
      let name = try field.text(0) ?? ""
      fields.append(
        try self.field(
          field, name, "\(path).\(name)", depth: depth,
          holdsIDs: holdsIDs || depth == 1 && ids.contains(name)))
    }
    return fields
  }

  private mutating func field(
    _ field: FlatTable, _ name: String, _ path: String, depth: Int, holdsIDs: Bool
  ) throws -> ArrowField {
    let children = try fields(of: field, 5, path, depth: depth + 1, holdsIDs: holdsIDs)
    let column = try ArrowColumn(
      name: name, format: Self.format(try field.number(2), try field.table(3)),
      children: children.map(\.column), dictionary: nil, holdsIDs: holdsIDs, path)
    guard let encoding = try field.table(4) else { return ArrowField(column, children) }
    let indices = try encoding.table(1)
    return ArrowField(
      try ArrowColumn(
        name: name, format: try indices.map { try Self.integer($0) } ?? "i", children: [],
        dictionary: column, holdsIDs: holdsIDs, path),
      dictionary: try encoding.number(0), [ArrowField(column, children)])
  }

  private func problem(_ why: String) -> FileProblem {
    FileProblem(file: path, line: nil, problem: .arrow(why))
  }

  /// The format of a type as the C data interface writes it, or the name of one that is not read.
  private static func format(_ type: UInt8, _ details: FlatTable?) throws -> String {
    switch type {
    case 1: return "n"
    case 2: return try details.map { try integer($0) } ?? "an integer without a size"
    case 3:
      switch try details?.number(0, absent: Int16(0)) {
      case 1: return "f"
      case 2: return "g"
      default: return "half float"
      }
    case 5: return "u"
    case 6: return "b"
    case 10:
      let units = ["tss:", "tsm:", "tsu:", "tsn:"]
      let unit = Int(try details?.number(0, absent: Int16(0)) ?? 0)
      return units.indices.contains(unit) ? units[unit] : "timestamp"
    case 12: return "+l"
    case 13: return "+s"
    case 20: return "U"
    case 21: return "+L"
    case 24: return "vu"
    default:
      let names: [UInt8: String] = [
        4: "binary", 7: "decimal", 8: "date", 9: "time", 11: "interval", 14: "union",
        15: "fixed-size binary", 16: "fixed-size list", 17: "map", 18: "duration",
        19: "large binary", 22: "run-end encoded", 23: "binary view", 25: "list view",
        26: "large list view",
      ]
      return names[type] ?? "type number \(type)"
    }
  }

  private static func integer(_ type: FlatTable) throws -> String {
    let isSigned = try type.number(1, absent: UInt8(0)) != 0
    switch try type.number(0, absent: Int32(0)) {
    case 8: return isSigned ? "c" : "C"
    case 16: return isSigned ? "s" : "S"
    case 32: return isSigned ? "i" : "I"
    case 64: return isSigned ? "l" : "L"
    case let bits: return "integer of \(bits) bits"
    }
  }
}
