import Foundation
import Testing

/// Goal: the absences that carry the design stay absent (ARCHITECTURE.md, "Architecture").
@Suite struct ArchitectureTests {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What a module may import, and nothing else.
  static let allowed: [String: Set<String>] = [
    "PushSupport": ["Dispatch", "Synchronization", "Glibc"],
    "PushRules": [],
    "PushFoundation": ["PushRules", "Foundation"],
    "QuietTime": ["PushRules", "Glibc"],
    "PushReference": ["PushRules", "Foundation"],
    "PushFanout": [
      "PushRules", "QuietTime", "CPushKernels", "Algorithms", "HeapModule", "Dispatch",
      "Synchronization", "Glibc",
    ],
    "PushContent": ["PushRules", "Dispatch", "Synchronization", "Glibc"],
    "PushFiles": [
      "PushRules", "QuietTime", "PushFanout", "PushContent", "CPushFiles", "Dispatch",
      "Synchronization", "Glibc",
    ],
    "PushStore": [
      "PushRules", "QuietTime", "PushFanout", "PushContent", "CPushSQLite", "GRDB", "Foundation",
      "Dispatch", "Glibc", "Synchronization",
    ],
    "PushService": [
      "PushRules", "PushFanout", "PushContent", "PushFiles", "Synchronization",
    ],
    "PushStoreService": ["PushRules", "PushFanout", "PushContent", "PushStore", "PushService"],
    "PushReplay": [
      "PushRules", "QuietTime", "PushFanout", "PushFiles", "Dispatch", "Synchronization",
      "Glibc", "Foundation",
    ],
    "PushReport": ["PushRules", "QuietTime", "PushReplay", "Glibc"],
    "PushWorkload": ["PushRules", "Dispatch", "Synchronization", "Glibc"],
    "push-fanout": [
      "PushRules", "PushFoundation", "QuietTime", "PushReference", "PushFanout", "PushContent",
      "PushFiles", "PushService", "PushStore", "PushReplay", "PushReport", "PushWorkload",
      "ArgumentParser", "Foundation", "Glibc", "Dispatch", "Synchronization",
    ],
  ]

  static func files(under folder: String) throws -> [URL] {
    let found = FileManager.default.enumerator(
      at: root.appending(path: folder), includingPropertiesForKeys: nil)
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

  @Test(arguments: allowed.keys.sorted())
  func aModuleImportsOnlyWhatItMay(module: String) throws {
    for file in try Self.files(under: "Sources/\(module)") {
      let foreign = try Self.imports(of: file).subtracting(Self.allowed[module] ?? [])
        .subtracting(["PushSupport"])
      #expect(foreign == [], "\(file.lastPathComponent)")
    }
  }

  @Test func everyModuleIsListed() throws {
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appending(path: "Sources").path)
    #expect(
      Set(folders).subtracting(Self.allowed.keys) == ["CPushFiles", "CPushKernels", "CPushSQLite"])
  }

  /// Results are read and written by Foundation's coders; nothing else of a replay needs it.
  @Test func onlyOneFileOfPushReplayImportsFoundation() throws {
    let files = try Self.files(under: "Sources/PushReplay").filter {
      try Self.imports(of: $0).contains("Foundation")
    }
    #expect(files.map(\.lastPathComponent) == ["ReplayFile.swift"])
  }

  /// Tables that are taken out of a version that nobody holds may be of pages that are used again.
  @Test func tablesAreReadWithTheirVersion() throws {
    var found: [String] = []
    for file in try Self.files(under: "Sources/PushFanout") {
      let text = try String(contentsOf: file, encoding: .utf8)
      for words in ["load().tables", "current.tables", "currentVersion.engineVersion"] {
        if text.contains(words) { found.append("\(file.lastPathComponent): \(words)") }
      }
    }
    #expect(found == [])
  }

  @Test func noTargetUsesUnsafeFlags() throws {
    let manifest = try String(
      contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(!manifest.contains("unsafeFlags"))
  }

  /// A file reads in one sitting, a function nearly fits a screen.
  @Test(arguments: ["Sources", "Tests"])
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
