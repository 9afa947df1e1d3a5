import Foundation
import PushModel
import TestSupport
import Testing

@testable import QuietTime

/// Goal: a name that a package leaves out is read as the zone that it is a link to, whichever of the
/// two is there; it keeps its spelling. What is no link stays unknown, and what is done with it is the
/// caller's choice.
@Suite struct ZoneLinksTests {
  /// The links of the pinned data, by name.
  private static let pinnedLinks: [(target: String, name: String)] = {
    let text = try! String(contentsOfFile: pinnedFolder + "/tzdata.zi", encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("L ") }.map { line in
      let words = line.split(separator: " ").map(String.init)
      return (words[1], words[2])
    }
  }()

  /// Some instants from 1970 to 2037.
  private static let instants = (0..<600).map { Int64($0) * 40 * 86_400 }

  @Test func everyLinkIsReadAsItsZone() throws {
    let folder = ScratchFolder()
    let links = Set(Self.pinnedLinks.map(\.name))
    for name in pinned.names.subtracting(links) {
      try put(try zoneBytes(name), as: name, in: folder)
    }
    let database = try ZoneDatabase(folder: folder.url.path)
    #expect(links.count == 151)
    #expect(links.subtracting(ZoneLinks.names) == [])
    for name in links.sorted() {
      #expect(!database.names.contains(name))
      #expect(database.isName(name), "\(name)")
      let (found, usual) = (try database.zone(named: name), try pinned.zone(named: name))
      #expect(found.name == name)
      let differing = Self.instants.filter {
        found.offsetSeconds(at: $0) != usual.offsetSeconds(at: $0)
      }
      #expect(differing == [], "\(name)")
    }
  }

  /// What the table says beyond the pinned data, where zones of each country are kept: since 1970 they
  /// are the same.
  @Test func everyLinkIsItsZoneSince1970() throws {
    for name in ZoneLinks.names where pinned.names.contains(name) {
      for other in ZoneLinks.alternatives(to: name) where pinned.names.contains(other) {
        let (found, usual) = (try pinned.zone(named: other), try pinned.zone(named: name))
        // Central European time was not kept in Brussels until 1977, nor by the names of clocks.
        let since: Int64 =
          ["CET", "MET", "EET", "WET"].contains { [name, other].contains($0) }
          ? 1_000_000_000 : 0
        let differing = Self.instants.filter {
          $0 >= since && found.offsetSeconds(at: $0) != usual.offsetSeconds(at: $0)
        }
        #expect(differing == [], "\(name) by \(other)")
      }
    }
  }

  @Test func aNewNameIsReadFromTheOldOne() throws {
    let folder = ScratchFolder()
    for name in ["Asia/Calcutta", "Europe/Kiev", "Africa/Abidjan"] {
      try put(try zoneBytes(name), as: name, in: folder)
    }
    let database = try ZoneDatabase(folder: folder.url.path)
    #expect(try database.zone(named: "Asia/Kolkata").offsetSeconds(at: 0) == 19_800)
    #expect(database.isName("Europe/Kyiv"))
    #expect(database.isName("Europe/Uzhgorod"))
    // Through a link that is not there either.
    #expect(try database.zone(named: "Iceland").name == "Iceland")
    for name in ["Asia/Tokyo", "Mars/Base", "asia/kolkata", "Asia/Kol\u{212A}ata"] {
      #expect(throws: ZoneDataError.unknownName(name)) { try database.zone(named: name) }
    }
  }

  @Test func namesAreComparedByTheirZone() {
    let same = [
      ("Asia/Calcutta", "Asia/Kolkata"), ("Asia/Saigon", "Asia/Ho_Chi_Minh"),
      ("US/Pacific", "America/Los_Angeles"), ("Iceland", "Atlantic/Reykjavik"),
      ("Asia/Kolkata", "Asia/Kolkata"), ("UTC", "Etc/UTC"),
      // Places of their own.
      ("Europe/Amsterdam", "Europe/Amsterdam"), ("Europe/Oslo", "Europe/Oslo"), ("EST", "EST"),
      ("Mars/Base", "Mars/Base"), ("", ""),
    ]
    for (name, canonical) in same { #expect(ZoneLinks.canonicalName(name) == canonical) }
  }

  @Test func settingsOfUnknownZones() throws {
    let mars = QuietSettings(
      quietHours: .interval(
        try QuietInterval(startHour: 22, startMinute: 0, endHour: 8, endMinute: 0)),
      timeZone: "Mars/Base")
    let plain = QuietSettings(timeZone: "Mars/Base")
    var failing = ScheduleTable(app: AppSettings())
    #expect(throws: ZoneDataError.unknownName("Mars/Base")) { try failing.insert(mars) }
    #expect(failing.count == 1)
    for policy in [UnknownZones.refuse, .ignore] {
      var table = ScheduleTable(app: AppSettings(), unknownZones: policy)
      #expect(!table.hasUnknownZones)
      for settings in [mars, plain] {
        let index = try table.insert(settings)
        #expect(table[index] == settings)
        #expect(table.schedule(index) == nil)
        #expect(table.unknownZone(index) == "Mars/Base")
        #expect(table.isRefused(index) == (policy == .refuse))
      }
      // Settings that name no zone need the app's only for their hours.
      let hours = try table.insert(QuietSettings(quietHours: mars.quietHours))
      #expect(table.schedule(hours) != nil)
      try table.setApp(AppSettings(timeZone: "Moon/Sea"))
      #expect(table.unknownZone(hours) == "Moon/Sea")
      #expect(table.unknownZone(0) == nil)
      try table.setApp(AppSettings(timeZone: "UTC"))
      #expect(table.unknownZone(hours) == nil)
      #expect(table.unknownZone(1) == "Mars/Base")
    }
  }

  @Test func whoIsNamed() throws {
    var users = UnknownZoneUsers()
    for number in 0..<7 { users.add(.init(Identifier("u\(number)"), timeZone: "Mars/Base")) }
    #expect(users.count == 7)
    #expect(users.names.hasPrefix(#"user "u0" (time zone "Mars/Base"), user "u1""#))
    #expect(users.names.hasSuffix(" and 2 more users"))
    #expect("\(users)".contains("install tzdata-legacy or a later tzdata, or set TZDIR"))
  }
}
