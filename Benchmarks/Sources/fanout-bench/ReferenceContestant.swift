import BenchSupport
import PushReference
import PushModel

/// The reference, in some of the groups: up to two hundred, or 300,000 members.
struct ReferenceContestant {
  private let world: BenchWorld
  private let groups: ArraySlice<BenchWorld.Group>
  private var evaluators: [ReferenceEvaluator] = []
  /// How many decisions one round has.
  private(set) var decisions = 0

  init(_ world: BenchWorld, _ places: Range<Int>) {
    self.world = world
    groups = world.groups[places]
    for place in places.prefix(200) where decisions < 300_000 {
      evaluators.append(Referee.evaluator(world, group: place))
      decisions += world.groups[place].members.count
    }
  }

  var groupCount: Int { evaluators.count }

  /// Decides a message to each group.
  mutating func decide(_ kind: MessageKind, at instant: Int64) {
    var counts = OutcomeCounts()
    for (number, group) in groups.prefix(evaluators.count).enumerated() {
      evaluators[number].decide(kind.message(to: group, at: instant)) { _, decision in
        counts.add(decision.outcome)
      }
    }
    keep(counts.total)
  }

  /// The outcome for every member of a group, in their order.
  mutating func codes(_ number: Int, _ message: Message) -> [UInt8] {
    let members = groups[groups.startIndex + number].members
    return Referee.codes(&evaluators[number], members, message)
  }
}
