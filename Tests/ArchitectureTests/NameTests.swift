import Foundation
import Testing

/// Goal: names that were given up (docs/moved.md) do not come back, and a word has one meaning.
@Suite struct NameTests {
  /// The words that a module no longer uses, but in the phrases behind them.
  static let refused: [String: [(word: String, allowed: [String])]] = [
    "PushFanout": [
      ("place", ["in place"]), ("places", []), ("World", []), ("world", []), ("Moment", []),
      ("moment", []), ("Agenda", []), ("agenda", []), ("Patience", []), ("Cursor", []),
      ("Lazily", []), ("Published", []), ("History", []), ("UserWord", []), ("MemberByte", []),
      ("HoldTable", []), ("specials", []), ("turn", []), ("turns", []), ("turned", []),
    ],
    "PushModel": model + [("place", [])],
    "PushContent": model + [
      ("place", []), ("Viewer", []), ("viewer", []), ("Look", []), ("Choice", []),
    ],
    "PushReference": model + [("place", [])],
    "PushFoundation": model + [("place", [])],
    "PushSupport": model + [("place", [])],
    "QuietTime": model + [("place", [])],
    "PushStore": [
      ("place", []), ("places", []), ("Rows", []), ("FeedBell", []), ("bell", []),
      ("ImportRelations", []), ("FileLook", []), ("patience", []), ("turn", []), ("turned", []),
    ],
    "PushFiles": [
      ("place", []), ("places", []), ("Place", []), ("RowText", []), ("DecisionText", []),
      ("WorldReader", []), ("said", []),
    ],
    "PushReplay": common,
    "PushReport": common,
    "PushService": common + [("Looks", []), ("looks", [])],
    "PushStoreService": common,
    "PushWorkload": common,
    "push-fanout": common,
    "PushServer": common,
  ]

  /// The words that the modules below the engine no longer use.
  static let model: [(word: String, allowed: [String])] = [
    ("places", []), ("TimeDependence", []), ("turn", []), ("turns", []), ("turned", []),
    ("nextTurn", []), ("lastTurn", []), ("said", []),
  ]

  /// What neither name nor comment of the modules around the engine uses.
  static let common: [(word: String, allowed: [String])] = [
    ("place", []), ("places", []), ("Place", []), ("World", []), ("Moment", []), ("moment", []),
    ("turn", []), ("turns", []), ("turned", []), ("said", []), ("alone", []),
  ]

  /// Words that comments and messages replace by the field's terms, in all modules.
  static let vague: [(word: String, allowed: [String])] = [
    ("whoever", []), ("Whoever", []), ("nobody", []), ("Nobody", []), ("somebody", []),
    ("Somebody", []), ("everybody", []), ("Everybody", []), ("anew", []), ("whom", []),
    ("believed", []),
  ]

  @Test(arguments: refused.keys.sorted())
  func aModuleKeepsToItsWords(module: String) throws {
    var found: [String] = []
    let words = (Self.refused[module] ?? []) + Self.vague
    let folder = module == "PushServer" ? "Service/Sources" : "Sources"
    for file in try ArchitectureTests.files(under: "\(folder)/\(module)") {
      let text = try String(contentsOf: file, encoding: .utf8)
      for word in Self.words(in: text, of: words) {
        found.append("\(file.lastPathComponent): \(word)")
      }
    }
    #expect(found == [])
  }

  /// The refused words that a text uses, each once.
  static func words(in text: String, of refused: [(word: String, allowed: [String])]) -> [String] {
    // Words of a wrapped comment follow each other.
    let all = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
    var indices: [Substring: [Int]] = [:]
    for (index, word) in all.enumerated() { indices[word, default: []].append(index) }
    return refused.filter { refused in
      (indices[refused.word[...]] ?? []).contains { index in
        let pair = index > 0 ? "\(all[index - 1]) \(all[index])" : ""
        return !refused.allowed.contains(pair)
      }
    }.map(\.word)
  }

  @Test func theScanFindsWords() {
    let refused = [("place", ["in place"]), ("World", [])]
    #expect(Self.words(in: "changed in\n  /// place, RandomWorld, replace", of: refused) == [])
    #expect(Self.words(in: "let place = 1 // in place", of: refused) == ["place"])
    #expect(Self.words(in: "struct World {", of: refused) == ["World"])
  }
}
