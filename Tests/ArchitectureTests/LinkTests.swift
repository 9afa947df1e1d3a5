import Foundation
import TestSupport
import Testing

/// Goal: whoever follows a link of the documents, or looks for a section that code names, finds it.
@Suite struct LinkTests {
  private static let root = Repository.root

  /// The documents whose links are followed, by their paths from the root.
  private static func documents() throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
    let folders = ["docs", "reports", "data", "Benchmarks/README.md", "Benchmarks/peers/README.md"]
    let below = folders.flatMap { folder in
      let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      let paths = (names?.allObjects as? [String] ?? []).map { "\(folder)/\($0)" }
      return paths.isEmpty ? [folder] : paths
    }
    return (names + below).filter { $0.hasSuffix(".md") }.sorted()
  }

  private static func text(of path: String) -> String? {
    try? String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The lines of a document with their numbers, without those of blocks of code.
  private static func lines(of text: String) -> [(number: Int, text: Substring)] {
    var isCode = false
    var lines: [(number: Int, text: Substring)] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if line.hasPrefix("```") {
        isCode.toggle()
      } else if !isCode {
        lines.append((index + 1, line))
      }
    }
    return lines
  }

  private static func headings(of text: String) -> [String] {
    lines(of: text).compactMap { $0.text.wholeMatch(of: #/#{1,6} (.+)/#).map { String($0.1) } }
  }

  /// What follows `#` in links to a document's headings, as GitHub forms it: in lower case, blanks as
  /// hyphens, without punctuation; a second heading of the same words ends in -1, and so on.
  private static func anchors(of text: String) -> Set<String> {
    var counts: [String: Int] = [:]
    return Set(
      headings(of: text).map { heading in
        let kept = heading.lowercased().filter {
          $0.isLetter || $0.isNumber || "-_ ".contains($0)
        }
        let anchor = kept.replacing(" ", with: "-")
        counts[anchor, default: 0] += 1
        let before = counts[anchor]! - 1
        return before == 0 ? anchor : "\(anchor)-\(before)"
      })
  }

  /// What links there are in a document, and which of them lead nowhere.
  private static func check(_ text: String, at path: String) -> (count: Int, broken: [String]) {
    var (count, broken) = (0, [String]())
    let folder = URL(fileURLWithPath: "/" + path).deletingLastPathComponent()
    for (number, line) in lines(of: text) {
      // Code in a line is no link, but a link may be called like code.
      for link in line.replacing(#/`[^`]*`/#, with: "").matches(of: #/\]\(([^)\s]+)\)/#) {
        let target = link.1
        if target.contains(#/^[a-z]+:/#) { continue }
        count += 1
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].isEmpty ? path : folder.appending(path: parts[0]).standardized.path
        let isThere =
          parts[0].isEmpty
          || FileManager.default.fileExists(atPath: root.appending(path: place).path)
        let anchors = Self.anchors(of: parts[0].isEmpty ? text : Self.text(of: place) ?? "")
        if !isThere || parts.count == 2 && !anchors.contains(String(parts[1])) {
          broken.append("\(path):\(number): \(target)")
        }
      }
    }
    return (count, broken)
  }

  @Test func everyLinkLeadsSomewhere() throws {
    var (count, broken) = (0, [String]())
    let documents = try Self.documents()
    #expect(Set(documents).isSuperset(of: ["docs/README.md", "docs/internals/store-file.md"]))
    for path in documents {
      let found = Self.check(try #require(Self.text(of: path)), at: path)
      count += found.count
      broken += found.broken
    }
    #expect(broken == [])
    #expect(count > 30, "the links are no longer found")
  }

  /// The check sees what it is there for.
  @Test func whatLeadsNowhereIsFound() {
    let text = """
      # One, and two
      [a](#one-and-two) [b](#one-two) [c](formats.md) [d](gone.md) [e](../README.md#license)
      [f](formats.md#csv) [g](formats.md#gone) [h](https://example.org/#x) `[i](gone.md)`
      ```
      [j](gone.md)
      # Three
      ```
      [k](#three) [`l`](gone.md) [m](#one-and-two-1)
      # One and two
      """
    let found = Self.check(text, at: "docs/new.md")
    #expect(found.count == 10)
    #expect(
      found.broken == [
        "docs/new.md:2: #one-two", "docs/new.md:2: gone.md", "docs/new.md:3: formats.md#gone",
        "docs/new.md:8: #three", "docs/new.md:8: gone.md",
      ])
  }

  /// Code names sections by the document and the words in quotes: headings, up to what explains them, or words in
  /// bold that begin a paragraph.
  @Test func everySectionThatCodeNamesIsThere() throws {
    var (count, missing) = (0, [String]())
    for file in try ["Sources", "Tests"].flatMap({ try ArchitectureTests.files(under: $0) }) {
      let code = try String(contentsOf: file, encoding: .utf8)
      for reference in code.matches(of: #/([\w\/]+\.md), ("[^"\n]+"(?: and "[^"\n]+")*)/#) {
        let path = String(reference.1)
        let document = try #require(
          Self.text(of: path) ?? Self.text(of: "docs/" + path), "\(file.path) names \(path)")
        let sections =
          Self.headings(of: document)
          + document.matches(of: #/(?m)^\*\*([^*]+)\.\*\*/#).map { String($0.1) }
        for name in reference.2.matches(of: #/"([^"]+)"/#).map(\.1) {
          count += 1
          let isThere = sections.contains {
            $0 == name || $0.hasPrefix(name + " — ") || $0.hasPrefix(name + " (")
          }
          if !isThere { missing.append("\(file.lastPathComponent): \(path), \(name)") }
        }
      }
    }
    #expect(missing == [])
    #expect(count > 20, "the references are no longer found")
  }
}
