/// Something that is measured: the same list for the benchmark suites, the regression gate and the
/// tests.
public struct Work: Sendable {
  /// Of letters, digits, `_`, `-` and `.` alone, the suite first.
  public let name: String
  /// What is counted: a decision, a user, a row.
  public let unit: String
  /// Builds what is worked on, and compares answers with the reference; both take their time and
  /// stop the program when something is wrong.
  public let prepare: @Sendable (Stages) -> Prepared

  public var suite: String { String(name.prefix { $0 != "." }) }

  init(_ name: String, unit: String, prepare: @escaping @Sendable (Stages) -> Prepared) {
    self.name = name
    self.unit = unit
    self.prepare = prepare
  }

  /// Work that can be done again and again.
  public struct Prepared {
    /// How many units a run has.
    public let units: Int
    /// What comes before each run and is not measured.
    public var before: () -> Void
    public var run: () -> Void

    init(units: Int, before: @escaping () -> Void = {}, run: @escaping () -> Void) {
      self.units = units
      self.before = before
      self.run = run
    }
  }

  /// All that is measured.
  public static let all: [Work] =
    bitmaps + days + replays + resolve + decide + pushList + updates + turns + parse + write
    + content + requests

  /// The group sizes that are measured.
  static let sizes = [5, 50, 500, 5_000, 100_000, 1_000_000]
}

/// How large a world is.
public struct Scale: Sendable {
  public let userCount: Int
  /// About how many members all groups of a size have together: as many as no branch predictor
  /// learns by heart.
  public let memberships: Int
  /// What is larger is measured with so many members.
  public let largestGroup: Int
  /// How many records files have.
  public let records: Int

  public init(userCount: Int, memberships: Int, largestGroup: Int, records: Int) {
    self.userCount = userCount
    self.memberships = memberships
    self.largestGroup = largestGroup
    self.records = records
  }

  /// For figures.
  public static let full = Scale(
    userCount: 2_000_000, memberships: 200_000, largestGroup: 1_000_000, records: 100_000)
  /// For comparing two revisions: what takes seconds to build.
  public static let pair = Scale(
    userCount: 300_000, memberships: 100_000, largestGroup: 100_000, records: 50_000)
  /// For counting instructions one by one.
  public static let count = Scale(
    userCount: 20_000, memberships: 10_000, largestGroup: 10_000, records: 2_000)
  /// For tests: each once.
  public static let tiny = Scale(
    userCount: 2_000, memberships: 2_000, largestGroup: 1_000, records: 200)
}

extension Work {
  /// The kernels whose instructions are counted.
  public static let kernels = named([
    "bitmaps.day", "day.live", "day.batches", "day.replay", "turn.windows", "resolve.5000",
    "decide-cold.plain.5", "decide-cold.plain.500",
    "decide-cold.plain.100000", "decide-cold.user.500", "decide-warm.plain.100000",
    "push-list.100000", "updates.user", "updates.member-together", "parse.ndjson-users",
    "parse.ndjson-users-open", "parse.ndjson-members", "parse.csv-users", "parse.csv-users-windows",
    "parse.csv-members", "parse.ndjson-messages", "parse.csv-messages", "parse.arrow-messages",
    "write.ndjson",
  ])

  /// What is timed against another revision: the kernels, a day's held messages, and whole replays.
  public static let timed = kernels + named(["day.replay-hold"]) + replays

  /// The work whose allocations have limits.
  public static let allocating = named([
    "decide-cold.plain.5", "decide-cold.plain.500", "decide-cold.plain.100000",
    "decide-warm.plain.5", "decide-warm.plain.100000", "push-list.500", "turn.windows",
    "updates.user", "updates.user-together", "parse.ndjson-users", "parse.csv-members",
    "write.ndjson",
  ])

  private static func named(_ names: [String]) -> [Work] {
    names.map { name in
      guard let work = all.first(where: { $0.name == name }) else {
        fatalError("nothing is called \(name)")
      }
      return work
    }
  }
}
