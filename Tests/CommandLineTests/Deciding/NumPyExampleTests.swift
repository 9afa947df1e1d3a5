import Foundation
import TestSupport
import Testing

/// Goal: the Python program of formats.md reads the folder of `--format npy`, by NumPy itself, and
/// prints what `--format csv` does. `make unit` installs that NumPy.
@Suite struct NumPyExampleTests {
  private static func python(_ arguments: [String], _ place: Workplace) throws -> Run {
    try place.run(["-X", "utf8"] + arguments, executable: URL(filePath: "/usr/bin/python3"))
  }

  /// The first program behind a heading.
  private static func program(behind heading: String) throws -> String {
    let page = String(
      decoding: try Data(contentsOf: Repository.root.appending(path: "docs/formats.md")),
      as: UTF8.self)
    let part = try #require(page.range(of: "### \(heading)\n")).upperBound..<page.endIndex
    let start = try #require(page.range(of: "```python\n", range: part))
    let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
    return String(page[start.upperBound..<end.lowerBound])
  }

  private func expectSame(_ arguments: [String], _ place: Workplace) throws {
    try place.write([Self.program(behind: "NumPy arrays")], as: "example.py")
    #expect(try place.run(arguments + ["--format", "npy", "-o", "out"]).status == 0)
    let python = try Self.python(["example.py", "out"], place)
    #expect(python.errors == "", "it needs NumPy: apt-get install python3-numpy")
    let found = NumPyDecisions.csvRows(python.output)
    let rows = NumPyDecisions.csvRows(try place.run(arguments + ["--format", "csv"]).output)
    #expect(firstDifference(found, Array(rows.dropFirst())) == nil)
  }

  @Test(arguments: VendorWorld.all)
  func theExamplePrintsTheRows(world: VendorWorld) throws {
    try withWorkplace { place in
      try world.write(to: place)
      try expectSame(VendorWorld.evaluate, place)
    }
  }

  @Test
  func theExampleReadsRealAndEmptyArrays() throws {
    let data = Repository.root.appending(path: "data")
    let files = ["users", "members", "messages"].flatMap { kind in
      ["--\(kind)", data.appending(path: "fcc-2016-03-03.\(kind).csv.gz").path]
    }
    try withWorkplace { place in try expectSame(["evaluate"] + files, place) }
    try withWorkplace { place in
      try place.write([SmallWorld.messages[2]], as: "messages.ndjson")
      try expectSame(SmallWorld.evaluate, place)
    }
  }
}
