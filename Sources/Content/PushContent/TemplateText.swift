/// A title or a content with placeholders, taken apart once and rendered for each recipient.
///
/// `{$dynamicFrom}`, `{$fromNickname}` and `{$msg}` are replaced by what a recipient sees of the
/// sender and of the message, `{0}` to `{999}` for the message's own arguments. Everything else is
/// text, also a brace that begins none of these. What is filled in is never looked through again,
/// so a nickname that reads `{$msg}` is shown as it is. A backslash before what would be a
/// placeholder makes text of it and is not shown: `\{2024}` is the text {2024}. Everywhere else a
/// backslash is text.
///
/// - Complexity: taking apart is O(bytes), rendering is O(pieces + bytes rendered).
/// - Source: docs/content.md, "Templates".
public struct TemplateText: Hashable, Sendable {
  /// What the vendor fills in by itself.
  enum BuiltIn: String, CaseIterable, Sendable {
    /// What the recipient calls the sender, else the sender's nickname in the group, else the
    /// sender's push nickname.
    case dynamicFrom
    /// The sender's push nickname.
    case fromNickname
    /// The message's text, or its translation.
    case msg
  }

  enum Piece: Hashable, Sendable {
    case literal(String)
    case argument(Int)
    case builtIn(BuiltIn)
  }

  /// The largest index of a numbered argument.
  public static let maximumArgument = 999

  let pieces: [Piece]

  /// The text of a template.
  ///
  /// - Throws: ``TemplateProblem/unknownArgument(_:)`` for `{$name}` of another name, and
  ///   ``TemplateProblem/argumentOutOfRange(_:)`` for an index over ``maximumArgument``, and
  ///   ``TemplateProblem/ambiguousEscape(_:)`` for several backslashes before a placeholder.
  public init(_ text: String) throws(TemplateProblem) {
    var scanner = TemplateScanner(text)
    try self.init(&scanner)
  }

  init(_ scanner: inout TemplateScanner) throws(TemplateProblem) {
    var pieces: [Piece] = []
    while let piece = scanner.next() {
      switch piece {
      case .text(let text): pieces.append(.literal(text))
      case .number(let digits):
        // However many zeros come first.
        let significant = digits.drop { $0 == "0" }
        guard significant.utf8.count <= 3, let index = significant.isEmpty ? 0 : Int(significant)
        else { throw .argumentOutOfRange(digits) }
        pieces.append(.argument(index))
      case .name(let name):
        guard let builtIn = BuiltIn(rawValue: name) else { throw .unknownArgument(name) }
        pieces.append(.builtIn(builtIn))
      case .ambiguous(let placeholder): throw .ambiguousEscape(placeholder)
      }
    }
    self.pieces = pieces
  }

  /// An argument that a message fills in: built-in arguments count in it, as the vendor's examples
  /// pass `{$msg}` so, and everything else is text, a backslash too.
  init(argument text: String) {
    var scanner = TemplateScanner(text, readsEscapes: false)
    var pieces: [Piece] = []
    while let piece = scanner.next() {
      switch piece {
      case .text(let text), .ambiguous(let text): pieces.append(.literal(text))
      case .number(let digits): pieces.append(.literal("{\(digits)}"))
      case .name(let name):
        pieces.append(BuiltIn(rawValue: name).map { .builtIn($0) } ?? .literal("{$\(name)}"))
      }
    }
    self.pieces = pieces
  }

  /// Renders the text.
  ///
  /// - Returns: the first argument that was asked for and is not there, which is rendered as
  ///   nothing.
  func append(to text: inout LimitedText, _ values: TemplateValues, _ arguments: [TemplateText])
    -> Int?
  {
    var missing: Int?
    for piece in pieces {
      if text.isFull { break }
      switch piece {
      case .literal(let literal): text.append(literal)
      case .builtIn(.msg): text.append(message: values.msg)
      case .builtIn(let builtIn): text.append(values[builtIn])
      case .argument(let index):
        if index < arguments.count {
          _ = arguments[index].append(to: &text, values, [])
        } else if missing == nil {
          missing = index
        }
      }
    }
    return missing
  }
}

/// The values of the built-in arguments, for one recipient.
struct TemplateValues {
  var dynamicFrom = ""
  var fromNickname = ""
  var msg = ""

  subscript(builtIn: TemplateText.BuiltIn) -> String {
    switch builtIn {
    case .dynamicFrom: dynamicFrom
    case .fromNickname: fromNickname
    case .msg: msg
    }
  }
}

/// Takes a text apart at its placeholders.
///
/// A placeholder holds no brace, so that looking for the end of one never looks further than to the
/// next brace: no byte is read more than twice, whatever the text.
struct TemplateScanner {
  enum Piece {
    case text(String)
    /// The digits in `{0}`.
    case number(String)
    /// The name in `{$name}`.
    case name(String)
    /// A placeholder behind several backslashes.
    case ambiguous(String)
  }

  private let bytes: [UInt8]
  private let readsEscapes: Bool
  private var position = 0
  /// A placeholder that ends the text before it.
  private var waiting: (piece: Piece, end: Int)?
  /// How often a byte was read.
  private(set) var stepCount = 0

  /// - Parameter readsEscapes: whether a backslash makes text of a placeholder behind it.
  init(_ text: String, readsEscapes: Bool = true) {
    bytes = Array(text.utf8)
    self.readsEscapes = readsEscapes
  }

  var byteCount: Int { bytes.count }

  /// The next piece; nil at the end.
  mutating func next() -> Piece? {
    if let (piece, end) = waiting {
      waiting = nil
      position = end
      return piece
    }
    let start = position
    while position < bytes.count {
      stepCount += 1
      if bytes[position] == UInt8(ascii: "{"), let found = placeholder(at: position) {
        let found = unescaped(found, at: position)
        if found.start == start {
          position = found.end
          return found.piece
        }
        waiting = (found.piece, found.end)
        position = found.start
        break
      }
      position += 1
    }
    return position == start ? nil : .text(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  /// What a placeholder is behind the backslashes that come before it, and where it begins with
  /// them.
  ///
  /// A backslash is never part of the placeholder before, so this looks at none of its bytes.
  private mutating func unescaped(
    _ found: (piece: Piece, end: Int), at brace: Int
  ) -> (piece: Piece, start: Int, end: Int) {
    guard readsEscapes, isBackslash(brace - 1) else { return (found.piece, brace, found.end) }
    let text = String(decoding: bytes[brace..<found.end], as: UTF8.self)
    return (isBackslash(brace - 2) ? .ambiguous(text) : .text(text), brace - 1, found.end)
  }

  private mutating func isBackslash(_ index: Int) -> Bool {
    guard index >= 0 else { return false }
    stepCount += 1
    return bytes[index] == UInt8(ascii: "\\")
  }

  /// The placeholder whose opening brace is at `brace`; nil when none begins there.
  private mutating func placeholder(at brace: Int) -> (piece: Piece, end: Int)? {
    let isNamed = brace + 1 < bytes.count && bytes[brace + 1] == UInt8(ascii: "$")
    let start = isNamed ? brace + 2 : brace + 1
    var end = start
    while end < bytes.count, isNamed ? bytes[end].isNameCharacter : bytes[end].isDigit {
      stepCount += 1
      end += 1
    }
    guard end > start, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
    let text = String(decoding: bytes[start..<end], as: UTF8.self)
    return (isNamed ? .name(text) : .number(text), end + 1)
  }
}

extension UInt8 {
  var isDigit: Bool { (0x30...0x39).contains(self) }
  /// Letters of ASCII, digits and the underscore.
  var isNameCharacter: Bool {
    isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) || self == 0x5F
  }
}
