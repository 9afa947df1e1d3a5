import Dispatch
import Foundation
import Glibc
import PushModel
import PushStore
import TestSupport

@testable import PushFanout

/// Writes a store, or reads it, in a process of its own; the tests start it, and kill it.
///
///     store-writer write STORE WRITERS IMPORTERS WRITES [--bytes N] [--user N] [--snapshots yes]
///         [--erasures SECRET] [--compactions yes]
///     store-writer read STORE WRITERS IMPORTERS STATES
///     store-writer cycle STORE WRITERS IMPORTERS OPENINGS
///     store-writer look STORE WRITERS IMPORTERS OPENINGS
///
/// Prints `ready` when the store is open, and for each write of a writer that is acknowledged
/// `ack WRITER NUMBER`, or `error WRITER NUMBER MESSAGE` for the first that is not. With `--snapshots`
/// it also makes the engine's tables again and writes a snapshot, again and again, and prints
/// `opened` and how, and `snapshot` for each. With `--erasures` it makes users called
/// `SECRET-NUMBER`, prints `made NUMBER` for each, erases it, and prints `erased NUMBER`; with
/// `--compactions` it compacts the feed by and by, and prints `compacted NUMBER` with the number of
/// the last entry that is gone.
/// `cycle` opens the store for each write anew, and closes it; `look` opens it to read so often.
@main
struct Program {
  static func main() {
    let arguments = CommandLine.arguments
    precondition(arguments.count >= 6, "see the comment in \(#fileID)")
    if let bytes = option("--bytes", arguments) { limitFiles(to: bytes) }
    if let user = option("--user", arguments) { become(user) }
    let path = arguments[2]
    let writers = Int(arguments[3]) ?? 0
    let models = (0..<writers + (Int(arguments[4]) ?? 0)).map {
      WriterModel(writer: $0, imports: $0 >= writers)
    }
    do {
      switch arguments[1] {
      case "write": try write(path, models, count: Int64(arguments[5]) ?? 0)
      case "cycle": try cycle(path, openings: Int(arguments[5]) ?? 0)
      case "look": try look(path, openings: Int(arguments[5]) ?? 0)
      default: try read(path, models, states: Int(arguments[5]) ?? 1)
      }
    } catch {
      say("failed \(error)")
      exit(1)
    }
  }

  private static func option(_ name: String, _ arguments: [String]) -> Int? {
    arguments.firstIndex(of: name).flatMap { Int(arguments[$0 + 1]) }
  }

  /// Lets no file grow larger, so that writes fail as on a full disk.
  private static func limitFiles(to bytes: Int) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
  }

  /// Gives up the rights of the superuser, whom no permission stops.
  private static func become(_ user: Int) {
    precondition(setgid(gid_t(user)) == 0 && setuid(uid_t(user)) == 0)
  }

  /// A line in one piece, as several threads write, and a kill may come at any time.
  private static func say(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { _ = unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
  }

  private static func write(_ path: String, _ models: [WriterModel], count: Int64) throws {
    let store = try SettingsStore(path, .create, threads: 1)
    say("opened \(store.opening)")
    say("ready")
    let group = DispatchGroup()
    if CommandLine.arguments.contains("--snapshots") {
      Thread.detachNewThread { writeSnapshots(of: store) }
    }
    if let place = CommandLine.arguments.firstIndex(of: "--erasures") {
      let secret = CommandLine.arguments[place + 1]
      Thread.detachNewThread { erase(secret, in: store) }
    }
    if CommandLine.arguments.contains("--compactions") {
      Thread.detachNewThread { compact(store) }
    }
    for model in models {
      group.enter()
      // Threads of their own: a queue would run only as many as there are cores.
      Thread.detachNewThread {
        write(model, to: store, count)
        group.leave()
      }
    }
    group.wait()
    try store.close()
    say("closed")
  }

  /// Opens, adds users and closes, again and again: the file grows, and its log comes and goes.
  private static func cycle(_ path: String, openings: Int) throws {
    for opening in 0..<openings {
      let store = try SettingsStore(path, .create, threads: 1, waiting: .seconds(60))
      try store.write(at: .zero) { write in
        for place in 0..<40 {
          try write.setUser(Identifier("u\(opening)-\(place)"), UserSettings())
        }
      }
      try store.close()
      say("cycle \(opening)")
    }
  }

  private static func look(_ path: String, openings: Int) throws {
    for _ in 0..<openings {
      let reader = try StoreReader(path)
      _ = try reader.app()
      try reader.close()
      say("looked")
    }
  }

  private static func writeSnapshots(of store: SettingsStore) {
    while true {
      do {
        try store.fanout.update { (update) throws(FanoutError) in update.writer.compact() }
        try store.writeSnapshot()
        say("snapshot")
      } catch {
        return say("error 0 0 \(error)")
      }
    }
  }

  /// Makes a user who is wherever a user can be, and erases the user, again and again.
  private static func erase(_ secret: String, in store: SettingsStore) {
    do {
      let last = store.fanout.user("erasures")?.mutedUntil.milliseconds ?? 0
      // The process before may have been killed before it began to erase.
      if store.fanout.user(ErasedUser.id(secret, last)) != nil {
        try store.erase(.user(ErasedUser.id(secret, last)), at: .zero)
        say("erased \(last)")
      }
      for number in last + 1..<1_000_000 {
        let id = ErasedUser.id(secret, number)
        try store.write(at: .zero, from: id) { write in
          var count = UserSettings()
          count.mutedUntil = Instant(milliseconds: number)
          try write.setUser("erasures", count)
          var settings = ErasedUser.settings
          settings.devices?[0].address = try DeviceAddress(platform: .fcm, token: id.text)
          try write.setUser(id, settings)
          try write.setMember(id, of: ErasedUser.group, ErasedUser.member)
          try write.setRemark("remark", for: id, by: "erasures")
          try write.setRemark("remark", for: "erasures", by: id)
        }
        say("made \(number)")
        try store.erase(.user(id), at: .zero)
        say("erased \(number)")
        Thread.sleep(forTimeInterval: 0.01)
      }
    } catch { say("error 0 0 \(error)") }
  }

  private static func compact(_ store: SettingsStore) {
    do {
      while true {
        try store.compact(FeedRetention(entries: 40), at: .zero)
        say("compacted \(try store.reader.startOfFeed().sequence)")
        Thread.sleep(forTimeInterval: 0.005)
      }
    } catch { say("error 0 0 \(error)") }
  }

  private static func write(_ model: WriterModel, to store: SettingsStore, _ count: Int64) {
    let before = store.fanout.user(model.counter)?.mutedUntil.milliseconds ?? 0
    for number in before + 1...before + count {
      do {
        try write(model, number, to: store)
        say("ack \(model.writer) \(number)")
      } catch {
        return say("error \(model.writer) \(number) \(error)")
      }
    }
  }

  private static func write(
    _ model: WriterModel, _ number: Int64, to store: SettingsStore
  ) throws {
    let write = model.write(number)
    if model.imports {
      var settings = FanoutSettings()
      for (id, user) in write.users { settings.setUser(id, user) }
      for (place, member) in write.members {
        settings.setMember(place.user, of: place.conversation, member)
      }
      return try store.importSettings(settings, at: .zero, replacingApp: false)
    }
    try store.write(at: .zero) { change in
      for (id, user) in write.users { try change.setUser(id, user) }
      for (place, member) in write.members {
        try change.setMember(place.user, of: place.conversation, member)
      }
      if let user = write.removedUser { try change.removeUser(user) }
      if let place = write.removedMember {
        try change.removeMember(place.user, of: place.conversation)
      }
      if let conversation = write.removedConversation {
        try change.removeConversation(conversation)
      }
    }
  }

  /// Reads the whole store again and again, until it was seen in so many states; each time it must
  /// be as some number of writes left it.
  private static func read(_ path: String, _ models: [WriterModel], states: Int) throws {
    var models = models
    let reader = try StoreReader(path)
    say("ready")
    var seen: Set<[Int64]> = []
    while seen.count < states {
      let settings = try reader.settings()
      for place in models.indices {
        models[place].advance(
          to: settings.user(models[place].counter).mutedUntil.milliseconds)
        let difference = models[place].difference(
          users: { id in settings.index(of: id).map { settings.user($0) } },
          members: { place in
            settings.index(of: place.user).flatMap { settings.member($0, of: place.conversation) }
          })
        if let difference { return say("different \(difference)") }
      }
      let state = models.map { $0.count }
      seen.insert(state)
      say("equal \(state.map(String.init).joined(separator: " "))")
    }
    say("closed")
  }
}
