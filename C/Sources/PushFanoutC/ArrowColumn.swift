internal import CPushFanoutABI

/// The type of a column.
struct ArrowColumn {
  indirect enum Kind {
    case null
    case bool
    case signed(bytes: Int)
    case unsigned(bytes: Int)
    case float(bytes: Int)
    /// With 32-bit and with 64-bit offsets, and as views.
    case text(isLarge: Bool)
    case views
    /// Milliseconds are `value * multiplier / divisor`.
    case time(multiplier: Int64, divisor: Int64)
    case list(ArrowColumn, isLarge: Bool)
    case object([ArrowColumn])
    /// Its indices, and the type of its values.
    case dictionary(Kind, ArrowColumn)
  }

  let name: String
  let format: String
  let kind: Kind
  /// `"name":`
  private let quotedName: [UInt8]
  /// Deeper types are refused: no record has any.
  private static let depthLimit = 16

  init(_ schema: ArrowSchema, _ path: String, depth: Int = 0) throws {
    guard depth < Self.depthLimit else {
      throw ArrowError("\(path): the type is nested too deeply")
    }
    guard let characters = unsafe schema.format,
      let format = unsafe String(validatingCString: characters)
    else { throw ArrowError("\(path): the schema has no format") }
    name =
      try unsafe schema.name.map { (name) throws in
        guard let name = unsafe String(validatingCString: name) else {
          throw ArrowError("\(path): a name is not UTF-8")
        }
        return name
      } ?? ""
    self.format = format
    var text = ByteBuffer()
    text.appendJSON(name)
    text.append(UInt8(ascii: ":"))
    quotedName = text.bytes
    let path = depth == 0 ? path : "\(path).\(name)"
    var children: [ArrowColumn] = []
    if unsafe schema.n_children > 0 {
      guard unsafe schema.n_children <= 10_000, let list = unsafe schema.children else {
        throw ArrowError("\(path): the schema's children are missing")
      }
      for index in unsafe 0..<Int(schema.n_children) {
        guard let child = unsafe list[index] else {
          throw ArrowError("\(path): the schema's children are missing")
        }
        children.append(try unsafe ArrowColumn(child.pointee, path, depth: depth + 1))
      }
    }
    let kind = try Self.kind(format, children, path)
    if let dictionary = unsafe schema.dictionary {
      self.kind = .dictionary(
        kind, try unsafe ArrowColumn(dictionary.pointee, path, depth: depth + 1))
    } else {
      self.kind = kind
    }
  }

  private static func kind(
    _ format: String, _ children: [ArrowColumn], _ path: String
  ) throws -> Kind {
    switch format {
    case "n": return .null
    case "b": return .bool
    case "c": return .signed(bytes: 1)
    case "C": return .unsigned(bytes: 1)
    case "s": return .signed(bytes: 2)
    case "S": return .unsigned(bytes: 2)
    case "i": return .signed(bytes: 4)
    case "I": return .unsigned(bytes: 4)
    case "l": return .signed(bytes: 8)
    case "L": return .unsigned(bytes: 8)
    case "f": return .float(bytes: 4)
    case "g": return .float(bytes: 8)
    case "u": return .text(isLarge: false)
    case "U": return .text(isLarge: true)
    case "vu": return .views
    case "+s": return .object(children)
    case "+l", "+L":
      guard children.count == 1 else { throw ArrowError("\(path): a list has one child") }
      return .list(children[0], isLarge: format == "+L")
    default:
      if format.hasPrefix("tss:") { return .time(multiplier: 1000, divisor: 1) }
      if format.hasPrefix("tsm:") { return .time(multiplier: 1, divisor: 1) }
      if format.hasPrefix("tsu:") { return .time(multiplier: 1, divisor: 1000) }
      if format.hasPrefix("tsn:") { return .time(multiplier: 1, divisor: 1_000_000) }
      throw ArrowError(
        "\(path): a column of the type \"\(format)\" cannot be read; it must be text, integers, "
          + "bool, a timestamp, a struct or a list")
    }
  }

  func appendName(to text: inout ByteBuffer) throws {
    unsafe quotedName.withUnsafeBytes { unsafe text.append($0) }
  }
}
