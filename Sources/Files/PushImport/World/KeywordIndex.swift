internal import PushModel
internal import PushSupport
internal import Synchronization

/// The keywords of all people, to be found in texts that are not kept (`--without-texts`, I-7).
final class KeywordIndex {
  private struct Keyword {
    let tokens: [[UInt32]]
    /// Who has it, in the order of people, and how they wrote it.
    var holders: [(user: UInt32, text: String)] = []
  }

  private var keywords: [Keyword] = []
  private var numbers: [[[UInt32]]: Int] = [:]
  /// The keywords that begin with a token.
  private var starts: [[UInt32]: [Int]] = [:]
  /// How the first holder in a conversation wrote a keyword; nil for none.
  private let spellings = Lock<[UInt64: String?]>([:])

  func add(_ text: String, of user: UInt32) {
    let tokens = TextTokens(text).tokens
    guard let first = tokens.first else { return }
    if numbers[tokens] == nil {
      numbers[tokens] = keywords.count
      starts[first, default: []].append(keywords.count)
      keywords.append(Keyword(tokens: tokens))
    }
    let number = numbers[tokens]!
    let last = keywords[number].holders.last?.user
    if last == user { return }
    keywords[number].holders.append((user, text))
    if let last, last > user { keywords[number].holders.sort { $0.user < $1.user } }
  }

  func remove(_ user: UInt32) {
    for number in keywords.indices { keywords[number].holders.removeAll { $0.user == user } }
    spellings.withLock { $0 = [:] }
  }

  /// The keywords of a conversation's members that occur in a text, in the order of bytes.
  func found(
    in text: String, of conversation: UInt32, isMember: (UInt32) -> Bool
  ) -> [String] {
    let tokens = TextTokens(ofMessage: text).tokens
    var found: Set<Int> = []
    for position in tokens.indices {
      for number in starts[tokens[position]] ?? [] where !found.contains(number) {
        let wanted = keywords[number].tokens
        if tokens[position...].starts(with: wanted) { found.insert(number) }
      }
    }
    return found.compactMap { number -> String? in
      let key = UInt64(conversation) << 32 | UInt64(number)
      if let known = spellings.withLock({ $0[key] }) { return known }
      let spelling = keywords[number].holders.first { isMember($0.user) }?.text
      spellings.withLock { $0[key] = spelling }
      return spelling
    }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
