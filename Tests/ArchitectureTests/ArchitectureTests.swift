import Foundation
import TestSupport
import Testing

/// Goal: the absences that carry the design stay absent (ARCHITECTURE.md, "Invariants").
@Suite struct ArchitectureTests {
  /// The modules of the table in ARCHITECTURE.md, "Modules", in its order.
  static func modules(in text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let header = lines.firstIndex(where: { $0.hasPrefix("| module |") }) else { return [] }
    return lines[(header + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)
    }
  }

  static func modules() throws -> [String] {
    try folders().map(\.lastPathComponent)
  }

  /// The folders of modules, which stand in groups.
  static func folders() throws -> [URL] {
    let list = {
      try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
    }
    return try list(Repository.root.appending(path: "Sources")).flatMap(list)
  }

  /// The folder of a module, from the root.
  static func folder(of module: String) throws -> String {
    let folder = try #require(try folders().first { $0.lastPathComponent == module })
    return folder.pathComponents.suffix(3).joined(separator: "/")
  }

  @Test func everyModuleHasARow() throws {
    let text = try String(
      contentsOf: Repository.root.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
    #expect(try Self.modules().sorted() == Self.modules(in: text).sorted())
  }

  static func files(under folder: String) throws -> [URL] {
    let found = FileManager.default.enumerator(
      at: Repository.root.appending(path: folder), includingPropertiesForKeys: nil)
    let files = (found?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    try #require(!files.isEmpty, "nothing under \(folder)")
    return files
  }

  static func imports(of file: URL) throws -> Set<String> {
    imports(in: try String(contentsOf: file, encoding: .utf8))
  }

  /// Every module that a text imports: with any access level and attributes, whole or a part of it.
  static func imports(in text: String) -> Set<String> {
    let modifier =
      "(?:@\\w+(?:\\([^)]*\\))?|public|package|internal|fileprivate|private|open)"
    let kind = "(?:typealias|struct|class|enum|protocol|let|var|func)"
    // The same on every call, and right.
    let form = try! Regex("^\\s*(?:\(modifier)\\s+)*import\\s+(?:\(kind)\\s+)?`?(\\w+)")
    let module = { (text: Substring) in
      text.firstMatch(of: form)?.output[1].substring.map { String($0) }
    }
    return Set(
      text.split(whereSeparator: \.isNewline).filter { module($0) != nil }
        .flatMap { $0.split(separator: ";").compactMap(module) })
  }

  @Test func importsOfEveryFormAreFound() {
    let lines = [
      "import A", "public import B", "package import C", "internal import D",
      "fileprivate import E", "private import F", "@testable import G", "@_exported import H",
      "@_exported public import I", "@preconcurrency @testable import J", "  import K  // why",
      "@_spi(Words) import L", "@_implementationOnly import M", "import struct N.Part",
      "public import func O.part", "import P.Sub", "import Q; import R", "import `S`",
      "@testable\timport\tT", "#if canImport(X)", "// import X", "/// What it may import X.",
      "let text = \"import X\"", "let imports = X", "func importX() {}",
    ]
    let names = "ABCDEFGHIJKLMNOPQRST".map { String($0) }
    #expect(Self.imports(in: lines.joined(separator: "\n")) == Set(names))
  }

  /// The compiler checks which modules of the package import each other. It does not check
  /// Foundation, which programs that link only the engine or the service do without.
  @Test func foundationIsImportedWhereItMayBe() throws {
    let modules: Set = ["PushStore", "push-fanout"]
    let files = try Self.files(under: "Sources").filter { file in
      try Self.imports(of: file).contains("Foundation")
        && modules.isDisjoint(with: file.pathComponents)
    }
    #expect(files.map(\.lastPathComponent) == [])
  }

  /// Tables that are taken out of a version that nobody holds may be of pages that are used again.
  @Test func tablesAreReadWithTheirVersion() throws {
    var found: [String] = []
    for file in try Self.files(under: "Sources/Engine/PushFanout") {
      let text = try String(contentsOf: file, encoding: .utf8)
      for words in ["load().tables", "current.tables", "currentVersion.engineVersion"] {
        if text.contains(words) { found.append("\(file.lastPathComponent): \(words)") }
      }
    }
    #expect(found == [])
  }

  /// A path that counts folders from a test's own file breaks when the file is moved.
  @Test func testsFindTheRootByOneHelper() throws {
    let word = "#file" + "Path"
    let files = try Self.files(under: "Tests").filter {
      try String(contentsOf: $0, encoding: .utf8).contains(word)
    }
    #expect(files.map(\.lastPathComponent) == ["Repository.swift"])
  }

  /// What is tagged as slow is left out by `make test-fast`, and nothing else is.
  @Test func slowTestsCanBeLeftOut() throws {
    var slow: [String] = []
    for file in try Self.files(under: "Tests") where file.lastPathComponent != "SlowTests.swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      let counts = [".tags(.s" + "low)", ".unless" + "Fast", ".tags(.s" + "low), .unless" + "Fast"]
        .map { text.components(separatedBy: $0).count - 1 }
      if counts[0] > 0 { slow.append(file.lastPathComponent) }
      #expect(Set(counts).count == 1, "\(file.lastPathComponent): \(counts)")
    }
    #expect(slow.count > 10)
  }

  @Test func noTargetUsesUnsafeFlags() throws {
    let manifest = try String(
      contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(!manifest.contains("unsafeFlags"))
  }

  /// Of benchmarks, examples, server and C library those who use the package fetch and build nothing. With what `make`
  /// adds, the same description has both.
  @Test(arguments: [(developed: "", has: false), ("bindings benchmarks examples server", true)])
  func usersGetOnlyWhatTheyUse(developed: String, has: Bool) throws {
    let description = try Self.description(developed: developed)
    let found = [
      "fanout-bench", "dispatcher", "swift-nio", "PushServer", "PushFanoutC",
    ].map {
      description.contains($0)
    }
    #expect(found == Array(repeating: has, count: 5))
    #expect(description.contains("swift-argument-parser"))
  }

  /// Package.swift as SwiftPM understands it, in JSON.
  static func description(developed: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // In a folder of its own, as SwiftPM waits for others that use the same one.
    let scratch = ScratchFolder()
    process.arguments = [
      "swift", "package", "--package-path", Repository.root.path, "--scratch-path",
      scratch.path("scratch"), "dump-package",
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PUSH_FANOUT_DEVELOP": developed]) { $1 }
    process.standardOutput = output
    try process.run()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return text.replacing("\\/", with: "/")
  }

  /// A file reads in one sitting, a function nearly fits a screen.
  @Test(arguments: ["Sources", "Tests", "Server/Sources", "Server/Tests"])
  func filesAndFunctionsAreShort(folder: String) throws {
    var tooLong: [String] = []
    for file in try Self.files(under: folder) {
      let lines = try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
      if lines.count > 400 { tooLong.append("\(file.lastPathComponent): \(lines.count) lines") }
      for (name, length) in Self.functions(in: lines) where length > 100 {
        tooLong.append("\(file.lastPathComponent): \(name) has \(length) lines")
      }
    }
    #expect(tooLong == [])
  }

  /// A folder of at most 15 files, whose name says what they are for, is seen at once.
  @Test(arguments: ["Sources", "Tests", "Server/Sources", "Server/Tests"])
  func foldersAreSmall(folder: String) throws {
    let counts = try Self.files(under: folder).reduce(into: [String: Int]()) {
      $0[$1.deletingLastPathComponent().path, default: 0] += 1
    }
    #expect(counts.filter { $0.value > 15 } == [:])
  }

  /// What the next field of a record costs: the files that name one, below the store and what prints.
  /// Lower a number with each file that goes. An import writes what its own rules name.
  @Test(arguments: [("allowForce", 6), ("keywords", 10)])
  func fieldsAreNamedInFewFiles(field: String, limit: Int) throws {
    let name = try Regex("\\b\(field)\\b").wordBoundaryKind(.simple)
    let groups = ["Support", "Rules", "Engine", "Files", "Content"]
    let files = try groups.flatMap { try Self.files(under: "Sources/\($0)") }.filter {
      try !$0.pathComponents.contains("PushImport")
        && String(contentsOf: $0, encoding: .utf8).contains(name)
    }
    #expect(files.count <= limit, "\(files.map(\.lastPathComponent).sorted())")
  }

  /// The functions of a formatted file and their lengths: from the line that begins one to the
  /// brace of the same indentation.
  static func functions(in lines: [Substring]) -> [(String, Int)] {
    lines.indices.compactMap { start in
      let line = lines[start]
      guard line.contains("func ") || line.contains(" init("), !line.contains("//"),
        !line.hasSuffix("{}")
      else {
        return nil
      }
      let indentation = line.prefix { $0 == " " }
      guard let end = lines[start...].firstIndex(where: { $0 == indentation + "}" }) else {
        return nil
      }
      return (String(line.drop { $0 == " " }), end - start + 1)
    }
  }

  @Test func theMeasureOfFunctionsWorks() {
    let lines = ["struct A {", "  func long() {", "    x()", "  }", "}"].map { $0[...] }
    let found = Self.functions(in: lines)
    #expect(found.map(\.0) == ["func long() {"])
    #expect(found.map(\.1) == [3])
  }
}
