import ArgumentParser
import PushModel
import PushStore
import PushSupport

/// `push-fanout store compact`: removes old entries of the change feed.
struct StoreCompact: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Remove old entries of the change feed.",
    discussion: """
      An entry goes when no limit keeps it; the last one always stays. Numbers and cursors of the \
      others stay. A follower that is further behind is told to read everything again. With \
      --automatic, processes that have the store open for writing keep the feed so from now on, with \
      each of their commits a part; --no-automatic ends that. --shrink rewrites the file, to give \
      the space back to the file system.

      Examples:

        push-fanout store compact --store settings.store --keep 30d

        push-fanout store compact --store settings.store --keep-entries 1000000 \\
          --shrink

        push-fanout store compact --store settings.store --keep 30d \\
          --keep-entries 100000 --automatic
      """)

  @OptionGroup var target: StoreOption
  @Option(
    help: ArgumentHelp(
      "Keep entries that are not older: a number and d, h, m or s.", valueName: "age"))
  var keep: AgeText?
  @Option(help: ArgumentHelp("Keep so many of the last entries.", valueName: "count"))
  var keepEntries: Int?
  @Flag(inversion: .prefixedNo, help: "Whether writers do so by themselves from now on.")
  var automatic: Bool?
  @Flag(help: "Give the space back to the file system.")
  var shrink = false
  @OptionGroup var time: TimeOption
  @OptionGroup var waiting: WaitOption

  func validate() throws {
    let isLimited = keep != nil || keepEntries != nil
    if !isLimited, automatic == true || !shrink && automatic == nil {
      throw ValidationError("Say what is kept: --keep or --keep-entries.")
    }
    if let keepEntries, keepEntries < 1 {
      throw ValidationError("--keep-entries \(keepEntries) is not 1 or more.")
    }
  }

  func run() throws {
    let now = try time.now
    let removed = try ProgressBar.watch("compacting", target.path, passes: shrink ? 3 : 1) {
      try compact(at: now)
    }
    if let removed { Terminal.note("\(removed.counted("entry")) removed") }
  }

  /// - Returns: how many entries were removed; nil where that was not asked for.
  private func compact(at now: Instant) throws -> Int? {
    Interruption.say("nothing was removed")
    let store = try SettingsStore(target.path, .write, waiting: waiting.duration)
    Interruption.say("some of it may be done; repeat it for the rest")
    let retention =
      keep != nil || keepEntries != nil
      ? FeedRetention(age: keep?.duration, entries: keepEntries) : nil
    if automatic == true { try store.setRetention(retention, at: now) }
    if automatic == false { try store.setRetention(nil, at: now) }
    let removed = try retention.map { try store.compact($0, at: now) }
    if shrink { try store.shrink() }
    try store.close()
    return removed
  }
}

/// An age like `30d`.
struct AgeText: ExpressibleByArgument {
  let duration: Duration

  init?(argument: String) {
    let units: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
    guard let unit = argument.last.flatMap({ units[$0] }), let count = Int64(argument.dropLast()),
      (0...36_500 * 86_400 / unit).contains(count)
    else { return nil }
    duration = .seconds(count * unit)
  }
}
