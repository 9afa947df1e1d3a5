import PushModel
import QuietTime
import Testing

/// Goal: settings that were seen before get the index that they have, whatever is guessed.
@Suite struct RecentScheduleTests {
  /// More settings than guesses are kept for at first, each several times.
  @Test func settingsAreFoundAgain() throws {
    var table = ScheduleTable(app: AppSettings())
    var recent = RecentSchedules()
    var list = QuietSettingsList()
    var wrong: [QuietSettings] = []
    var indices: [QuietSettings: UInt32] = [:]
    for round in 0..<3 {
      for number in 0..<3000 {
        let (start, end) = (number * 7 % 1440, (number * 7 + 60 + number / 1440 * 60) % 1440)
        let settings = QuietSettings(
          quietHours: .interval(
            try QuietInterval(
              startHour: start / 60, startMinute: start % 60, endHour: end / 60,
              endMinute: end % 60)),
          timeZone: number % 3 == 0 ? "Asia/Kathmandu" : nil)
        let index = try table.insert(settings, &recent)
        let listed = Int(list.index(of: settings))
        let isRight =
          table[index] == settings && indices[settings, default: index] == index
          && list.settings[listed] == settings
        if !isRight { wrong.append(settings) }
        indices[settings] = index
      }
      #expect(table.count == indices.count + 1, "round \(round)")
    }
    #expect(wrong == [])
    let copy = list.settings
    let count = copy.count
    _ = list.index(of: QuietSettings(quietHours: nil, timeZone: "Asia/Tokyo"))
    #expect([copy.count, list.settings.count] == [count, count + 1])
    #expect(copy.isSameList(as: list.settings))
    #expect(!copy.isSameList(as: QuietSettingsList().settings))
    #expect(list.settings.count < 3 * indices.count / 2)
  }
}
