public import PushFanout
public import PushReference
public import PushModel
internal import QuietTime

/// What the reference says, and whether others say the same.
public enum Referee {
  /// The reference, with the settings of a group's members.
  public static func evaluator(_ world: BenchWorld, group place: Int) -> ReferenceEvaluator {
    evaluator(world.settings(ofGroup: place))
  }

  /// The reference, with the time zones that the engine has.
  public static func evaluator(_ settings: FanoutSettings) -> ReferenceEvaluator {
    let zones = must { try SettingsZones(settings) }
    return ReferenceEvaluator(settings, zoneOffset: zones.offset)
  }

  /// The outcome for every member of a group, in their order.
  public static func codes(
    _ evaluator: inout ReferenceEvaluator, _ members: [UInt32], _ message: Message
  ) -> [UInt8] {
    var ranks: [Identifier: Int] = [:]
    for (rank, user) in members.enumerated() { ranks[BenchWorld.userID(Int(user))] = rank }
    var codes = [UInt8](repeating: 0, count: members.count)
    let settings = evaluator.settings
    evaluator.decide(message) { user, decision in
      guard let rank = ranks[settings.id(of: user)] else {
        fatalError("the reference decided for somebody who is no member")
      }
      codes[rank] = decision.outcome.code
    }
    return codes
  }

  /// Compares the engine with the reference, and stops the program when they differ.
  public static func check(
    _ fanout: Fanout, _ world: BenchWorld, group place: Int, _ message: Message
  ) {
    let members = world.groups[place].members
    var evaluator = evaluator(world, group: place)
    let expected = codes(&evaluator, members, message)
    let result = fanout.decide(message)
    var codes = [UInt8](repeating: 0, count: expected.count)
    var span = codes.mutableSpan
    result.writeCodes(into: &span)
    let sum = Checksum(expected)
    require(codes == expected, "the engine answers otherwise than the reference: \(message)")
    require(
      result.pushCount == sum.pushes && result.recipientCount == sum.recipients,
      "the engine counts otherwise than the reference: \(message)")
    let pushed = zip(members, expected).filter { $0.1 & 1 != 0 }
    require(
      Array(result.pushes.ids) == pushed.map { BenchWorld.userID(Int($0.0)) },
      "the engine pushes to others than the reference: \(message)")
  }
}
