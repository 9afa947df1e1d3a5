/// The tokens of a text (O-17): what keywords are compared by.
///
/// Case, width and canonical equivalence make no difference. Letters of scripts that are written
/// without blanks are tokens of one letter each.
public struct TextTokens: Sendable, Hashable {
  /// How many bytes of a message's text are looked at (O-20).
  public static let textLimit = 65_536

  /// The characters of all tokens, one token after the other: the letters, and the marks that follow
  /// each other in the order of their code points.
  package private(set) var characters: [UInt32] = []
  /// Where each token ends among ``characters``.
  package private(set) var ends: [Int] = []

  /// The characters of each token.
  public var tokens: [[UInt32]] { ends.indices.map { Array(self[$0]) } }

  private subscript(token: Int) -> ArraySlice<UInt32> {
    characters[(token == 0 ? 0 : ends[token - 1])..<ends[token]]
  }

  /// The tokens of a text.
  ///
  /// - Complexity: O(bytes), and O(n log n) for n marks that follow each other.
  public init(_ text: some StringProtocol) {
    var reader = Reader(byteCount: text.utf8.count)
    if text.utf8.withContiguousStorageIfAvailable({ unsafe reader.read($0) }) == nil {
      for scalar in text.unicodeScalars { reader.read(scalar.value) }
    }
    reader.close()
    (characters, ends) = (reader.characters, reader.ends)
  }

  /// The tokens of a message's text, of which the first ``textLimit`` bytes are looked at, less a
  /// character that the cut splits.
  public init(ofMessage text: String) {
    guard text.utf8.count > Self.textLimit else {
      self.init(text)
      return
    }
    var end = text.utf8.index(text.utf8.startIndex, offsetBy: Self.textLimit)
    while end.samePosition(in: text.unicodeScalars) == nil { text.utf8.formIndex(before: &end) }
    self.init(text[..<end])
  }

  /// Whether the tokens of a keyword stand one after the other among these.
  ///
  /// - Complexity: O(tokens of both) for most texts.
  public func contains(_ keyword: TextTokens) -> Bool {
    let (length, count) = (keyword.ends.count, ends.count)
    guard 0 < length, length <= count else { return false }
    return (0...(count - length)).contains { start in
      (0..<length).allSatisfy { self[start + $0] == keyword[$0] }
    }
  }

  private struct Reader {
    private let table = CharacterTable.shared
    var characters: [UInt32] = []
    var ends: [Int] = []
    /// Where the open token begins.
    private var start = 0
    private var beganWithRun = false
    /// How many marks at the end of the open token follow each other.
    private var marks = 0

    init(byteCount: Int) {
      characters.reserveCapacity(byteCount)
      ends.reserveCapacity(byteCount / 4)
    }

    /// Reads valid UTF-8.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
      var index = 0
      while index < bytes.count {
        let byte = unsafe bytes[index]
        if byte < 0x80 {
          read(ascii: byte)
          index += 1
          continue
        }
        let length = (~byte).leadingZeroBitCount
        var character = UInt32(byte) & (0x7F >> UInt32(length))
        for offset in 1..<length {
          character = unsafe character << 6 | UInt32(bytes[index + offset] & 0x3F)
        }
        read(character)
        index += length
      }
    }

    @inline(__always)
    private mutating func read(ascii byte: UInt8) {
      let letter = table.asciiLetters[Int(byte)]
      if letter == 0 { return read(UInt32(byte)) }
      if !isOpen || !beganWithRun { begin(isRun: true) }
      if marks > 0 { sortMarks() }
      characters.append(UInt32(letter))
    }

    mutating func read(_ character: UInt32) {
      switch table.kind(of: character) {
      case .dropped: break
      case .folded: for other in table.replacement(of: character) { add(other) }
      case .separator where 0xAC00 <= character && character < 0xD7A4: addSyllable(character)
      default: add(character)
      }
    }

    /// A Hangul syllable, as its letters.
    private mutating func addSyllable(_ character: UInt32) {
      let number = character - 0xAC00
      add(0x1100 + number / 588)
      add(0x1161 + number / 28 % 21)
      if number % 28 != 0 { add(0x11A7 + number % 28) }
    }

    /// A character that is not replaced again.
    private mutating func add(_ character: UInt32) {
      switch table.kind(of: character) {
      case .run:
        if !isOpen || !beganWithRun { begin(isRun: true) }
        sortMarks()
        characters.append(character)
      case .alone:
        begin(isRun: false)
        characters.append(character)
      case .mark:
        if !isOpen { break }
        characters.append(character)
        marks += 1
      case .separator, .dropped, .folded: close()
      }
    }

    private mutating func begin(isRun: Bool) {
      close()
      beganWithRun = isRun
    }

    mutating func close() {
      sortMarks()
      if isOpen { ends.append(characters.count) }
      start = characters.count
    }

    private var isOpen: Bool { start < characters.count }

    private mutating func sortMarks() {
      if marks > 1 { characters[(characters.count - marks)...].sort() }
      marks = 0
    }
  }
}
