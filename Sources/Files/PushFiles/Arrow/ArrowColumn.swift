internal import CPushFiles
internal import PushModel

/// The type of a column.
struct ArrowColumn: Sendable {
  indirect enum Kind: Sendable {
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
  /// Whether integers are ids: their text is that of the digits.
  let holdsIDs: Bool
  let kind: Kind
  /// `"name":`
  let quotedName: [UInt8]
  /// Deeper types are refused: no record has any.
  private static let depthLimit = 16

  /// - Parameters:
  ///   - path: what problems call it.
  ///   - ids: the names of the fields that are ids, or lists of ids.
  init(
    _ schema: ArrowSchema, _ path: String, ids: Set<String>, depth: Int = 0, holdsIDs: Bool = false
  ) throws(FileProblem) {
    func problem(_ why: String, at path: String? = nil) -> FileProblem {
      FileProblem(file: path ?? startPath, line: nil, problem: .arrow(why))
    }
    let startPath = path
    guard depth < Self.depthLimit else { throw problem("the type is nested too deeply") }
    guard let characters = unsafe schema.format,
      let format = unsafe String(validatingCString: characters)
    else { throw problem("the schema has no format") }
    var name = ""
    if let characters = unsafe schema.name {
      guard let text = unsafe String(validatingCString: characters) else {
        throw problem("a name is not UTF-8")
      }
      name = text
    }
    let holdsIDs = holdsIDs || depth == 1 && ids.contains(name)
    let path = depth == 0 ? path : "\(path).\(name)"
    // What a value means, only those know who made the type: a period of pandas is an integer.
    if !["u", "U", "vu"].contains(format), unsafe Self.isExtension(schema.metadata) {
      throw problem("a column of an extension type cannot be read; cast it", at: path)
    }
    var children: [ArrowColumn] = []
    if unsafe schema.n_children > 0 {
      guard unsafe schema.n_children <= 10_000, let list = unsafe schema.children else {
        throw problem("the schema's children are missing", at: path)
      }
      for index in unsafe 0..<Int(schema.n_children) {
        guard let child = unsafe list[index] else {
          throw problem("the schema's children are missing", at: path)
        }
        children.append(
          try unsafe ArrowColumn(
            child.pointee, path, ids: ids, depth: depth + 1, holdsIDs: holdsIDs))
      }
    }
    var dictionary: ArrowColumn?
    if let entries = unsafe schema.dictionary {
      dictionary = try unsafe ArrowColumn(
        entries.pointee, path, ids: [], depth: depth + 1, holdsIDs: holdsIDs)
    }
    self.name = name
    self.format = format
    self.holdsIDs = holdsIDs
    var text: [UInt8] = []
    text.appendJSON(name)
    text.append(UInt8(ascii: ":"))
    quotedName = text
    let kind = try Self.kind(format, children, path)
    self.kind = dictionary.map { .dictionary(kind, $0) } ?? kind
  }

  /// Whether metadata name an extension type: pairs of a key and a value behind their number, each
  /// behind its length.
  private static func isExtension(_ metadata: UnsafePointer<CChar>?) -> Bool {
    guard let metadata = unsafe metadata else { return false }
    let key = "ARROW:extension:name"
    var place = unsafe UnsafeRawPointer(metadata)
    let count = unsafe place.loadUnaligned(as: Int32.self)
    unsafe place += 4
    for part in 0..<2 * Int(max(0, count)) {
      let size = unsafe Int(max(0, place.loadUnaligned(as: Int32.self)))
      unsafe place += 4
      if unsafe part % 2 == 0
        && UnsafeRawBufferPointer(start: place, count: size).elementsEqual(key.utf8)
      {
        return true
      }
      unsafe place += size
    }
    return false
  }

  private static func kind(
    _ format: String, _ children: [ArrowColumn], _ path: String
  ) throws(FileProblem) -> Kind {
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
      guard children.count == 1 else {
        throw FileProblem(file: path, line: nil, problem: .arrow("a list has one child"))
      }
      return .list(children[0], isLarge: format == "+L")
    default:
      if ["tss:", "tsm:", "tsu:", "tsn:"].contains(format) {
        throw FileProblem(
          file: path, line: nil,
          problem: .arrow(
            "the timestamps have no time zone, so that nothing says which instants they are; "
              + "give the column one, such as UTC"))
      }
      if format.hasPrefix("tss:") { return .time(multiplier: 1000, divisor: 1) }
      if format.hasPrefix("tsm:") { return .time(multiplier: 1, divisor: 1) }
      if format.hasPrefix("tsu:") { return .time(multiplier: 1, divisor: 1000) }
      if format.hasPrefix("tsn:") { return .time(multiplier: 1, divisor: 1_000_000) }
      throw FileProblem(
        file: path, line: nil,
        problem: .arrow(
          "a column of the type \"\(format)\" cannot be read; it must be text, integers, bool, "
            + "a timestamp, a struct or a list"))
    }
  }
}
