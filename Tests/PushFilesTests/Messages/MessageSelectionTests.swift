import PushContent
import PushFiles
import PushModel
import Testing

/// Goal: only the messages that are asked for come, bad lines are left out if that is wanted, and an
/// id that does not come is an error.
@Suite struct MessageSelectionTests {
  private static let lines = """
    {"id":"a","conversation":"g","at":1,"text":"one"}
    {"id":"b","conversation":"g","at":2}
    nothing
    {"id":"a","conversation":"g","at":3,"text":"two"}

    """

  private func reader(_ lines: String = Self.lines) throws -> MessageReader {
    try MessageReader(Array(lines.utf8), name: "m.ndjson", rules: .easemob)
  }

  @Test func whatIsAskedForComes() throws {
    for ids in [[], ["a"], ["a", "a", "b"]] as [[Identifier]] {
      var skipped: [Int?] = []
      var reads = 0
      let selection = MessageSelection(
        [try reader()], ids: ids, skipped: { skipped.append($0.line) },
        progress: { _ in reads += 1 })
      var found: [Int64] = []
      while let message = try selection.next() { found.append(message.at.milliseconds) }
      #expect(found == (ids == ["a"] ? [1, 3] : [1, 2, 3]))
      #expect(skipped == [3] && selection.skippedCount == 1 && reads == 3)
      try selection.checkAllFound()
    }
  }

  @Test func contentComesWithTheMessage() throws {
    let selection = MessageSelection([try reader()], ids: ["a"], skipped: { _ in })
    var texts: [String?] = []
    while let next = try selection.nextWithContent() { texts.append(next.content.text) }
    #expect(texts == ["one", "two"])
  }

  @Test func filesAreReadOneAfterTheOther() throws {
    let files = try [reader(), reader()]
    var shares: [Double?] = []
    let selection = MessageSelection(
      files, ids: ["a", "b"], skipped: { _ in }, progress: { shares.append($0) })
    var found: [Int64] = []
    while let message = try selection.next() { found.append(message.at.milliseconds) }
    #expect(found == [1, 2, 3, 1, 2, 3])
    #expect(shares.compactMap { $0 }.sorted() == shares.compactMap { $0 })
    let missing = MessageSelection(try [reader(), reader()], ids: ["z"], skipped: { _ in })
    while try missing.next() != nil {}
    let error = #expect(throws: MissingMessage.self) { try missing.checkAllFound() }
    #expect(error?.description == "no message in m.ndjson, m.ndjson has the id \"z\"")
  }

  @Test func badLinesAreErrorsAndMissingIDsToo() throws {
    let strict = MessageSelection([try reader()], ids: ["b"])
    #expect(try strict.next()?.id == "b")
    let problem = #expect(throws: FileProblem.self) { try strict.next() }
    #expect(problem?.line == 3)

    let missing = MessageSelection([try reader()], ids: ["z", "b", "y"], skipped: { _ in })
    while try missing.next() != nil {}
    let error = #expect(throws: MissingMessage.self) { try missing.checkAllFound() }
    #expect(error?.description == "no message in m.ndjson has the id \"y\"")
    // What is wrong with a whole file is never left out.
    let empty = MessageSelection([try reader("")], skipped: { _ in })
    #expect(throws: FileProblem.self) { try empty.next() }
  }
}
