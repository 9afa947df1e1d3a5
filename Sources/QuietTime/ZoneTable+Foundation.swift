internal import Foundation

extension ZoneTable {
  /// The table of an IANA time zone, from Foundation's data; nil when there is no such zone.
  ///
  /// - Complexity: O(transitions), about 200 µs.
  public init?(named name: String) {
    guard Self.isName(name), let zone = TimeZone(identifier: name) else { return nil }
    var starts: [Int64] = [0]
    var offsets = [Int32(zone.secondsFromGMT(for: Date(timeIntervalSince1970: 0)))]
    var now = Date(timeIntervalSince1970: 0)
    let end = Date(timeIntervalSince1970: Double(Self.endSeconds))
    while let next = zone.nextDaylightSavingTimeTransition(after: now), next > now, next < end {
      let offset = Int32(zone.secondsFromGMT(for: next))
      if offset != offsets[offsets.count - 1] {
        starts.append(Int64(next.timeIntervalSince1970))
        offsets.append(offset)
      }
      now = next
    }
    self.init(name: name, starts: starts, offsets: offsets)
  }

  /// Whether `name` is one of the IANA database, compared exactly.
  ///
  /// Foundation alone is no judge: it also takes "GMT+8", "PST" and "UTC+0800".
  public static func isName(_ name: String) -> Bool {
    // A set of strings would also find a name spelled with the Kelvin sign for its K.
    name.utf8.allSatisfy { $0 < 0x80 } && names.contains(name)
  }

  /// Every name of the database: the zones that Foundation lists, and the links that it takes but
  /// does not list.
  public static let names = Set(TimeZone.knownTimeZoneIdentifiers)
    .union(linkNames.split(separator: " ").map(String.init))

  /// The version of the time-zone data in use, like "2025b".
  public static var dataVersion: String { TimeZone.timeZoneDataVersion }

  /// Source: the names of the IANA time zone database 2025b, which is in the public domain, less
  /// those that Foundation lists.
  private static let linkNames = """
    Africa/Asmera Africa/Timbuktu America/Argentina/ComodRivadavia America/Atka \
    America/Buenos_Aires America/Catamarca America/Coral_Harbour America/Cordoba \
    America/Ensenada America/Fort_Wayne America/Indianapolis America/Jujuy America/Knox_IN \
    America/Louisville America/Mendoza America/Porto_Acre America/Rosario America/Virgin \
    Asia/Ashkhabad Asia/Chungking Asia/Dacca Asia/Istanbul Asia/Kolkata Asia/Macao Asia/Saigon \
    Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang Asia/Ulan_Bator Atlantic/Faeroe \
    Atlantic/Jan_Mayen Australia/ACT Australia/Canberra Australia/LHI Australia/NSW \
    Australia/North Australia/Queensland Australia/South Australia/Tasmania Australia/Victoria \
    Australia/West Australia/Yancowinna Brazil/Acre Brazil/DeNoronha Brazil/East Brazil/West CET \
    CST6CDT Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland \
    Canada/Pacific Canada/Saskatchewan Canada/Yukon Chile/Continental Chile/EasterIsland Cuba \
    EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0 Etc/GMT+1 Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 \
    Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6 Etc/GMT+7 Etc/GMT+8 Etc/GMT+9 Etc/GMT-0 \
    Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3 \
    Etc/GMT-4 Etc/GMT-5 Etc/GMT-6 Etc/GMT-7 Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich Etc/UCT \
    Etc/UTC Etc/Universal Etc/Zulu Europe/Belfast Europe/Nicosia Europe/Tiraspol GB GB-Eire \
    GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya \
    MET MST MST7MDT Mexico/BajaNorte Mexico/BajaSur Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT \
    Pacific/Samoa Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT US/Alaska US/Aleutian \
    US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan \
    US/Mountain US/Pacific US/Samoa UTC Universal W-SU WET Zulu
    """
}
