internal import PushModel
internal import Synchronization

/// Where the outcomes of two timelines, A and B, differ.
package struct OutcomeDifferences {
  /// How often codes of A and B met, at 256 * A + B.
  package private(set) var changes = [Int](repeating: 0, count: 65_536)
  /// Of the current message: different outcomes, pushes in B only, pushes in A only, and of the
  /// latter those mentioned by name, and else by everyone.
  package private(set) var changed = 0
  package private(set) var gained = 0
  package private(set) var lost = 0
  package private(set) var mentionsLost = 0
  package private(set) var everyoneMentionsLost = 0

  package init() {}

  package mutating func beginMessage() {
    (changed, gained, lost, mentionsLost, everyoneMentionsLost) = (0, 0, 0, 0, 0)
  }

  package mutating func add(_ a: UInt8, _ b: UInt8, _ count: Int) {
    if a == b { return }
    changed += count
    changes[Int(a) << 8 | Int(b)] += count
    if a & 1 < b & 1 { gained += count }
    if a & 1 > b & 1 { lost += count }
  }

  /// - Parameter codes: the outcomes of a member of A.
  package mutating func addMentions(
    _ mentions: (ranks: [Int], everyone: Bool), _ codes: (Int) -> (a: UInt8, b: UInt8)
  ) {
    for rank in mentions.ranks {
      let (a, b) = codes(rank)
      if a & 1 > b & 1 { mentionsLost += 1 }
    }
    if mentions.everyone { everyoneMentionsLost = lost - mentionsLost }
  }
}

extension FanoutTimeline {
  /// Whether the last message went to few members or nobody, who are counted one by one.
  package var isCountedByMember: Bool {
    result.memberCount <= CachedConversation.readFromTablesLimit || result.storage.isFromTables
  }

  /// Adds the last message to its conversation's ledger, and its differences from another timeline.
  ///
  /// - Precondition: ``isCountedByMember`` is false on both sides.
  /// - Parameters:
  ///   - ledger: nil for none yet. One of other members or settings is closed and replaced.
  ///   - other: the timeline of B.
  ///   - members: nil if both sides have the same, who are called by their indices.
  ///   - mentions: the mentioned members of A; asked for when pushes are lost.
  ///   - emit: called with what members got.
  /// - Complexity: O(pairs of states + mentions + members whose state changes); O(members) when a
  ///   ledger begins, and on another date.
  package func record(
    in ledger: inout OutcomeLedger?, beside other: FanoutTimeline,
    _ members: OutcomeLedger.Members?,
    _ differences: inout OutcomeDifferences, mentions: () -> (ranks: [Int], everyone: Bool),
    _ emit: OutcomeLedger.Emit
  ) {
    guard let a = basisOfLedger(), let b = other.basisOfLedger() else { return }
    var made = begin(&ledger, a, b, members, emit)
    let table = unsafe made.add(result.codes, other.result.codes)
    made.addDifferences(table, to: &differences)
    made.correct(table, result, other.result, &corrections, emit) {
      differences.add($0, $1, $2)
    }
    if differences.lost > 0 {
      differences.addMentions(mentions()) { made.codes(ofMember: $0, table, corrections) }
    }
    ledger = made
  }

  package func recordEqual(in ledger: inout OutcomeLedger?, _ emit: OutcomeLedger.Emit) {
    guard let a = basisOfLedger() else { return }
    var made = begin(&ledger, a, nil, nil, emit)
    let table = unsafe made.add(result.codes, nil)
    made.correct(table, result, nil, &corrections, emit) { _, _, _ in }
    ledger = made
  }

  private func begin(
    _ ledger: inout OutcomeLedger?, _ a: DecidedConversation, _ b: DecidedConversation?,
    _ members: OutcomeLedger.Members?, _ emit: OutcomeLedger.Emit
  ) -> OutcomeLedger {
    // Taken out, its arrays have one owner and change in place.
    if var known = ledger.take() {
      if known.isOf(a, b) {
        known.follow(a, b, emit)
        return known
      }
      known.flush(emit)
    }
    return OutcomeLedger(a, b, members ?? OutcomeLedger.Members(decidedMembers.map(\.rawValue)))
  }

  private func basisOfLedger() -> DecidedConversation? {
    guard let conversation = exactConversation(), let quiet = result.storage.quiet else {
      return nil
    }
    return DecidedConversation(
      members: followed(conversation, quiet).members,
      stateCapacity: conversation.stateCapacity, key: MemberListKey(conversation.target))
  }
}
