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
        + "time-zone data 2025b, and the system's are 2031a"
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
}
