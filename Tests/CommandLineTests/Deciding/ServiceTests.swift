import Foundation
import PushContent
import PushFiles
import PushModel
import PushService
import Testing

/// Goal: the program and the service give the same bytes, and explanations and next changes are the
/// same whichever engine is asked.
@Suite struct ServiceTests {
  private static let users = ["u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "UP", "a,b"]
  private static let world = ["--settings", "vendor.ndjson"]

  private static func bytes(_ lines: [String]) -> [UInt8] {
    Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  @Test(arguments: [VendorWorld.easemob, .rongcloud])
  func theServiceWritesWhatTheProgramWrites(world: VendorWorld) throws {
    let service = try FanoutService(ndjson: Self.bytes(world.settings), threads: 2)
    let messages = Self.bytes(world.messages)
    try withWorkplace { place in
      try world.write(to: place)
      for (format, name) in [
        (DecisionFormat.ndjson, "ndjson"), (.csv, "csv"), (.counts, "counts"),
        (.pushlist, "pushlist"),
      ] {
        let run = try place.run(VendorWorld.evaluate + ["--format", name])
        let found = try service.decide(ndjson: messages, as: format)
        #expect(String(decoding: found, as: UTF8.self) == run.output, "\(name)")
      }
      let summary = try place.run(VendorWorld.evaluate + ["--json"])
      let found = try service.decide(ndjson: messages, as: .summary)
      #expect(String(decoding: found, as: UTF8.self) == summary.output)
      let devices = try place.run(VendorWorld.evaluate + ["--devices"])
      let rows = try service.decide(ndjson: messages, showsDevices: true)
      #expect(String(decoding: rows, as: UTF8.self) == devices.output)
      let payloads = try place.run(
        ["render"] + Self.world + ["--messages", "all.ndjson"])
      #expect(!payloads.output.isEmpty)
      #expect(
        String(decoding: try service.render(ndjson: messages), as: UTF8.self) == payloads.output)
    }
  }

  @Test(arguments: [VendorWorld.easemob, .rongcloud], [[], ["--json"], ["--content", "--json"]])
  func explanationsAreTheSameByBothEngines(world: VendorWorld, form: [String]) throws {
    let service = try FanoutService(ndjson: Self.bytes(world.settings), threads: 1)
    try withWorkplace { place in
      try world.write(to: place)
      for message in ["m1", "m5", "m8", "m12"] {
        for user in ["u1", "u4", "UP"] {
          let arguments =
            ["explain"] + Self.world
            + ["--messages", "all.ndjson", "--message", message, "--user", user] + form
          let runs = try ["packed", "reference"].map {
            try place.run(arguments + ["--engine", $0])
          }
          #expect(runs[0].output == runs[1].output, "\(message), \(user)")
          #expect(runs.map(\.status) == [runs[1].status, runs[1].status])
          guard form != [], runs[1].status == 0 else { continue }
          // A message that is there twice is explained twice.
          let wanted = world.messages.filter { $0.contains(#""id":"\#(message)""#) }
          let found = try service.explain(
            ndjson: Self.bytes(wanted), for: Identifier(user), content: form.count == 2)
          #expect(String(decoding: found, as: UTF8.self) == runs[1].output)
        }
      }
    }
  }

  @Test(arguments: [VendorWorld.easemob, .rongcloud], [[], ["--json"]])
  func nextChangesAreTheSameByBothEngines(world: VendorWorld, form: [String]) throws {
    try withWorkplace { place in
      try world.write(to: place)
      var answered = 0
      for user in form.isEmpty ? Self.users : ["u1", "u5", "UP", "a,b"] {
        for (conversation, at) in [("g1", "2024-06-03T12:00:00Z"), ("t,1", "0"), ("none", "5")] {
          let arguments =
            ["next-change"] + Self.world
            + ["--user", user, "--conversation", conversation, "--at", at] + form
          let runs = try ["packed", "reference"].map {
            try place.run(arguments + ["--engine", $0])
          }
          #expect(runs[0].output == runs[1].output, "\(user), \(conversation)")
          #expect(runs[0].errorLines == runs[1].errorLines, "\(user), \(conversation)")
          #expect(runs[0].status == runs[1].status)
          if runs[0].status == 0 { answered += 1 }
        }
      }
      #expect(answered > 2)
    }
  }
}
