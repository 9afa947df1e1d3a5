package import PushModel
internal import Synchronization

/// Where the outcomes of two timelines, A and B, differ.
package struct OutcomeDifferences {
  /// How often codes of A and B met, at 256 * A + B.
  package private(set) var changes = [Int](repeating: 0, count: 65_536)
  /// Of the current message: different outcomes, pushes in B only, pushes in A only, and of the
  /// latter the ranks in A of those mentioned by name, and how many others with everyone.
  package private(set) var changed = 0
  package private(set) var gained = 0
  package private(set) var lost = 0
  package private(set) var mentionsLost: [Int] = []
  package private(set) var everyoneMentionsLost = 0
  /// How many pushes in A only were of messages that had a class for the recipient, of those that
  /// only open rules have (O-1), by the class's bit. All messages together.
  package private(set) var lostByClass = [Int](
    repeating: 0, count: MessageClasses.all.rawValue.nonzeroBitCount)

  package init() {}

  package mutating func beginMessage() {
    (changed, gained, lost, mentionsLost, everyoneMentionsLost) = (0, 0, 0, [], 0)
  }

  package mutating func add(_ a: UInt8, _ b: UInt8, _ count: Int) {
    if a == b { return }
    changed += count
    changes[Int(a) << 8 | Int(b)] += count
    if a & 1 < b & 1 { gained += count }
    if a & 1 > b & 1 { lost += count }
  }

  /// - Parameter codes: the outcomes of a member of A.
  package mutating func addNamed(
    _ named: NamedMembers, _ codes: (Int) -> (a: UInt8, b: UInt8)
  ) {
    func isLost(_ rank: Int) -> Bool {
      let (a, b) = codes(rank)
      return a & 1 > b & 1
    }
    mentionsLost = named.mentioned.filter(isLost)
    if named.mentionsEveryone { everyoneMentionsLost = lost - mentionsLost.count }
    for (rank, classes) in named.others where isLost(rank) {
      for bit in lostByClass.indices where classes.rawValue >> UInt16(bit) & 1 != 0 {
        lostByClass[bit] += 1
      }
    }
  }
}

/// Whom a message names, by rank.
package struct NamedMembers {
  /// Those mentioned by name.
  fileprivate let mentioned: [Int]
  fileprivate let mentionsEveryone: Bool
  /// By open rules, those for whom the message has a class that not all members have.
  fileprivate let others: [(rank: Int, classes: MessageClasses)]
}

extension FanoutTimeline {
  /// Whom the last message names.
  ///
  /// - Complexity: O(those named log members).
  package func named(by message: Message) -> NamedMembers {
    let mentions = mentions(of: message)
    return NamedMembers(
      mentioned: mentions.ranks, mentionsEveryone: mentions.everyone, others: others(message))
  }

  private func others(_ message: Message) -> [(rank: Int, classes: MessageClasses)] {
    if result.memberCount == 0 { return [] }
    let tables = engineVersion.tables
    let target = ConversationTarget(result.conversation, channel: message.channel, tables)
    let plan = MessagePlan(message, target, tables)
    guard let open = plan.openMessage(message, target, tables) else { return [] }
    return result.correctedRanks.map { rank in
      let slot = Int(target.memberRow.start) + rank
      let record = tables.record(at: slot, target.members, target.memberRow)
      return (rank, open.classes(for: tables.memberUsers[slot], record, tables).classes)
    }
  }

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
  ///   - named: the members of A whom the message names; asked for when pushes are lost.
  ///   - emit: called with what members got.
  /// - Complexity: O(pairs of states + members named + members whose state changes); O(members) when a
  ///   ledger begins, and on another date.
  package func record(
    in ledger: inout OutcomeLedger?, beside other: FanoutTimeline,
    _ members: OutcomeLedger.Members?,
    _ differences: inout OutcomeDifferences, named: () -> NamedMembers,
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
      differences.addNamed(named()) { made.codes(ofMember: $0, table, corrections) }
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
