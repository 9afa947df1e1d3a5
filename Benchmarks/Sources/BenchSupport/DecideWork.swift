import PushFanout
import PushModel

extension Work {
  /// A reason for every member: cold, the first message after windows have turned, and warm, the
  /// next.
  static let decide = sizes.flatMap { size in
    MessageKind.allCases.flatMap { kind in
      [
        Work("decide-cold.\(kind).\(size)", unit: "decision") { stages in
          let stage = stages.stage(size: size)
          var decider = BatchDecider(stage, kind)
          return Prepared(
            units: stage.memberships,
            before: {
              stage.turn()
              decider.messages = MessageArray(stage.messages(kind))
            }, run: { decider.decide() })
        },
        Work("decide-warm.\(kind).\(size)", unit: "decision") { stages in
          let stage = stages.stage(size: size)
          var decider = BatchDecider(stage, kind)
          decider.decide()
          return Prepared(units: stage.memberships) { decider.decide() }
        },
      ]
    }
  }

  /// A message of an earlier instant than the cached conversation: one member at a time.
  static let resolve = sizes.map { size in
    Work("resolve.\(size)", unit: "decision") { stages in
      let stage = stages.stage(size: size)
      var decider = BatchDecider(stage, .plain)
      var before = stage.at - 3_600_000
      stage.check(.plain, at: before)
      return Prepared(
        units: stage.memberships,
        before: {
          // Another millisecond each time, so that nothing kept fits.
          before -= 1
          let messages = stage.world.groups.map {
            MessageKind.plain.message(to: $0, at: before)
          }
          decider.messages = MessageArray(messages)
        }, run: { decider.decide() })
    }
  }

  /// The users who get a push, one by one, from results that are there.
  static let pushList = sizes.map { size in
    Work("push-list.\(size)", unit: "decision") { stages in
      let stage = stages.stage(size: size)
      stage.check(.plain)
      let results = stage.messages(.plain).map { stage.fanout.decide($0) }
      return Prepared(units: stage.memberships) {
        var sum = 0
        for result in results {
          for user in result.pushes { sum &+= Int(user.rawValue) }
        }
        keep(sum)
      }
    }
  }
}

/// Decides a message to each group, into memory that is used again.
private struct BatchDecider {
  let fanout: Fanout
  var messages: MessageArray
  private var result = FanoutResult()
  private var codes: [UInt8]

  init(_ stage: Stage, _ kind: MessageKind) {
    stage.check(kind)
    fanout = stage.fanout
    messages = MessageArray(stage.messages(kind))
    codes = Array(repeating: 0, count: stage.world.groups.map(\.members.count).max() ?? 0)
  }

  mutating func decide() { Self.decide(messages, fanout, &result, &codes) }

  private static func decide(
    _ messages: MessageArray, _ fanout: Fanout, _ result: inout FanoutResult, _ codes: inout [UInt8]
  ) {
    for index in messages.indices {
      messages.with(index) { fanout.decide($0, into: &result) }
      var span = codes.mutableSpan
      result.writeCodes(into: &span)
    }
    keep(Int(codes[0]))
  }
}
