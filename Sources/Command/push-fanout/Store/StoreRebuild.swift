import ArgumentParser
import PushModel
import PushStore
import PushSupport

/// `push-fanout store rebuild`: a store of what its snapshot has.
struct StoreRebuildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild",
    abstract: "Rebuild a lost store from the snapshot beside it.",
    discussion: """
      For a store whose file is gone or empty, and of which there is no backup; a backup has more. \
      FILE.snapshot has what decides: the app's settings, users with their devices, conversations \
      and members, as of one change. It has no display content (display settings, remarks, \
      nicknames, names of conversations) and no change feed; the feed starts over.

      A damaged file is not replaced: move it away first, with FILE-wal and FILE-shm.

      Examples:

        push-fanout store rebuild --from-snapshot --store settings.store

        push-fanout store rebuild --from-snapshot --store settings.store \\
          && push-fanout store check --store settings.store
      """)

  @OptionGroup var target: StoreOption
  @OptionGroup var waiting: WaitOption

  @Flag(help: "Rebuild from the snapshot; required.")
  var fromSnapshot = false

  func validate() throws {
    if !fromSnapshot { throw ValidationError("Say of what: --from-snapshot.") }
  }

  func run() throws {
    Interruption.say("nothing was changed")
    let now = try Clock.now
    let path = target.path
    let rebuild = try StoreRebuild(fromSnapshotOf: path)
    Interruption.beginOutput(
      path, temporaryNames: rebuild.temporaryNames, message: "no store was made")
    let bar = ProgressBar("rebuilding")
    defer { bar.finish() }
    let settings = try rebuild.run(at: now) { bar.update($0) }
    bar.finish()
    Interruption.endOutput(message: "the store is complete; its snapshot is that of the lost one")
    Terminal.say(
      "\(settings.userCount.counted("user")), "
        + "\(settings.conversationIDs.count.counted("conversation")), as of change "
        + "\(rebuild.sequence) of the lost store; what it has not, as no snapshot has it: display "
        + "settings, remarks, nicknames, names of conversations, the change feed, later changes")
    // It only makes the next opening faster.
    let complete = "the store is complete; its snapshot is that of the lost one"
    do {
      try StoreSnapshot.write(path, waiting: waiting, message: complete)
    } catch { Terminal.say("push-fanout: \(complete): \(error)") }
  }
}
