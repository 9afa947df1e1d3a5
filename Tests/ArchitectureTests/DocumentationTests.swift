import Foundation
import TestSupport
import Testing

/// Goal: every public declaration says what it is.
///
/// A scan of formatted sources: a declaration is documented when the line before it, or before its
/// attributes, is a `///` comment. Cases of public enumerations and requirements of public protocols
/// are public, too. What implements a protocol of the standard library has that one's documentation.
@Suite struct DocumentationTests {
  /// The modules whose public declarations are all documented; the others come as they are done.
  static let documented = [
    "PushContent", "PushFanout", "PushFiles", "PushReference", "PushReplay",
    "PushReport", "PushModel", "PushService", "PushStore", "PushStoreService", "PushSupport",
    "PushWorkload", "QuietTime", "push-fanout",
  ]

  static let protocolMembers = [
    "func", "var", "static", "mutating", "init", "associatedtype", "subscript",
  ]

  static let inherited = [
    "var description:", "func ==", "func <", "func hash(into", "func makeIterator()",
    "mutating func next()", "func encode(to", "init(from decoder", "var errorDescription:",
  ]

  /// Rules that code cites can be read.
  @Test func citedRulesStandInAPage() throws {
    func numbers(_ files: [URL]) throws -> Set<String> {
      try files.reduce(into: []) { found, file in
        let text = try String(contentsOf: file, encoding: .utf8)
        found.formUnion(text.matches(of: #/\b[EROIS]-[0-9]+\b/#).map { String($0.output) })
      }
    }
    let pages = try FileManager.default.subpathsOfDirectory(
      atPath: Repository.root.appending(path: "docs").path)
    let stated = try numbers(
      pages.filter { $0.hasSuffix(".md") }.map { Repository.root.appending(path: "docs/\($0)") })
    let cited = try numbers(ArchitectureTests.files(under: "Sources"))
    #expect(cited.subtracting(stated).sorted() == [])
    #expect(cited.count > 100)
  }

  @Test(arguments: documented)
  func everyPublicDeclarationIsDocumented(module: String) throws {
    let missing = try ArchitectureTests.files(under: ArchitectureTests.folder(of: module)).flatMap {
      file in
      let text = try String(contentsOf: file, encoding: .utf8)
      return Self.undocumented(in: text).map { "\(file.lastPathComponent):\($0)" }
    }
    #expect(missing == [])
  }

  /// The public declarations of a file without a comment, each with its line.
  static func undocumented(in text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // The indentation of the body of each open public enumeration or protocol, and what in it is
    // public without saying so.
    var publicBodies: [(indentation: Int, members: [String])] = []
    var missing: [String] = []
    for (number, line) in lines.enumerated() {
      let indentation = line.prefix { $0 == " " }.count
      let declaration = line.dropFirst(indentation)
      if declaration.hasPrefix("}") { publicBodies.removeAll { $0.indentation > indentation } }
      var words = declaration.split(separator: " ").drop { $0.hasPrefix("@") }
      // Arguments of attributes may be of several words.
      while words.first?.hasSuffix(")") == true || words.first?.hasPrefix("@") == true {
        words = words.dropFirst()
      }
      let isPublic = words.first == "public" || words.first == "open"
      let first = words.first.map { String($0.prefix(while: \.isLetter)) } ?? ""
      let isMember = publicBodies.contains {
        $0.indentation == indentation && $0.members.contains(first)
      }
      guard isPublic && words.dropFirst().first != "import" || isMember else { continue }
      if isPublic, line.hasSuffix("{") {
        if words.contains("enum") { publicBodies.append((indentation + 2, ["case"])) }
        if words.contains("protocol") {
          publicBodies.append((indentation + 2, protocolMembers))
        }
      }
      // An extension has no documentation of its own.
      if words.contains("extension") || inherited.contains(where: { declaration.contains($0) }) {
        continue
      }
      var before = number - 1
      while before >= 0, lines[before].drop(while: { $0 == " " }).hasPrefix("@") { before -= 1 }
      let above = before >= 0 ? lines[before].drop { $0 == " " } : ""
      if !above.hasPrefix("///") { missing.append("\(number + 1): \(declaration)") }
    }
    return missing
  }

  @Test func theScanFindsWhatIsMissing() {
    let text = """
      public import PushModel

      /// Documented.
      public struct A {
        /// Documented.
        @inlinable
        public var a: Int { 1 }
        public var b: Int { 2 }
        var c: Int { 3 }
        public var description: String { "" }
      }

      public enum B {
        /// Documented.
        case one
        case two

        var own: Int {
          switch self {
          case .one: 1
          case .two: 2
          }
        }
      }

      enum C {
        case three
      }

      @safe public final class D {
        public init() {}
      }

      /// Documented.
      public protocol E {
        /// Documented.
        func a()
        func b()
      }
      """
    #expect(
      Self.undocumented(in: text) == [
        "8: public var b: Int { 2 }", "13: public enum B {", "16: case two",
        "30: @safe public final class D {", "31: public init() {}", "38: func b()",
      ])
  }
}
