import ArgumentParser
import PushFanout
import PushFiles
import PushModel
import PushStore
import QuietTime

/// The settings files.
struct FileOptions: ParsableArguments {
  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Settings, NDJSON: the app, users, conversations, members. Several are read as one.",
      valueName: "file"))
  var settings: [InputPath] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Users, CSV, read after the settings.", valueName: "file"))
  var users: [InputPath] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Members, CSV, read after the users.", valueName: "file"))
  var members: [InputPath] = []

  var paths: SettingsPaths {
    SettingsPaths(
      settings: settings.map(\.path), users: users.map(\.path), members: members.map(\.path))
  }
}

/// A world, for every command that decides: files, or a store.
struct WorldOptions: ParsableArguments, WorldSource {
  @OptionGroup var files: FileOptions

  @Option(help: ArgumentHelp("A store, instead of files.", valueName: "file"))
  var store: StorePath?

  @OptionGroup var zones: UnknownZoneOption

  @OptionGroup var habits: QuietOption

  /// Reads the world as values, as ``ZonedSettings`` for an evaluator that needs all zones, and says
  /// who is decided for without quiet hours.
  func loadZoned() throws -> ZonedSettings {
    let zoned = try ZonedSettings(try load(), zones.unknownZones)
    if zones.unknownZones == .ignore { UnknownZoneOption.report(zoned.unknown) }
    return zoned
  }

  /// Reads the world as values, with a progress bar.
  func load() throws -> FanoutSettings {
    if let store = store?.path {
      let reader = try StoreReader(store)
      defer { try? reader.close() }
      return try ProgressBar.watch("opening", store, passes: 0.6) { try reader.settings() }
    }
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    return try SettingsLoader.load(paths, LoadOptions { bar.update($0) })
  }

  /// Reads the files into an engine from which the records can be read again, with a progress bar.
  func loadRecords() throws -> FanoutRecords {
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    return try SettingsLoader.loadRecords(paths, LoadOptions { bar.update($0) }).records
  }

  /// Takes a slice of the world as values.
  func apply(_ slice: MessageSlice, to settings: inout FanoutSettings) throws {
    do { try slice.apply(to: &settings) } catch {
      KnownIDs.use(settings)
      throw error
    }
  }

  func validate() throws {
    try checkIsOne()
    let paths = files.paths
    if store == nil, paths.settings.isEmpty && paths.members.isEmpty {
      throw ValidationError("Name the members: --settings FILE, --members FILE or --store FILE.")
    }
  }
}

/// Arguments that name a world.
protocol WorldSource {
  var files: FileOptions { get }
  var store: StorePath? { get }
  var zones: UnknownZoneOption { get }
}

extension WorldSource {
  /// The files, if there is no store.
  var paths: SettingsPaths {
    var paths = files.paths
    paths.unknownZones = zones.ofFiles
    return paths
  }

  /// Reads the world into the engine, with a progress bar.
  func loadFanout(threads: Int?) throws -> Fanout {
    if let store = store?.path {
      let opened = try ProgressBar.watch("opening", store, passes: 0.6) {
        try SettingsStore(store, .read, threads: threads, unknownZones: zones.unknownZones)
      }
      opened.opening.say(store)
      try opened.close()
      return reported(opened.fanout)
    }
    let bar = ProgressBar("loading")
    defer { bar.finish() }
    let fanout = try SettingsLoader.loadFanout(
      paths, threads: threads, LoadOptions { bar.update($0) })
    bar.finish()
    return reported(fanout)
  }

  /// Prints who is decided for without quiet hours, and gives the engine back.
  func reported(_ fanout: Fanout) -> Fanout {
    if let store = store?.path { KnownIDs.use(store: store) } else { KnownIDs.use(fanout) }
    if zones.unknownZones == .ignore {
      UnknownZoneOption.report(fanout.currentVersion.unknownZoneUsers)
    }
    return fanout
  }

  /// Refuses files beside a store.
  func checkIsOne() throws {
    if store != nil, files.paths.count > 0 {
      throw ValidationError("--store goes without --settings, --users and --members.")
    }
  }
}

extension StoreOpening {
  /// Says that a store was opened without its snapshot, and what makes one.
  func say(_ store: String) {
    guard case .rebuilt = self else { return }
    Terminal.say("\(store): \(self); push-fanout store snapshot --store \(store) writes one")
  }
}
