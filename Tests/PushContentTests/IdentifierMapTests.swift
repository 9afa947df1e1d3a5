import PushModel
import TestSupport
import Testing

@testable import PushContent

/// Goal: a map holds what a dictionary holds, copies stay as they were, and a change of a copy copies
/// no more than a leaf.
@Suite struct IdentifierMapTests {
  private final class Token: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  private func pairs(_ map: IdentifierMap<Token>) -> [Identifier: Int] {
    var found: [Identifier: Int] = [:]
    map.forEach { found[$0] = $1.number }
    return found
  }

  @Test(arguments: seeds([1, 2, 3]))
  func mapsAreAsDictionaries(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let ids = (0..<3000).map { Identifier($0 % 2 == 0 ? "u\($0)" : "a long id of a user \($0)") }
    var map = IdentifierMap<Token>()
    var wanted: [Identifier: Int] = [:]
    var copies: [(map: IdentifierMap<Token>, wanted: [Identifier: Int])] = []
    for number in 0..<30_000 {
      // More and more, then fewer and fewer.
      let id = random.pick(ids)
      if random.chance(number < 20_000 ? 20 : 80) {
        map[id] = nil
        wanted[id] = nil
      } else {
        map[id] = Token(number)
        wanted[id] = number
      }
      if number % 1000 == 0 { copies.append((map, wanted)) }
      if random.oneIn(4000) { (map, wanted) = random.pick(copies) }
    }
    copies.append((map, wanted))
    for (map, wanted) in copies {
      #expect(pairs(map) == wanted, "seed \(seed)")
      #expect(map.count == wanted.count && map.isEmpty == wanted.isEmpty, "seed \(seed)")
      #expect(ids.map { map[$0]?.number } == ids.map { wanted[$0] }, "seed \(seed)")
    }
  }

  @Test func nothingIsKeptOfWhatIsGone() {
    final class Weak {
      weak var token: Token?
      init(_ token: Token) { self.token = token }
    }
    var tokens: [Weak] = []
    do {
      var map = IdentifierMap<Token>()
      for number in 0..<5000 {
        let token = Token(number)
        tokens.append(Weak(token))
        map[Identifier("u\(number % 4000)")] = token
      }
      let copy = map
      for number in 0..<4000 { map[Identifier("u\(number)")] = nil }
      #expect(map.isEmpty && copy.count == 4000)
      #expect(tokens.count { $0.token != nil } == 4000)
    }
    #expect(tokens.allSatisfy { $0.token == nil })
  }

  /// Beside many ids as beside few.
  @Test(arguments: [100, 10_000, 200_000])
  func aChangeOfACopyCopiesOneLeaf(count: Int) {
    let tokens = (0..<count).map { Token($0) }
    var map = IdentifierMap<Token>()
    for token in tokens { map[Identifier("user-\(token.number)")] = token }
    let before = tokens.map { _getRetainCount($0) }
    for number in [0, count / 2, count - 1] {
      var copy = map
      copy[Identifier("user-\(number)")] = Token(-1)
      let copied = zip(tokens, before).count { _getRetainCount($0) > $1 }
      #expect(copied <= 32, "\(copied) of \(count)")
      #expect(map[Identifier("user-\(number)")]?.number == number)
    }
  }
}
