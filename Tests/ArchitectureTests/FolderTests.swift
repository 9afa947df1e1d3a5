import Foundation
import TestSupport
import Testing

/// Goal: folders depend on each other in one direction, and where they do not, no more come.
@Suite struct FolderTests {
  /// Folders of Sources that may use each other, so many pairs. Lower it with each that goes.
  private static let limit = 15

  /// A file as the checker sees it.
  struct File {
    let folder: String
    let module: String
    let text: String
  }

  /// The pairs of folders of which each names types that a file of the other declares.
  ///
  /// Across modules only what a file imports counts. Types that several files declare are left out;
  /// extensions and functions are not followed.
  static func pairs(_ files: [File]) -> Set<String> {
    let declaration = try! Regex<(Substring, Substring)>(
      #"(?m)^(?:@\w+(?:\([^)]*\))?\s+)*"#
        + #"(?:(?:public|package|internal|fileprivate|private|final|indirect|open|nonisolated)\s+)*"#
        + #"(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)"#)
    let texts = files.map {
      $0.text.replacing(#/(?m)\/\/.*$/#, with: "").replacing(#/"(?:\\.|[^"\\\n])*"/#, with: "")
    }
    var homes: [Substring: Set<Int>] = [:]
    for (index, text) in texts.enumerated() {
      for match in text.matches(of: declaration) {
        homes[match.output.1, default: []].insert(index)
      }
    }
    // Unicode's default boundaries find no word in front of a dot.
    let typeName = #/\b[A-Z]\w*\b/#.wordBoundaryKind(.simple)
    var uses: Set<[String]> = []
    for (file, text) in zip(files, texts) {
      let imports = Set(text.matches(of: #/(?m)^(?:@\w+ )?(?:\w+ )?import ([\w]+)/#).map(\.1))
      for name in Set(text.matches(of: typeName).map(\.output)) {
        guard let home = homes[name], home.count == 1, let home = home.first.map({ files[$0] }),
          home.folder != file.folder,
          home.module == file.module || imports.contains(home.module[...])
        else { continue }
        uses.insert([file.folder, home.folder])
      }
    }
    return Set(
      uses.filter { uses.contains([$0[1], $0[0]]) && $0[0] < $0[1] }.map {
        $0.joined(separator: " and ")
      })
  }

  @Test func noMoreFoldersUseEachOther() throws {
    let root = Repository.root.appending(path: "Sources").path + "/"
    let files = try ArchitectureTests.files(under: "Sources").map { url in
      let parts = url.deletingLastPathComponent().path.dropFirst(root.count).split(separator: "/")
      return File(
        folder: parts.joined(separator: "/"),
        module: String(parts[1]).replacing("-", with: "_"),
        text: try String(contentsOf: url, encoding: .utf8))
    }
    let pairs = Self.pairs(files)
    #expect(pairs.count <= Self.limit, "\(pairs.sorted().joined(separator: "\n"))")
  }

  @Test func circlesAreFound() {
    func file(_ folder: String, _ module: String, _ text: String) -> File {
      File(folder: folder, module: module, text: text)
    }
    let files = [
      file("a", "M", "struct One {}\nlet text = \"Three\" // Two\n"),
      file("b", "M", "public final class Two {\n  var one: One\n}\n"),
      file("c", "M", "enum Three {}\nlet one = One(), four = Four()\n"),
      file("d", "N", "import M\nenum Four { case three(Three) }\n"),
    ]
    #expect(Self.pairs(files) == [])
    let circle = files + [file("a", "M", "extension One { func two() -> Two }")]
    #expect(Self.pairs(circle) == ["a and b"])
    let dot = files + [file("a", "M", "extension One { func two() { Two.make() } }")]
    #expect(Self.pairs(dot) == ["a and b"])
    #expect(Self.pairs(files + [file("c", "M", "import N\nlet four = Four()")]) == ["c and d"])
  }
}
