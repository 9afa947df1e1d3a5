import Foundation
import PushFanout
import PushReference
import PushRules

func seconds(_ body: () -> Void) -> Double {
  let start = ContinuousClock.now
  body()
  return (ContinuousClock.now - start) / .seconds(1)
}

func show(_ name: String, _ seconds: Double, per count: Int) {
  let ns = seconds * 1e9 / Double(count)
  print(
    name.padding(toLength: 52, withPad: " ", startingAt: 0),
    String(format: "%10.3f ms %10.4f ns", seconds * 1e3, ns))
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func run() {
  let userCount = Int(CommandLine.arguments.dropFirst().first ?? "10000000") ?? 10_000_000
  let groupSize = min(1_000_000, userCount)
  var world = BenchWorld(userCount: userCount)
  world.addGroup("big", size: groupSize, seed: 1)
  let smallSizes = [5, 50, 500, 5_000]
  for size in smallSizes {
    for number in 0..<max(20, 200_000 / size) {
      world.addGroup(
        Identifier("s\(size)-\(number)"), size: size, seed: UInt64(size * 1_000_003 + number))
    }
  }
  var one: Fanout?
  print("build", seconds { one = world.fanout(threads: 1) })
  guard let one else { fatalError() }
  let report = one.memoryReport()
  print(report)
  print(
    "bytes a user", Double(report.users + report.userExtras) / Double(report.userCount),
    "a membership",
    Double(report.memberships + report.membershipExtras + report.conversations)
      / Double(report.membershipCount),
    "an id", Double(report.ids) / Double(report.userCount + report.conversationCount))

  var at = BenchWorld.start
  func message(_ id: Identifier = "big") -> Message {
    Message(id: "m", conversation: id, at: Instant(milliseconds: at), sender: "u17")
  }
  var result = FanoutResult()
  var codes = [UInt8](repeating: 0, count: groupSize)
  print("first", seconds { one.decide(message(), into: &result) })

  var turn: [Double] = [], cold: [Double] = [], coldBytes: [Double] = [], warm: [Double] = [],
    warmBytes: [Double] = []
  var warmDecide: [Double] = [], iterate: [Double] = [], countsFirst: [Double] = [],
    bitmapFirst: [Double] = []
  var checksum = 0
  for _ in 0..<15 {
    at += 15 * 60_000
    turn.append(seconds { one.advance(to: Instant(milliseconds: at)) })
    cold.append(seconds { one.decide(message(), into: &result) })
    coldBytes.append(
      seconds {
        var span = codes.mutableSpan; result.writeCodes(into: &span)
      })
    countsFirst.append(seconds { checksum += result.pushCount })
    bitmapFirst.append(seconds { for _ in result.pushes { checksum += 1; break } })
    iterate.append(
      seconds {
        var s = 0; for user in result.pushes { s &+= Int(user.rawValue) }; checksum &+= s
      })
    warmDecide.append(seconds { for _ in 0..<100 { one.decide(message(), into: &result) } } / 100)
    warm.append(
      seconds {
        for _ in 0..<100 {
          one.decide(message(), into: &result); checksum += result.pushCount;
          for _ in result.pushes { checksum += 1; break }
        }
      } / 100)
    warmBytes.append(
      seconds {
        for _ in 0..<10 {
          one.decide(message(), into: &result); var span = codes.mutableSpan;
          result.writeCodes(into: &span)
        }
      } / 10)
  }
  show("minute turn", median(turn), per: userCount)
  show("cold: states", median(cold), per: groupSize)
  show("cold: codes after states", median(coldBytes), per: groupSize)
  show("counts, first", median(countsFirst), per: groupSize)
  show("bitmap, first", median(bitmapFirst), per: groupSize)
  show("iterate pushes", median(iterate), per: groupSize)
  show("warm: decide", median(warmDecide), per: groupSize)
  show("warm: decide, count, bitmap", median(warm), per: groupSize)
  show("warm: decide, codes", median(warmBytes), per: groupSize)

  let source = [UInt8](repeating: 1, count: 5 * groupSize + userCount)
  var target = [UInt8](repeating: 0, count: 5 * groupSize + userCount)
  var copy: [Double] = []
  for _ in 0..<15 {
    copy.append(
      seconds {
        unsafe target.withUnsafeMutableBytes { t in
          unsafe source.withUnsafeBytes { s in unsafe t.copyMemory(from: s) }
        }
      })
  }
  show("copy of the bytes", median(copy), per: groupSize)

  if CommandLine.arguments.dropFirst(2).first == "cold" {
    for _ in 0..<3000 {
      try? one.update { (u) throws(FanoutError) in
        try u.setConversation("big", ConversationSettings())
      }; one.decide(message(), into: &result)
    }
    return
  }
  if CommandLine.arguments.dropFirst(2).first == "warm" {
    for _ in 0..<2_000_000 { one.decide(message(), into: &result) }
    return
  }
  if CommandLine.arguments.dropFirst(2).first == "small" {
    let groups = world.groups.filter { $0.members.count == 5 }
    let messages = groups.map { message($0.id) }
    for _ in 0..<60 {
      for m in messages { one.decide(m, into: &result); checksum += result.pushCount }
    }
    return
  }
  if CommandLine.arguments.dropFirst(2).first == "update" {
    for k in 0..<300_000 {
      try? one.update { (u) throws(FanoutError) in
        try u.updateUser(BenchWorld.userID((k * 7919) % userCount)) {
          $0.level = $0.level == .all ? .mention : .all
        }
      }
    }
    return
  }
  for size in smallSizes {
    let groups = world.groups.filter { $0.members.count == size && $0.id != "big" }
    var times: [Double] = []
    for _ in 0..<5 {
      at += 60_000 * 15
      one.advance(to: Instant(milliseconds: at))
      let messages = groups.map { message($0.id) }
      times.append(
        seconds { for m in messages { one.decide(m, into: &result); checksum += result.pushCount } }
      )
    }
    show("size \(size) cold with count", median(times), per: groups.count * size)
    show("   a message", median(times), per: groups.count)
    times = []
    for _ in 0..<5 {
      let messages = groups.prefix(20).map { message($0.id) }
      times.append(
        seconds {
          for _ in 0..<10 {
            for m in messages { one.decide(m, into: &result); checksum += result.pushCount }
          }
        } / 10)
    }
    show("size \(size) warm with count, a message", median(times), per: min(20, groups.count))
  }

  var update: [Double] = []
  for _ in 0..<9 {
    update.append(
      seconds {
        for k in 0..<1000 {
          try? one.update { (u) throws(FanoutError) in
            try u.updateUser(BenchWorld.userID((k * 7919) % userCount)) {
              $0.level = $0.level == .all ? .mention : .all
            }
          }
        }
      } / 1000)
  }
  show("update of one user, each published", median(update), per: 1)
  update = []
  for _ in 0..<9 {
    update.append(
      seconds {
        try? one.update { (u) throws(FanoutError) in
          for k in 0..<1000 {
            try u.updateUser(BenchWorld.userID((k * 7919) % userCount)) {
              $0.level = $0.level == .all ? .mention : .all
            }
          }
        }
      } / 1000)
  }
  show("update of 1000 users, published once", median(update), per: 1)
  update = []
  let members = world.groups[0].members
  for _ in 0..<9 {
    update.append(
      seconds {
        for k in 0..<1000 {
          try? one.update { (u) throws(FanoutError) in
            try u.updateMember(
              BenchWorld.userID(Int(members[(k * 7919) % members.count])), of: "big"
            ) { $0.level = $0.level == .all ? .mention : .all }
          }
        }
      } / 1000)
  }
  show("update of one member, each published", median(update), per: 1)
  if CommandLine.arguments.count > 2 { return }
  let settings = world.settings(ofGroup: 0)
  var evaluator = ReferenceEvaluator(settings)
  var n = 0
  var expected = OutcomeCounts()
  let m = message()
  evaluator.decide(m) { _, _ in n += 1 }
  let ref = seconds { evaluator.decide(m) { _, d in expected.add(d.outcome) } }
  show("reference", ref, per: n)
  one.decide(m, into: &result)
  var mine = OutcomeCounts(); mine.add(result.counts)
  print(mine == expected, checksum)
}
