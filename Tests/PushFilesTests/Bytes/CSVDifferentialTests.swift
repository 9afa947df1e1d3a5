import PushFanout
import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: rows, problems and their lines are those of a reader that takes one byte after the other,
/// wherever a file is cut and however many threads parse it.
@Suite struct CSVDifferentialTests {
  /// What members.csv with the columns `conversation,user` comes to.
  private struct Outcome: Equatable, CustomStringConvertible {
    var problems: [String] = []
    var records = 0
    var members: Set<[String]> = []

    var description: String { "\(records) records, \(members), \(problems)" }

    /// By rows that were taken apart byte by byte.
    init(rows: [CSVBytes.Row]) {
      for row in rows.dropFirst() {
        let isOpen = row.problem == CSVBytes.open
        if !isOpen { records += 1 }
        let missing = zip(["conversation", "user"], row.cells).first { $0.1.isEmpty }?.0
        if let problem = row.problem {
          problems.append("m.csv:\(row.line): \(problem)")
        } else if row.cells.count != 2 {
          problems.append("m.csv:\(row.line): \(row.cells.count) cells in a row of 2 columns")
        } else if let missing {
          problems.append("m.csv:\(row.line): the field \"\(missing)\" is missing")
        } else {
          members.insert(row.cells)
        }
      }
    }

    init(_ bytes: [UInt8], threads: Int, pieceSize: Int) {
      var paths = SettingsPaths(members: ["m.csv"])
      paths.contents["m.csv"] = bytes
      let found = SettingsLoader.check(paths, LoadOptions(threads: threads, pieceSize: pieceSize))
      problems = found.problems.map { "\($0)" }
      records = found.records
      for conversation in found.settings.conversationIDs {
        for user in found.settings.members(of: conversation) {
          members.insert([conversation.text, found.settings.id(of: user).text])
        }
      }
    }
  }

  private func expectEqual(_ text: String, sizes: some Sequence<Int>, _ seed: UInt64 = 0) {
    let bytes = Array(text.utf8)
    let expected = Outcome(rows: CSVBytes.rows(of: bytes))
    for size in sizes {
      for threads in [1, 3] {
        let found = Outcome(bytes, threads: threads, pieceSize: size)
        guard found != expected else { continue }
        Issue.record("seed \(seed), size \(size), \(threads) threads: \(text.debugDescription)")
        return #expect(found == expected)
      }
    }
  }

  @Test func everyShortTextIsTheSame() {
    let alphabet = ["\"", ",", "\r", "\n", "a"]
    var texts = [""]
    for _ in 0..<5 {
      texts = texts.flatMap { text in alphabet.map { text + $0 } }
      for text in texts { expectEqual("conversation,user\n" + text, sizes: [1, 1 << 20]) }
    }
  }

  @Test(arguments: seeds(Array(1...40))) func randomTextsAreTheSame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let headers = [
      "conversation,user\n", "\u{FEFF}\"conversation\",user\r\n", "\n\nconversation,user\n",
    ]
    for _ in 0..<25 {
      var text = random.pick(headers)
      for _ in 0..<Int.random(in: 0...60, using: &random) {
        text += random.pick(["\"", ",", "\r", "\n", " ", "a"])
      }
      expectEqual(text, sizes: [1, 2, 3, 5, 8, 13, 21, 34, 1 << 20], seed)
    }
  }

  /// Mostly rows that can be read, with cells longer than what is looked at together.
  @Test(arguments: seeds(Array(1...40))) func randomRowsAreTheSame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      var text = "conversation,user\n"
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let cells = (0..<(random.chance(90) ? 2 : random.pick([1, 3]))).map { _ in
          var cell = ""
          for _ in 0..<random.pick([1, 1, 2, 5, 20]) {
            cell += random.pick(["g", "user-1", "é", "\u{0}", " ", "+", "a long part of an id"])
          }
          if random.chance(40) { return cell }
          for _ in 0..<Int.random(in: 0...3, using: &random) {
            cell += random.pick(["\"\"", ",", "\n", "\r\n", "\r", "end"])
          }
          return "\"\(cell)\""
        }
        text += cells.joined(separator: ",")
        text += random.pick(["\n", "\n", "\n", "\r\n", "\n\n", "\r\r\n"])
        if random.oneIn(20) { text += random.pick(["\"", "a\"", "\r", "\"a\"b"]) }
      }
      expectEqual(text, sizes: [1, 7, 64, 100, 1 << 20], seed)
    }
  }

  @Test func bytesThatAreNotUTF8AreReported() {
    let text = Array("conversation,user\n\"g\"\"\",\"u\nu\"\n".utf8)
    let ends: [[UInt8]] = [
      [0xFF], [0xC3, 0x2C, 0xA9], [0x22, 0xC3, 0x22, 0x2C, 0x22, 0xA9, 0x22],
    ]
    for end in ends {
      for size in [1, 10, 1 << 20] {
        let found = Outcome(text + end + Array("\ng,v".utf8), threads: 2, pieceSize: size)
        #expect(
          found.problems.map { $0.prefix { $0 != ";" } } == ["m.csv:4: the line is not UTF-8"])
        #expect(found.members == [["g\"", "u\nu"], ["g", "v"]])
      }
    }
  }

  /// Rows that are read one by one go on from piece to piece of 256 KiB.
  @Test(arguments: seeds([1, 2])) func messagesOfALargeFileAreTheSame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var text = "id,conversation,at\n"
    for row in 0..<20_000 {
      text += random.chance(1) ? "stray\"\(row)" : "\"m\n\"\"\(row)\r\n\",g,\"5\""
      text += random.pick(["\n", "\r\n", "\n\n"])
    }
    let expected = CSVBytes.rows(of: Array(text.utf8)).dropFirst().map { row in
      row.problem.map { "m.csv:\(row.line): \($0)" } ?? row.cells[0]
    }
    #expect(text.utf8.count > 256 * 1024)
    let found = try withFolder { folder in
      try folder.write(text.utf8, as: "m.csv")
      return folder.messages("m.csv")
    }
    #expect(found == expected)
  }

  @Test(.tags(.slow), .unlessFast) func rowsAreLimitedByTheirCells() {
    let longest = 8 * 1024 * 1024
    let tooLong = "the line is longer than 8388608 bytes"
    let quotes = String(repeating: "\"\"", count: longest - 1)
    let feeds = String(repeating: "\n", count: longest)
    func problems(_ text: String) -> [String] {
      Outcome(Array(("conversation,user\n" + text).utf8), threads: 2, pieceSize: 1 << 18).problems
    }
    #expect(problems("\"\(quotes)\",\"u\"\ng") == ["m.csv:3: 1 cells in a row of 2 columns"])
    #expect(
      problems("\"\(quotes)a\",u\ng") == [
        "m.csv:2: \(tooLong)", "m.csv:3: 1 cells in a row of 2 columns",
      ])
    // A quote that is never closed.
    #expect(problems("\"\(feeds)") == ["m.csv:2: a quoted cell is never closed"])
    #expect(problems("\"\(feeds)a") == ["m.csv:2: \(tooLong)"])
    #expect(problems("\"\(feeds)\(feeds)\(feeds)").first == "m.csv:2: \(tooLong)")
  }
}

/// Reads CSV byte by byte.
private enum CSVBytes {
  struct Row {
    var line: Int
    var cells: [String]
    var problem: String?
  }

  static let open = "a quoted cell is never closed"
  private static let stray = "a misplaced quote; quote the whole cell and double its quotes"
  private static let lone = "a carriage return without a line feed ends a row"

  private enum Place {
    case rowStart, cellStart, unquoted, quoted, quoteInQuoted
    /// The rest of a line with a misplaced quote.
    case broken
  }

  static func rows(of bytes: [UInt8]) -> [Row] {
    var rows: [Row] = []
    var place = Place.rowStart
    var (cells, cell): ([[UInt8]], [UInt8]) = ([], [])
    var (line, rowLine) = (1, 1)
    // Whether a row may no longer begin on this line, and the next one is refused for it.
    var (isAfterReturn, followsLoneReturn) = (false, false)

    func endCell() {
      cells.append(cell)
      cell = []
    }
    func endRow(_ problem: String? = nil) {
      rows.append(
        Row(
          line: rowLine, cells: cells.map { String(decoding: $0, as: UTF8.self) },
          problem: problem ?? (followsLoneReturn ? lone : nil)))
      (cells, cell, followsLoneReturn) = ([], [], false)
    }

    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    for byte in bytes.dropFirst(hasMark ? 3 : 0) {
      let (isFeed, isReturn) = (byte == 0x0A, byte == 0x0D)
      if place == .broken, !isFeed, !isReturn { followsLoneReturn = false }
      if isAfterReturn, !isFeed, place == .rowStart || isReturn { followsLoneReturn = true }
      isAfterReturn = isReturn && place != .quoted
      if place == .rowStart, !isFeed, !isReturn { rowLine = line }
      switch (place, byte) {
      case (.quoted, 0x22): place = .quoteInQuoted
      case (.quoted, _): cell.append(byte)
      case (.broken, _): if isFeed { place = .rowStart }
      case (.quoteInQuoted, 0x22):
        cell.append(byte)
        place = .quoted
      case (.rowStart, 0x22), (.cellStart, 0x22): place = .quoted
      case (_, 0x22):
        place = .broken
        endRow(stray)
      case (_, 0x2C):
        endCell()
        place = .cellStart
      case (.rowStart, 0x0A), (.rowStart, 0x0D): break
      case (_, 0x0A), (_, 0x0D):
        endCell()
        endRow()
        place = .rowStart
      case (.quoteInQuoted, _):
        place = .broken
        endRow(stray)
      default:
        cell.append(byte)
        place = .unquoted
      }
      if isFeed { line += 1 }
    }
    switch place {
    case .rowStart, .broken: break
    case .quoted: endRow(open)
    case .cellStart, .unquoted, .quoteInQuoted:
      endCell()
      endRow()
    }
    return rows
  }
}
