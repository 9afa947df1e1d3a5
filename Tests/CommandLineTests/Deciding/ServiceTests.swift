import Foundation
import PushContent
import PushFanout
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

  @Test(arguments: VendorWorld.all)
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
      // What a push contains is no part of open rules.
      if world.rules == "open" { return }
      let payloads = try place.run(
        ["render"] + Self.world + ["--messages", "all.ndjson"])
      #expect(!payloads.output.isEmpty)
      #expect(
        String(decoding: try service.render(ndjson: messages), as: UTF8.self) == payloads.output)
    }
  }

  @Test(arguments: VendorWorld.all, [[], ["--json"], ["--content", "--json"]])
  func explanationsAreThoseOfTheService(world: VendorWorld, form: [String]) throws {
    let service = try FanoutService(ndjson: Self.bytes(world.settings), threads: 1)
    try withWorkplace { place in
      try world.write(to: place)
      var explained = 0
      for message in ["m1", "m5", "m8", "m12"] {
        for user in ["u1", "u4", "UP"] {
          let arguments =
            ["explain"] + Self.world
            + ["--messages", "all.ndjson", "--message", message, "--user", user] + form
          let run = try place.run(arguments)
          if form.count == 2, world.rules == "open" {
            #expect(run.status == 1 && run.errors.contains("do not say what a push contains"))
            continue
          }
          guard form != [], run.status == 0 else { continue }
          explained += 1
          // A message that is there twice is explained twice.
          let wanted = world.messages.filter { $0.contains(#""id":"\#(message)""#) }
          let found = try service.explain(
            ndjson: Self.bytes(wanted), for: Identifier(user), content: form.count == 2)
          #expect(String(decoding: found, as: UTF8.self) == run.output)
        }
      }
      #expect(form == [] || explained > 4 || form.count == 2 && world.rules == "open")
    }
  }

  @Test(arguments: VendorWorld.all, [[], ["--json"]])
  func nextChangesAreThoseOfTheService(world: VendorWorld, form: [String]) throws {
    let service = try FanoutService(ndjson: Self.bytes(world.settings), threads: 1)
    try withWorkplace { place in
      try world.write(to: place)
      var answered = 0
      for user in form.isEmpty ? Self.users : ["u1", "u5", "UP", "a,b"] {
        for (conversation, at) in [("g1", "2024-06-03T12:00:00Z"), ("t,1", "0"), ("none", "5")] {
          let run = try place.run(
            ["next-change"] + Self.world
              + ["--user", user, "--conversation", conversation, "--at", at] + form)
          let version = service.engine.currentVersion
          let (id, instant) = (Identifier(user), try #require(Instant(text: at)))
          let expected = try? version.plainAnswer(
            for: id, in: Identifier(conversation), after: instant)
          #expect((run.status == 0) == (expected != nil), "\(user), \(conversation)")
          guard let expected else { continue }
          let text =
            form.isEmpty
            ? ServiceText.plainAnswer(expected, at: instant, zone: version.timeZone(of: id))
            : String(decoding: ServiceJSON.plainAnswer(expected), as: UTF8.self)
          #expect(run.output == text + "\n", "\(user), \(conversation)")
          answered += 1
        }
      }
      #expect(answered > 2)
    }
  }
}
