internal import Glibc

/// The text of a post as Mattermost looks for mentions in it (I-26).
struct MattermostText {
  /// What may be a mention: a text that begins with `@`, in lower case.
  struct Candidate {
    let text: [UInt8]
    /// Whether signs at its end may be dropped until it is found.
    let dropsSigns: Bool
  }

  /// The text without code.
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Adds a field of a post.
  mutating func append(_ field: UnsafeRawBufferPointer) {
    if unsafe field.isEmpty { return }
    if !bytes.isEmpty { bytes.append(0x0A) }
    if unsafe memchr(field.baseAddress!, 0x60, field.count) == nil,
      unsafe memchr(field.baseAddress!, 0x7E, field.count) == nil
    {
      unsafe bytes.append(contentsOf: field)
    } else {
      unsafe appendWithoutCode(Array(field))
    }
  }

  // MARK: Code

  /// Adds text without fenced code, and each paragraph without code spans, for which a blank stands.
  private mutating func appendWithoutCode(_ text: [UInt8]) {
    var fence: (sign: UInt8, count: Int)?
    var paragraph: [UInt8] = []
    var isFirst = true
    for line in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
      if !isFirst { paragraph.append(0x0A) }
      isFirst = false
      let mark = Self.fence(line)
      if let open = fence {
        if let mark, mark.sign == open.sign, mark.count >= open.count, mark.isAlone { fence = nil }
      } else if let mark, mark.isAlone || mark.sign == 0x7E || !mark.hasSign {
        appendWithoutSpans(paragraph)
        paragraph = []
        fence = (mark.sign, mark.count)
      } else {
        paragraph.append(contentsOf: line)
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
          appendWithoutSpans(paragraph)
          paragraph = []
        }
      }
    }
    appendWithoutSpans(paragraph)
  }

  /// The fence that a line is: three signs or more behind at most three blanks, whether nothing stands
  /// behind them, and whether the sign is there again.
  private static func fence(
    _ line: ArraySlice<UInt8>
  ) -> (sign: UInt8, count: Int, isAlone: Bool, hasSign: Bool)? {
    let text = line.drop { $0 == 0x20 }
    guard line.count - text.count <= 3, let sign = text.first, sign == 0x60 || sign == 0x7E else {
      return nil
    }
    let rest = text.drop { $0 == sign }
    guard text.count - rest.count >= 3 else { return nil }
    return (
      sign, text.count - rest.count, rest.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D },
      rest.contains(sign)
    )
  }

  private mutating func appendWithoutSpans(_ text: [UInt8]) {
    let runs = Self.runs(text)
    var (index, run) = (0, 0)
    while index < text.count {
      let byte = text[index]
      if byte == 0x5C, index + 1 < text.count, text[index + 1] < 0x80 {
        bytes.append(contentsOf: text[index...(index + 1)])
        index += 2
      } else if byte != 0x60 {
        bytes.append(byte)
        index += 1
      } else {
        while run < runs.count, runs[run].start < index { run += 1 }
        guard run < runs.count, runs[run].start == index else {
          bytes.append(byte)
          index += 1
          continue
        }
        if let end = runs[run].end {
          bytes.append(0x20)
          index = end
        } else {
          bytes.append(contentsOf: repeatElement(0x60, count: runs[run].count))
          index += runs[run].count
        }
      }
    }
  }

  /// The runs of backticks, and where the span ends that one begins: behind the next run as long.
  private static func runs(_ text: [UInt8]) -> [(start: Int, count: Int, end: Int?)] {
    var runs: [(start: Int, count: Int, end: Int?)] = []
    var index = 0
    while index < text.count {
      let count = text[index...].prefix { $0 == 0x60 }.count
      if count > 0 { runs.append((index, count, nil)) }
      index += max(1, count)
    }
    var ends: [Int: Int] = [:]
    for index in runs.indices.reversed() {
      runs[index].end = ends[runs[index].count]
      ends[runs[index].count] = runs[index].start + runs[index].count
    }
    return runs
  }

  // MARK: Mentions

  /// Whether words are made of a character.
  static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 { return isOfWord(UInt8(scalar.value)) }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      return true
    default: return false
    }
  }

  /// The same of ASCII.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) && byte >= 0x41 || (0x30...0x3A).contains(byte)
      || byte == 0x2E || byte == 0x2D || byte == 0x5F || byte == 0x40
  }

  private static func isSign(_ byte: UInt8) -> Bool {
    byte == 0x3A || byte == 0x2E || byte == 0x2D || byte == 0x5F
  }

  /// Calls `body` with each candidate, in the order of the text.
  func forEachCandidate(_ body: (Candidate) -> Void) {
    var end = 0
    while end < bytes.count {
      guard let sign = bytes[end...].firstIndex(of: 0x40) else { return }
      var start = sign
      while start > end, let length = wordCharacter(before: start), start - length >= end {
        start -= length
      }
      end = sign
      while end < bytes.count, let length = wordCharacter(at: end) { end += length }
      Self.candidates(bytes[start..<end], body)
    }
  }

  /// How many bytes the character of a word has that begins at an offset; nil for another character.
  private func wordCharacter(at offset: Int) -> Int? {
    let byte = bytes[offset]
    if byte < 0x80 { return Self.isOfWord(byte) ? 1 : nil }
    let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
    guard offset + length <= bytes.count,
      let scalar = String(decoding: bytes[offset..<offset + length], as: UTF8.self).unicodeScalars
        .first
    else { return nil }
    return Self.isOfWord(scalar) ? length : nil
  }

  private func wordCharacter(before offset: Int) -> Int? {
    var start = offset - 1
    while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
    return wordCharacter(at: start)
  }

  private static func candidates(_ word: ArraySlice<UInt8>, _ body: (Candidate) -> Void) {
    if word.first == 0x3A, word.last == 0x3A { return }
    let rest = word.drop { isSign($0) }
    if rest.first == 0x40 {
      if rest.dropFirst().allSatisfy({ isSign($0) }) { return }
      return body(Candidate(text: lowercased(rest), dropsSigns: true))
    }
    for part in rest.split(whereSeparator: { $0 == 0x2E || $0 == 0x2D || $0 == 0x3A })
    where part.first == 0x40 && part.count > 1 {
      body(Candidate(text: lowercased(part), dropsSigns: false))
    }
  }

  private static func lowercased(_ text: ArraySlice<UInt8>) -> [UInt8] {
    if text.contains(where: { $0 >= 0x80 }) {
      return Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
    }
    return text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }
}
