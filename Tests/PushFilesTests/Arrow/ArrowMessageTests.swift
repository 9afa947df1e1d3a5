import PushFiles
import PushModel
import TestSupport
import Testing

/// Goal: the rows of a stream of messages are read as lines of NDJSON with the same values are: the same
/// messages, and the same first problem, whatever the types of the columns and the batches.
@Suite struct ArrowMessageTests {
  private typealias Table = (fields: ArrowStreamTests.Fields, rows: ArrowFixture.Rows)

  /// What messages of a stream and of a file of lines are: the messages before the first problem, and
  /// that.
  private func messages(_ read: (inout [Message]) throws -> Void) -> ([Message], String) {
    var messages: [Message] = []
    do { try read(&messages) } catch { return (messages, "\(error)") }
    return (messages, "the end")
  }

  /// Where messages of a stream differ from those of the same lines.
  private func differences(_ table: Table, batchSize: Int, rules: RuleSet) -> [String] {
    let lines = table.rows.map { row in
      "{"
        + zip(table.fields, row).filter { !$1.isNull }.map { field, cell in
          quoted(field.name) + ":" + json(cell, isID: Self.messageIDs.contains(field.name))
        }.joined(separator: ",") + "}\n"
    }
    let (expected, problem) = messages { messages in
      let reader = try MessageReader(
        Array(lines.joined().utf8), name: "messages", rules: rules)
      while let message = try reader.next() { messages.append(message) }
    }
    let fixture = ArrowFixture(
      table.fields,
      stride(from: 0, to: table.rows.count, by: batchSize).map {
        Array(table.rows[$0..<min($0 + batchSize, table.rows.count)])
      }, offset: 3)
    let (found, foundProblem) = messages {
      $0 = try fixture.stream(of: .messages).messages(under: rules)
    }
    var differences: [String] = []
    if foundProblem != problem { differences.append("\(foundProblem), not \(problem)") }
    // A stream with a problem gives no messages.
    if problem == "the end", found != expected {
      let place = zip(found, expected).prefix { $0 == $1 }.count
      differences.append("message \(place + 1) of \(found.count), not of \(expected.count)")
    }
    if fixture.unreleased != 0 { differences.append("a batch is not released") }
    return differences
  }

  private static let messageIDs = [
    "id", "conversation", "channel", "sender", "mentions", "replyTo", "replyToUser",
  ]

  private func json(_ cell: Cell, isID: Bool) -> String {
    switch cell {
    case .number(let number) where isID: "\"\(number)\""
    case .list(let items): "[" + items.map { json($0, isID: isID) }.joined(separator: ",") + "]"
    default: cell.json
    }
  }

  /// Messages with any columns, of which some rows have what is unusual or wrong: the same messages, and
  /// the same first problem, as of lines.
  @Test(arguments: RuleSet.allCases, TestSupport.seeds([1, 2, 3, 4, 5, 6]))
  func messagesAreThoseOfLines(
    rules: RuleSet, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let ids: [Cell] = [
      .text("a"), .text("an id that is longer than a view"), .text("\u{E9}\u{4E2D}"), .text("u7"),
    ]
    let forms: [Form] = [.utf8, .large, .views, .dictionary(indices: "C", .utf8)]
    /// For each column what it may have: usual values, and wrong ones.
    let columns: [(name: String, forms: [Form], usual: [Cell], wrong: [Cell])] = [
      ("sender", forms, ids + [.null], [.text("")]),
      ("sentAt", [.integer("l"), .timestamp("tsm:UTC")], [.number(4), .null], [.number(-1)]),
      ("mentionsAll", [.flag], [.flag(true), .flag(false), .null], []),
      ("silent", [.flag], [.flag(true), .flag(false), .null], []),
      ("body", forms, [.text("text"), .text("command"), .null], [.text("loud")]),
      ("text", forms, [.text("deploy"), .text(""), .null], []),
      ("reply", [.flag], [.flag(true), .null], []),
      ("replyTo", forms, ids + [.null], [.text("")]),
      ("decision", forms, [.text("push"), .null], []),
      (
        "mentions", [.list(.utf8, isLarge: false), .list(.views, isLarge: true)],
        [.list([]), .list(ids), .list([ids[1]]), .null], [.list([.text("")]), .list([.null])]
      ),
      ("force", [.flag], [.flag(true), .null], []),
      ("onlineOnly", [.flag], [.flag(true), .null], []),
      ("isMentioned", [.flag], [.flag(false), .null], []),
      ("persisted", [.flag], [.flag(false), .null], []),
      ("backlog", [.flag], [.flag(true), .null], []),
      ("channel", forms, [.text("c1"), .text(""), .null], []),
      ("pushContent", forms, [.text("hi"), .null], []),
      ("replyToUser", forms, ids + [.null], [.text("")]),
      ("mentionsRoles", [.list(.utf8, isLarge: false)], [.list(ids), .null], []),
      ("unknown", forms, [.null], [.text("x")]),
    ]
    for _ in 0..<60 {
      var table = Table(fields: [], rows: [])
      let isNumber = Bool.random(using: &random)
      let idForm: Form = isNumber ? .integer("l") : forms.randomElement(using: &random)!
      let usualIDs = isNumber ? [Cell.number(7), .number(-3)] : ids
      table.fields = [
        ("id", idForm), ("conversation", idForm),
        ("at", [.integer("l"), .timestamp("tsn:UTC")].randomElement(using: &random)!),
      ]
      let others = columns.shuffled(using: &random).prefix(Int.random(in: 0...5, using: &random))
      for column in others {
        table.fields.append((column.name, column.forms.randomElement(using: &random)!))
      }
      // The columns that are always there may be anywhere, and one may be missing.
      let isWhole = Int.random(in: 0..<20, using: &random) > 0
      let faults = Int.random(in: 0..<3, using: &random) == 0 ? 10 : 100_000
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        var row = [
          usualIDs.randomElement(using: &random)!, usualIDs.randomElement(using: &random)!,
          Cell.number(Int64.random(in: 0...9, using: &random)),
        ]
        if Int.random(in: 0..<faults, using: &random) == 0 {
          row[Int.random(in: 0..<3, using: &random)] = .null
        }
        for column in others {
          let isWrong = Int.random(in: 0..<faults, using: &random) == 0
          let cells = isWrong && !column.wrong.isEmpty ? column.wrong : column.usual
          row.append(cells.randomElement(using: &random)!)
        }
        table.rows.append(row)
      }
      if !isWhole {
        table.fields.removeFirst()
        for index in table.rows.indices { table.rows[index].removeFirst() }
      }
      let found = differences(
        table, batchSize: Int.random(in: 1...50, using: &random), rules: rules)
      #expect(found == [], "\(table.fields.map(\.name)), seed \(seed)")
    }
  }

  /// Rows beyond those that are read together, of which the last is wrong.
  @Test func aProblemIsAtItsRow() throws {
    let row: [Cell] = [.text("m"), .text("g"), .number(5)]
    let rows = Array(repeating: row, count: 2100) + [[.text("m"), .null, .number(5)]]
    let table = Table(
      fields: [("id", .utf8), ("conversation", .utf8), ("at", .integer("l"))], rows: rows)
    #expect(differences(table, batchSize: 1500, rules: .easemob) == [])
  }

  @Test func aRowIsNoLongerThanALine() throws {
    let texts = Array(repeating: Cell.text(String(repeating: "x", count: 4096)), count: 2100)
    let fixture = ArrowFixture(
      [
        ("id", .utf8), ("conversation", .utf8), ("at", .integer("l")),
        ("mentions", .list(.utf8, isLarge: false)),
        ("decision", .list(.utf8, isLarge: false)),
      ],
      [
        [
          [.text("m1"), .text("g"), .number(1), .null, .null],
          [.text("m2"), .text("g"), .number(1), .null, .list(texts)],
        ]
      ])
    let error = #expect(throws: FileProblem.self) {
      try fixture.stream(of: .messages).messages(under: .easemob)
    }
    #expect(error?.description == "messages:2: the line is longer than 8388608 bytes")
    #expect(fixture.unreleased == 0)
  }
}
