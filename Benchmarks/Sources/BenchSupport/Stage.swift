public import PushFanout
import PushModel

/// A world of groups of one size, its engine, and the instant it has come to.
public final class Stage {
  public let world: BenchWorld
  public let fanout: Fanout
  public private(set) var at = BenchWorld.start

  init(_ scale: Scale, size: Int) {
    var world = BenchWorld(userCount: scale.userCount)
    world.addGroups(size: min(size, scale.largestGroup), memberships: scale.memberships)
    self.world = world
    fanout = world.fanout(threads: 1)
    fanout.advance(to: Instant(milliseconds: at))
    // Not the first messages ever: those are read from the tables.
    fanout.warmUp(world.groups.map(\.id), at: Instant(milliseconds: at))
  }

  var memberships: Int { world.groups.reduce(0) { $0 + $1.members.count } }

  /// Goes on to an instant at which windows have turned.
  func turn(minutes: Int64 = 15) {
    at += minutes * 60_000
    fanout.advance(to: Instant(milliseconds: at))
  }

  /// A message to every group.
  func messages(_ kind: MessageKind) -> [Message] {
    world.groups.map { kind.message(to: $0, at: at) }
  }

  /// Compares the engine with the reference, in groups of up to 20,000 members together.
  func check(_ kind: MessageKind, at instant: Int64? = nil) {
    var members = 0
    for (place, group) in world.groups.enumerated() where members < 20_000 {
      let message = kind.message(to: group, at: instant ?? at)
      Referee.check(fanout, world, group: place, message)
      members += group.members.count
    }
  }
}

/// The worlds of a run, each built when it is first asked for.
public final class Stages {
  public let scale: Scale
  private var stages: [Int: Stage] = [:]

  public init(_ scale: Scale) { self.scale = scale }

  func stage(size: Int) -> Stage {
    let size = min(size, scale.largestGroup)
    if let stage = stages[size] { return stage }
    let stage = Stage(scale, size: size)
    stages[size] = stage
    return stage
  }
}
