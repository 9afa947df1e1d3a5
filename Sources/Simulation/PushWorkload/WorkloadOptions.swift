public import PushModel

/// What a generated world is like: every knob, with the default that measured or published rates
/// give.
///
/// Shares are 0...1. Where a rate comes from is documented in docs/generate.md.
public struct WorkloadOptions: Hashable, Sendable {
  /// Worlds of the same options are the same, byte for byte; another seed gives another.
  public var seed: UInt64 = 1
  /// Which rates people live by; options that are only of later rates have no effect under earlier
  /// ones.
  public var rates = WorkloadRates.people
  /// The rule set that settings are written for.
  public var rules = AppSettings().rules
  /// How many users, rooms and memberships.
  public var sizes = Sizes()
  /// What users and members set.
  public var people = People()
  /// The messages.
  public var traffic = Traffic()
  /// Who is connected when.
  public var presence = Presence()
  /// What only open rules have.
  public var open = Open()

  /// The defaults.
  public init() {}
}

extension WorkloadOptions {
  /// How many there are of everything, and who is where.
  public struct Sizes: Hashable, Sendable {
    /// How many users; 1 through ``WorkloadOptions/maximumUsers``.
    public var users = 10_000
    /// How many rooms, giants among them; nil for one for every five users.
    public var rooms: Int?
    /// The number of memberships, which determines the number of rooms; excludes ``rooms``.
    public var memberships: Int?
    /// Half of the rooms (without the giants) are at least so large.
    public var medianSize = 5.0
    /// A room has k members with a probability of about k^-exponent; more than 1.
    public var sizeExponent = 2.0
    /// No room but a giant is larger; nil for 3,000, or the number of users.
    public var maximumSize: Int?
    /// Rooms of these sizes come first; nil for those of 5,000, 10,000, 26,000 and 100,000 that are
    /// at most half of the users, and of ``memberships``.
    public var giants: [Int]?
    /// The share of the memberships that the top 10 % of the users have.
    public var topJoinersShare = 0.38
    /// The share of the memberships that begin while the world's time runs. Under
    /// ``WorkloadRates/people``: that begin in the last ``joinDays`` of it, or in all of it when it
    /// is longer.
    public var joinShare = 0.1
    /// The days over which joins are spread, up to the end of the world's time.
    public var joinDays = 30.0
    /// The share of the joins that follow something that many come for; the others are steady.
    public var joinBurstShare = 0.5
    /// The probability that a member is from the room's own time zone, and not from anywhere, in
    /// rooms of less than 20, 200, 3,000 members, and above; one number is for all rooms.
    public var sharedZone = [0.9, 0.7, 0.5, 0.3]

    /// The defaults.
    public init() {}
  }

  /// What people set.
  public struct People: Hashable, Sendable {
    /// The share of the users who have a window at night.
    public var quietShare = 0.475
    /// The share of the users who are silent all day.
    public var silentShare = 0.075
    /// The mean of the windows' beginnings, minutes after midnight.
    public var quietStartMinute = 1395.0
    /// The standard deviation of the windows' beginnings, in minutes.
    public var quietStartDeviationMinutes = 75.0
    /// The mean length of the windows, in minutes.
    public var quietLengthMinutes = 480.0
    /// The standard deviation of the windows' lengths, in minutes.
    public var quietLengthDeviationMinutes = 60.0
    /// The share of the users whose level is mentions only, everywhere.
    public var mentionLevelShare = 0.1
    /// The share of the users whose level is nothing, everywhere.
    public var noneLevelShare = 0.05
    /// The share of memberships that are muted, in rooms of less than 20, 200, 3,000, and above.
    public var muteShares = [0.15, 0.35, 0.6, 0.75]
    /// The share of the users who have all mutes; the others mute no room.
    public var muters = 0.75
    /// The share of the mutes that let mentions through.
    public var muteMentionShare = 0.5
    /// The share of memberships explicitly set to everything.
    public var allLevelShare = 0.01
    /// Whether settings list a phone for each user; otherwise they list no devices.
    public var listsDevices = false
    /// RongCloud's and open rules': the share of windows that let mentions through.
    public var quietMentionShare = 0.2
    /// Open rules': the share of windows of working days, which have a longer one on other days.
    public var quietWeekdayShare = 0.3
    /// What people who have a window write within it, as a share of all that they write; nil for
    /// 0.025, or what it is by chance if that is less.
    public var quietWritingShare: Double?
    /// Changes of settings for each user and day.
    public var changes = 0.01
    /// The share of the users whose phone runs Android; the others have iOS.
    public var androidShare = 0.3
    /// The share of the Android users who let their phone show pushes.
    public var androidPushShare = 0.81
    /// The share of the iOS users who let their phone show pushes.
    public var iosPushShare = 0.51

    /// The defaults.
    public init() {}
  }

  /// Who writes what when.
  public struct Traffic: Hashable, Sendable {
    /// When the world's time begins.
    public var start = Instant(milliseconds: 1_767_571_200_000)
    /// How long the world's time lasts, in milliseconds; a minute through 3,660 days.
    public var durationMilliseconds: Int64 = 86_400_000
    /// How many messages; nil for one a user.
    public var messages: Int?
    /// The messages of the busiest hour of the senders' own day against the quietest; nil for 10.
    /// Under ``WorkloadRates/first`` that of the beginnings of bursts, nil for 3.8, which gives
    /// 3.2.
    public var hourRatio: Double?
    /// The messages of a Saturday or Sunday against those of another day, by the clock of a room's
    /// zone.
    public var weekendRatio = 0.72
    /// How the days of a busy room differ: the coefficient of variation of its messages a day. Days
    /// without any count, so rooms that are seldom active have more.
    public var dayDeviation = 1.2
    /// The share of the days that have a message, in rooms of less than 10, 50, 200, 1,000
    /// members, and above; refused when there are too few messages for them. Nil for 0.01, 0.07,
    /// 0.22, 0.6 and 0.9, or those of a ``WorkloadPreset``, as far as there are messages.
    public var activeShares: [Double]?
    /// The shares where none are given.
    var usualActiveShares = [0.01, 0.07, 0.22, 0.6, 0.9]
    /// Room activity: the standard deviation of its natural logarithm, for rooms of one size.
    public var activityDeviation = 0.85
    /// The share of a large room's members who never post.
    public var neverPostShare = 0.7
    /// Zipf's exponent of a room's senders.
    public var senderExponent = 1.0
    /// A burst has k messages with a probability of about k^-exponent; more than 1.
    public var burstExponent = 2.2
    /// The most messages of a burst.
    public var burstMaximum = 300
    /// The mean time between two messages of a burst, in seconds.
    public var burstGapSeconds = 50.0
    /// The probability that a burst goes on with the sender of its last message.
    public var sameSenderShare = 0.4
    /// The share of messages that reply to one of the last day in the room, if there is one.
    public var replyShare = 0.1
    /// Whether messages have texts, which only NDJSON holds.
    public var hasText = false
    /// The share of messages that mention people.
    public var mentionShare = 0.1
    /// The shares of those that mention 1, 2 and 3 people; their sum is 1.
    public var mentionCountShares = [0.93, 0.06, 0.01]
    /// The share of mentions of a user who posted in the room within 5 minutes, if there is one.
    public var recentShare = 0.5
    /// The same within 24 hours, those of 5 minutes included.
    public var dayShare = 0.85
    /// The share of messages that mention everyone, in rooms of less than 1,000 members.
    public var smallAllShare = 0.0019
    /// The share of messages that mention everyone, in rooms of 1,000 members and more.
    public var bigAllShare = 0.00001

    /// The defaults.
    public init() {}
  }

  /// When people are connected.
  public struct Presence: Hashable, Sendable {
    /// The share of the users who are connected at once, in the mean; 0 for none ever. Nil for
    /// 0.06, or more when senders must be connected so long.
    public var onlineShare: Double?
    /// The share of the messages whose sender is connected: who is not connects to write, for a
    /// visit. 0 for those who are connected by chance.
    public var senderOnlineShare = 0.95
    /// How long a visit lasts after its last message, in minutes.
    public var visitMinutes = 5.0
    /// The minutes that a tenth, half and nine tenths of the sessions last at most. A session ends
    /// earlier when the user's next one begins, so great shares cut long sessions. Visits are
    /// apart.
    public var sessionMinutes = [3.0, 78, 1100]

    /// The defaults.
    public init() {}
  }
}
