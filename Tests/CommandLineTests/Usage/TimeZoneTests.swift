import Foundation
import TestSupport
import Testing

/// Goal: the program reads the time zones that `TZDIR` names; without any it says so, and a store's
/// snapshot that was written with others is not used.
@Suite struct TimeZoneTests {
  /// Makes a folder `zones` of the pinned zones that says it is of version 2031a.
  private static let copyZones = """
    cp -R "$TZDIR" zones && sed -i '1s/.*/# version 2031a/' zones/tzdata.zi && \
    export TZDIR="$PWD/zones" &&
    """

  @Test func theVersionOfOtherZones() throws {
    try withWorkplace { place in
      let run = try place.shell(Self.copyZones + "\"$0\" --version")
      #expect(run.status == 0)
      #expect(run.lines.last?.hasPrefix("time-zone data 2031a, /") == true, "\(run.output)")
    }
  }

  /// Zones are read from where TZDIR says: there Shanghai is Berlin, and m1 is not at night.
  @Test(arguments: ["packed", "reference"])
  func decisionsAreByTheZonesOfTZDIR(engine: String) throws {
    try withWorkplace { place in
      let evaluate = (SmallWorld.evaluate + ["--engine", engine]).joined(separator: " ")
      let usual = try place.shell("\"$0\" \(evaluate)")
      let other = try place.shell(
        Self.copyZones + "cp zones/Europe/Berlin zones/Asia/Shanghai && \"$0\" \(evaluate)")
      #expect(usual.lines.first?.contains("quietHours") == true)
      #expect(other.status == 0)
      #expect(other.lines.first?.contains("allowed") == true, "\(other.output)")
    }
  }

  @Test func withoutADatabase() throws {
    let missing =
      "no time-zone database in /nowhere; install tzdata, or set TZDIR to the folder of compiled "
      + "time zones"
    try withWorkplace { place in
      let version = try place.shell("TZDIR=/nowhere \"$0\" --version")
      #expect(version.status == 0)
      #expect(version.lines.last == missing)
      let loaded = try place.shell(
        "TZDIR=/nowhere \"$0\" \(SmallWorld.evaluate.joined(separator: " "))")
      #expect(loaded.status == 1)
      #expect(loaded.output == "")
      #expect(loaded.errorLines.last == "world.ndjson:1: \"timeZone\": \(missing)")
      // Nobody says a zone: the app's is UTC.
      try place.write([#"{"kind":"member","conversation":"g1","user":"u1"}"#], as: "plain.ndjson")
      let plain = try place.shell(
        "TZDIR=/nowhere \"$0\" evaluate --settings plain.ndjson --messages messages.ndjson")
      #expect(plain.status == 1)
      #expect(plain.errorLines.last == "push-fanout: \(missing)")
    }
  }

  @Test func aDamagedZone() throws {
    try withWorkplace { place in
      let run = try place.shell(
        Self.copyZones + "printf junk > zones/Asia/Shanghai && \"$0\" check world.ndjson"
      )
      #expect(run.status == 1)
      let said = run.output + run.errors
      #expect(said.contains("world.ndjson:1: \"timeZone\": time-zone data /"), "\(said)")
      #expect(said.contains("/zones/Asia/Shanghai is malformed: it does not begin with TZif"))
    }
  }

  @Test func aSnapshotOfOtherZonesIsNotUsed() throws {
    try withWorkplace { place in
      _ = try place.run("store", "import", "--store", "s", "--settings", "world.ndjson")
      let evaluate = "\"$0\" evaluate --store s --messages messages.ndjson"
      let before = try place.shell(evaluate)
      #expect(before.status == 0)
      #expect(!before.errors.contains("built from the database"))
      let after = try place.shell(Self.copyZones + evaluate)
      #expect(after.status == 0)
      #expect(after.output == before.output)
      let said =
        "s: the engine was built from the database: snapshot s.snapshot was written with "
        + "time-zone data 2025b, and the system's are 2031a; "
        + "push-fanout store snapshot --store s writes one"
      #expect(after.errorLines.contains(said), "\(after.errors)")
      // It is not damaged.
      let check = try place.shell("TZDIR=\"$PWD/zones\" \"$0\" store check --store s")
      #expect(check.status == 0, "\(check.output)\(check.errors)")
      // Where it is all that is left, it is good enough.
      let rebuilt = try place.shell(
        "rm s && TZDIR=\"$PWD/zones\" \"$0\" store rebuild --from-snapshot --store s")
      #expect(rebuilt.status == 0, "\(rebuilt.errors)")
      #expect(try place.shell(evaluate).output == before.output)
    }
  }

  // MARK: Zones that are missing

  /// Ann has a link that a package may leave out, mia a zone that the machine lacks; ben is in a group
  /// with each.
  private static let lost = [
    #"{"kind":"user","id":"ann","timeZone":"Asia/Calcutta"}"#,
    #"{"kind":"user","id":"mia","timeZone":"America/Coyhaique","#
      + #""quietHours":{"start":"00:00","end":"23:59"}}"#,
    #"{"kind":"member","conversation":"g","user":"ann"}"#,
    #"{"kind":"member","conversation":"g","user":"ben"}"#,
    #"{"kind":"member","conversation":"h","user":"mia"}"#,
    #"{"kind":"member","conversation":"h","user":"ben"}"#,
  ]

  private static let named = #"user "mia" (time zone "America/Coyhaique"): this machine's "#

  private static let remedy =
    "lack the zone: install tzdata-legacy or a later tzdata, or set TZDIR to the folder of compiled "
    + "time zones; --unknown-zones ignore decides without quiet hours"

  /// Calls `body` with a folder that has a store of them and messages to either group, and with a way
  /// to run the program where the zones are missing.
  private func withLostZones(
    _ body: (_ place: Workplace, _ run: (String) throws -> Run) throws -> Void
  ) throws {
    try withWorkplace { place in
      try place.write(Self.lost, as: "lost.ndjson")
      try place.write([#"{"id":"mg","conversation":"g","at":1767614400000}"#], as: "g.ndjson")
      try place.write([#"{"id":"mh","conversation":"h","at":1767614400000}"#], as: "h.ndjson")
      _ = try place.run("store", "import", "--store", "s", "--settings", "lost.ndjson")
      try place.shell(
        "cp -RL \"$TZDIR\" zones && rm zones/Asia/Calcutta zones/America/Coyhaique")
      try body(place) { try place.shell("export TZDIR=\"$PWD/zones\" && \"$0\" \($0)") }
    }
  }

  @Test func aLinkThatIsMissingIsItsZone() throws {
    try withLostZones { place, run in
      try place.write(Array(Self.lost[0...0] + Self.lost[2...3]), as: "ann.ndjson")
      for world in ["--store s", "--settings ann.ndjson", "--store s --engine reference"] {
        let made = try run("evaluate \(world) --messages g.ndjson")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.lines.count == 2)
        #expect(!made.errors.contains("damaged"))
      }
      // As it is written it stays.
      #expect(try run("store export --store s").output.contains(#""timeZone":"Asia/Calcutta""#))
      let check = try run("check ann.ndjson")
      #expect(check.status == 0, "\(check.output)")
      for zone in ["Asia/Kolkata", "Asia/Calcutta", "Asia/K*"] {
        let compared = try run(
          "compare --store s --messages g.ndjson --b 'zone=\(zone).everyone.level=none' --json")
        #expect(compared.status == 0, "\(compared.errors)")
        #expect(compared.output.contains(#""changed":1,"#), "\(zone): \(compared.output)")
      }
    }
  }

  @Test(arguments: ["packed", "reference"])
  func aUserOfAnUnknownZoneIsRefusedAlone(engine: String) throws {
    try withLostZones { _, run in
      let others = try run("evaluate --store s --messages g.ndjson --engine \(engine)")
      #expect(others.status == 0, "\(others.errors)")
      #expect(others.lines.count == 2)
      // Ben gets his answer, and the command says whose is missing.
      let hers = try run("evaluate --store s --messages h.ndjson --engine \(engine)")
      #expect(hers.status == 1)
      #expect(hers.lines.count == 1)
      #expect(hers.lines.first?.contains(#""user":"ben""#) == true)
      let said = try #require(hers.errorLines.last)
      #expect(said.hasPrefix("push-fanout: " + Self.named), "\(said)")
      #expect(said.hasSuffix(Self.remedy), "\(said)")
      // A file appears when it is complete.
      let file = try run(
        "evaluate --store s --messages h.ndjson --engine \(engine) --format ndjson -o out; ls out")
      #expect(file.errors.contains("ls: "), "\(file.errors)")
      for question in [
        "explain --messages h.ndjson --message mh", "next-change --conversation h --at 0",
      ] {
        let ben = try run("\(question) --store s --user ben")
        #expect(ben.status == 0, "\(ben.errors)")
        let mia = try run("\(question) --store s --user mia")
        #expect(mia.status == 1)
        #expect(mia.output == "")
        #expect(mia.errorLines.last?.hasPrefix("push-fanout: " + Self.named) == true)
      }
    }
  }

  @Test(arguments: ["packed", "reference"])
  func ignoredItMeansNoQuietHours(engine: String) throws {
    try withLostZones { _, run in
      for world in ["--store s", "--settings lost.ndjson"] {
        let made = try run(
          "evaluate \(world) --messages h.ndjson --engine \(engine) --unknown-zones ignore")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.lines.count == 2)
        #expect(made.lines.filter { $0.contains("allowed") }.count == 2)
        #expect(
          made.errorLines.contains(
            "push-fanout: decided without quiet hours, as their time zone is unknown: "
              + #"user "mia" (time zone "America/Coyhaique")"#), "\(made.errors)")
        let explained = try run(
          "explain \(world) --messages h.ndjson --message mh --user mia --unknown-zones ignore")
        #expect(explained.status == 0)
        #expect(explained.lines.last == "push/allowed/default")
      }
      let files = try run("evaluate --settings lost.ndjson --messages g.ndjson --engine \(engine)")
      #expect(files.status == 1)
      #expect(files.output == "")
      #expect(files.errorLines.last?.hasPrefix(#"lost.ndjson:2: "timeZone": "#) == true)
    }
  }

  @Test func whatCountsEverybodyIsRefusedAtTheMessage() throws {
    try withLostZones { _, run in
      for command in ["replay", "compare --b everyone.level=none"] {
        #expect(try run("\(command) --store s --messages g.ndjson").status == 0)
        let refused = try run("\(command) --store s --messages h.ndjson")
        #expect(refused.status == 1)
        #expect(
          refused.errorLines.last?.hasPrefix("h.ndjson:1: it goes to " + Self.named) == true,
          "\(refused.errors)")
        let ignored = try run(
          "\(command) --store s --messages h.ndjson --unknown-zones ignore --json")
        #expect(ignored.status == 0, "\(ignored.errors)")
      }
      #expect(try run("profile --store s --messages h.ndjson").status == 0)
      let rendered = try run("render --store s --messages h.ndjson")
      #expect(rendered.status == 1)
      #expect(rendered.lines.count == 1)
      #expect(try run("render --store s --messages h.ndjson --user ben").status == 0)
      #expect(try run("render --store s --messages h.ndjson --user mia").status == 1)
    }
  }

  @Test func aStoreIsNotDamaged() throws {
    try withLostZones { place, run in
      for form in ["", "--fast"] {
        let check = try run("store check --store s \(form)")
        #expect(check.status == 1)
        #expect(check.errorLines.last == "1 problem")
        #expect(check.lines.count == 1)
        #expect(check.output.hasPrefix("s: zones: " + Self.named), "\(check.output)")
        #expect(!check.output.contains("damaged"))
      }
      // It is written on, and another machine decides for all.
      let set = try run("settings set --store s --user mia --level none")
      #expect(set.status == 0, "\(set.errors)")
      #expect(try run("store snapshot --store s").status == 0)
      #expect(try run("store export --store s").output.contains("America/Coyhaique"))
      #expect(try place.run("store", "check", "--store", "s").status == 0)
      // What is stored may be imported again.
      let again = try run(
        "store export --store s -o e.ndjson; \"$0\" store import --store s --settings e.ndjson "
          + "--unknown-zones ignore")
      #expect(again.status == 0, "\(again.errors)")
      // What is new is refused, unless it is asked for.
      let refused = try run("store import --store t --settings lost.ndjson")
      #expect(refused.status == 1)
      let taken = try run("store import --store t --settings lost.ndjson --unknown-zones ignore")
      #expect(taken.status == 0, "\(taken.errors)")
      #expect(
        taken.errorLines.contains(
          "push-fanout: imported with a time zone that is unknown here: "
            + #"user "mia" (time zone "America/Coyhaique")"#), "\(taken.errors)")
      let rebuilt = try run(
        "store snapshot --store t && rm t && \"$0\" store rebuild "
          + "--from-snapshot --store t && \"$0\" store export --store t")
      #expect(rebuilt.output.contains("America/Coyhaique"), "\(rebuilt.errors)")
    }
  }
}
