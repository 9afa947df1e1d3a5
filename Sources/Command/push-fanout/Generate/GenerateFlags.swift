import ArgumentParser
import PushModel
import PushWorkload

/// Sets a knob when its flag was given.
func set<Value>(_ knob: inout Value, _ flag: Value?) {
  if let flag { knob = flag }
}

/// The names of the flags that were given.
private func given(_ flags: [(name: String, isGiven: Bool)]) -> [String] {
  flags.filter(\.isGiven).map(\.name)
}

func shareHelp(_ text: String, _ defaultValue: String) -> ArgumentHelp {
  ArgumentHelp("\(text) (default: \(defaultValue))", valueName: "share")
}

private func numberHelp(_ text: String, _ defaultValue: String) -> ArgumentHelp {
  ArgumentHelp("\(text) (default: \(defaultValue))", valueName: "number")
}

private func listHelp(_ text: String, _ defaultValue: String) -> ArgumentHelp {
  ArgumentHelp("\(text) (default: \(defaultValue))", valueName: "list")
}

/// How many there are of everything, and who is where.
struct SizeFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Users, up to 100000000. (default: 10000)", valueName: "count"))
  var users: Int?

  @Option(help: ArgumentHelp("Rooms. (default: one for five users)", valueName: "count"))
  var rooms: Int?

  @Option(
    help: ArgumentHelp(
      "As many rooms as have so many members together, instead of --rooms.", valueName: "count"))
  var memberships: Int?

  @Option(help: numberHelp("Half of the rooms are at least so large.", "5"))
  var medianSize: Double?

  @Option(help: numberHelp("A room has k members with a probability of about k^-exponent.", "2"))
  var sizeExponent: Double?

  @Option(
    help: ArgumentHelp(
      "No room but a giant is larger. (default: 3000, or the number of users)",
      valueName: "count"))
  var sizeMax: Int?

  @Option(
    help: listHelp(
      "Rooms of these sizes come first; none for none.",
      "those of 5000,10000,26000,100000 that are at most half of the users"))
  var giants: IntegerList?

  @Option(help: shareHelp("Memberships that the top 10 % of the users have.", "0.38"))
  var topJoinersShare: Double?

  @Option(
    help: shareHelp(
      "Memberships that begin in the last --join-days, or while the world's time runs if that is "
        + "longer; with --rates 1 while it runs.", "0.1"))
  var joinShare: Double?

  @Option(
    help: ArgumentHelp(
      "Days over which joins are spread, to the end. (default: 30)", valueName: "days"))
  var joinDays: Double?

  @Option(help: shareHelp("Joins that come in bursts; the others come steadily.", "0.5"))
  var joinBurstShare: Double?

  @Option(
    help: listHelp(
      "Probability s that a member is drawn from the room's own time zone, in rooms of less than "
        + "20, 200, 3000 members, and above; or one number for all. Two members then share a zone "
        + "with probability c + s²(1 - c), where c is chance.", "0.9,0.7,0.5,0.3"))
  var sharedZone: NumberList?

  var later: [String] {
    given([
      ("--join-days", joinDays != nil), ("--join-burst-share", joinBurstShare != nil),
      ("--shared-zone", sharedZone != nil),
    ])
  }

  func apply(to sizes: inout WorkloadOptions.Sizes) {
    set(&sizes.users, users)
    set(&sizes.rooms, rooms)
    set(&sizes.memberships, memberships)
    set(&sizes.medianSize, medianSize)
    set(&sizes.sizeExponent, sizeExponent)
    set(&sizes.maximumSize, sizeMax)
    set(&sizes.giants, giants?.values)
    set(&sizes.topJoinersShare, topJoinersShare)
    set(&sizes.joinShare, joinShare)
    set(&sizes.joinDays, joinDays)
    set(&sizes.joinBurstShare, joinBurstShare)
    set(&sizes.sharedZone, sharedZone?.values)
  }
}

/// Who writes what when.
struct TrafficFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "When time begins: Unix milliseconds or RFC 3339. (default: 2026-01-05T00:00:00Z)",
      valueName: "instant"))
  var start: InstantArgument?

  @Option(
    help: ArgumentHelp("How long it runs, like 90m, 36h or 7d. (default: 1d)", valueName: "time"))
  var duration: DurationArgument?

  @Option(help: ArgumentHelp("Messages. (default: one a user)", valueName: "count"))
  var messages: Int?

  @Option(
    help: ArgumentHelp("Messages a second in the mean, instead of --messages.", valueName: "number")
  )
  var rate: Double?

  @Option(
    help: numberHelp(
      "Messages of the busiest hour of the senders' own day against the quietest.",
      "10; with --rates 1 3.8, which gives 3.2"))
  var hourRatio: Double?

  @Option(
    help: numberHelp(
      "Messages of a Saturday or Sunday against another day, by the room's clock.", "0.72"))
  var weekendRatio: Double?

  @Option(
    help: numberHelp(
      "How days of a busy room differ: the standard deviation of its messages a day, divided by "
        + "their mean.", "1.2"))
  var dayDeviation: Double?

  @Option(
    help: listHelp(
      "Days with a message, in rooms of less than 10, 50, 200, 1000, and above; refused if there are "
        + "too few messages.",
      "0.01,0.07,0.22,0.6,0.9, or less with few messages"))
  var activeShares: NumberList?

  @Option(
    help: shareHelp("Messages that reply to one of the last day, if there is one.", "0.1"))
  var replyShare: Double?

  @Flag(help: "Messages have texts, in several scripts; needs --format ndjson.")
  var text = false

  var later: [String] {
    given([
      ("--weekend-ratio", weekendRatio != nil), ("--day-deviation", dayDeviation != nil),
      ("--active-shares", activeShares != nil), ("--reply-share", replyShare != nil),
      ("--text", text),
    ])
  }

  @Option(
    help: numberHelp(
      "Activity of rooms of one size: the standard deviation of its logarithm.", "0.85"))
  var activitySd: Double?

  @Option(help: shareHelp("A large room's members who never post.", "0.7"))
  var neverPostShare: Double?

  @Option(help: numberHelp("Zipf's exponent of a room's senders.", "1"))
  var senderExponent: Double?

  @Option(
    help: numberHelp("A burst has k messages with a probability of about k^-exponent.", "2.2"))
  var burstExponent: Double?

  @Option(help: ArgumentHelp("Messages of a burst, at most. (default: 300)", valueName: "count"))
  var burstMax: Int?

  @Option(
    help: ArgumentHelp("Between messages of a burst. (default: 50)", valueName: "seconds"))
  var burstGap: Double?

  @Option(help: shareHelp("In a burst, the same person goes on.", "0.4"))
  var sameSenderShare: Double?

  @Option(help: shareHelp("Messages that mention users.", "0.1"))
  var mentionShare: Double?

  @Option(help: listHelp("Of those, the shares that mention 1, 2 and 3.", "0.93,0.06,0.01"))
  var mentionCounts: NumberList?

  @Option(help: shareHelp("Mentioned who posted there within 5 minutes, if there is one.", "0.5"))
  var recentShare: Double?

  @Option(help: shareHelp("The same within 24 hours, the 5 minutes included.", "0.85"))
  var dayShare: Double?

  @Option(help: shareHelp("Messages with @all in rooms of less than 1000.", "0.0019"))
  var smallAllShare: Double?

  @Option(help: shareHelp("The same in larger rooms.", "0.00001"))
  var bigAllShare: Double?

  func apply(to traffic: inout WorkloadOptions.Traffic) throws {
    set(&traffic.start, start?.instant)
    set(&traffic.durationMilliseconds, duration?.milliseconds)
    set(&traffic.messages, messages)
    if let rate {
      if messages != nil { throw ValidationError("--rate goes without --messages.") }
      let limit = Double(WorkloadOptions.maximumMessages)
      let count = rate * Double(traffic.durationMilliseconds) / 1000
      if !(0...limit ~= count) {
        throw ValidationError("--rate \(rate) is not a rate of 0...\(Int(limit)) messages in all.")
      }
      traffic.messages = Int(count)
    }
    if let hourRatio { traffic.hourRatio = hourRatio }
    set(&traffic.weekendRatio, weekendRatio)
    set(&traffic.dayDeviation, dayDeviation)
    set(&traffic.activeShares, activeShares?.values)
    set(&traffic.replyShare, replyShare)
    traffic.hasText = text
    set(&traffic.activityDeviation, activitySd)
    set(&traffic.neverPostShare, neverPostShare)
    set(&traffic.senderExponent, senderExponent)
    set(&traffic.burstExponent, burstExponent)
    set(&traffic.burstMaximum, burstMax)
    set(&traffic.burstGapSeconds, burstGap)
    set(&traffic.sameSenderShare, sameSenderShare)
    set(&traffic.mentionShare, mentionShare)
    set(&traffic.mentionCountShares, mentionCounts?.values)
    set(&traffic.recentShare, recentShare)
    set(&traffic.dayShare, dayShare)
    set(&traffic.smallAllShare, smallAllShare)
    set(&traffic.bigAllShare, bigAllShare)
  }
}

/// Users' settings.
struct PeopleFlags: ParsableArguments {
  @Flag(help: "Each user has a phone, with a token or without.")
  var devices = false

  @Option(help: shareHelp("Users with a window at night.", "0.475"))
  var quietShare: Double?

  @Option(help: shareHelp("Users who are silent all day.", "0.075"))
  var silentShare: Double?

  @Option(
    help: ArgumentHelp("The mean of windows' beginnings. (default: 23:15)", valueName: "HH:MM"))
  var quietStart: ClockArgument?

  @Option(
    help: ArgumentHelp("Their standard deviation. (default: 75)", valueName: "minutes"))
  var quietStartSd: Double?

  @Option(help: ArgumentHelp("The mean of windows' lengths. (default: 480)", valueName: "minutes"))
  var quietLength: Double?

  @Option(
    help: ArgumentHelp("Their standard deviation. (default: 60)", valueName: "minutes"))
  var quietLengthSd: Double?

  @Option(help: shareHelp("Windows that let mentions through; not Easemob's.", "0.2"))
  var quietMentionShare: Double?

  @Option(help: shareHelp("Open rules' windows that are longer at the weekend.", "0.3"))
  var quietWeekdayShare: Double?

  @Option(help: shareHelp("Users who want mentions only, everywhere.", "0.1"))
  var mentionLevelShare: Double?

  @Option(help: shareHelp("Users who want nothing, anywhere.", "0.05"))
  var noneLevelShare: Double?

  @Option(
    help: listHelp(
      "Memberships that are muted in rooms of less than 20, 200, 3000, and above.",
      "0.15,0.35,0.6,0.75"))
  var muteShares: NumberList?

  @Option(help: shareHelp("Users who have all those mutes.", "0.75"))
  var muters: Double?

  @Option(help: shareHelp("Mutes that let mentions through.", "0.5"))
  var muteMentionShare: Double?

  @Option(help: shareHelp("Other memberships that are set to everything.", "0.01"))
  var allLevelShare: Double?

  @Option(
    help: shareHelp(
      "Messages that users with a quiet window send within it, of all their messages.",
      "0.025, or chance if that is less"))
  var quietWritingShare: Double?

  @Option(help: numberHelp("Changes of settings for each user and day.", "0.01"))
  var changes: Double?

  var later: [String] {
    given([("--quiet-writing-share", quietWritingShare != nil), ("--changes", changes != nil)])
  }

  @Option(help: shareHelp("Phones with Android.", "0.3"))
  var androidShare: Double?

  @Option(help: shareHelp("Androids that may show pushes.", "0.81"))
  var androidPush: Double?

  @Option(help: shareHelp("iPhones that may.", "0.51"))
  var iosPush: Double?

  func apply(to people: inout WorkloadOptions.People) {
    people.listsDevices = devices
    set(&people.quietShare, quietShare)
    set(&people.silentShare, silentShare)
    set(&people.quietStartMinute, quietStart.map { Double($0.minute) })
    set(&people.quietStartDeviationMinutes, quietStartSd)
    set(&people.quietLengthMinutes, quietLength)
    set(&people.quietLengthDeviationMinutes, quietLengthSd)
    set(&people.quietMentionShare, quietMentionShare)
    set(&people.quietWeekdayShare, quietWeekdayShare)
    set(&people.mentionLevelShare, mentionLevelShare)
    set(&people.noneLevelShare, noneLevelShare)
    set(&people.muteShares, muteShares?.values)
    set(&people.muters, muters)
    set(&people.muteMentionShare, muteMentionShare)
    set(&people.allLevelShare, allLevelShare)
    if let quietWritingShare { people.quietWritingShare = quietWritingShare }
    set(&people.changes, changes)
    set(&people.androidShare, androidShare)
    set(&people.androidPushShare, androidPush)
    set(&people.iosPushShare, iosPush)
  }
}

/// When users are connected.
struct PresenceFlags: ParsableArguments {
  @Flag(help: "No file of presence.")
  var noPresence = false

  @Option(
    help: shareHelp(
      "Users who are connected at once, in the mean.", "0.06, or more when senders need more"))
  var onlineShare: Double?

  @Option(
    help: shareHelp(
      "Messages whose sender is connected; others connect for a visit. 0 for chance.", "0.95"))
  var senderOnlineShare: Double?

  @Option(
    help: ArgumentHelp(
      "How long a visit lasts after its last message. (default: 5)", valueName: "minutes"))
  var visitMinutes: Double?

  var later: [String] {
    given([
      ("--sender-online-share", senderOnlineShare != nil),
      ("--visit-minutes", visitMinutes != nil),
    ])
  }

  @Option(
    help: listHelp(
      "So long do a tenth, half and nine tenths of the sessions last, unless the user's next one "
        + "cuts them; visits are apart.", "3,78,1100"))
  var sessionMinutes: NumberList?

  func apply(to presence: inout WorkloadOptions.Presence) {
    if let onlineShare { presence.onlineShare = onlineShare }
    // Without presence, senders have no sessions.
    if noPresence { presence.senderOnlineShare = 0 }
    set(&presence.senderOnlineShare, senderOnlineShare)
    set(&presence.visitMinutes, visitMinutes)
    set(&presence.sessionMinutes, sessionMinutes?.values)
  }
}
