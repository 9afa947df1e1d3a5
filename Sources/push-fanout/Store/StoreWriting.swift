import ArgumentParser
import Foundation
import PushStore

/// How long a command waits for the right to write.
struct WaitOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How long to wait while another process has the store open for writing.",
      valueName: "seconds"))
  var wait = 5.0

  var duration: Duration { .seconds(wait) }

  func validate() throws {
    if !(0...1e6).contains(wait) {
      throw ValidationError("--wait \(Number.text(wait)) is not 0...1000000 seconds.")
    }
  }
}

/// Who may use a store that is made.
struct ModeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Who may use a store that is made, and the files beside it: 600, its owner; 640, its group may "
        + "read; 660, its group may write.", valueName: "mode"),
    transform: { text in
      guard let mode = StorePermissions(octal: text) else {
        throw ValidationError("a store's mode is 600, 640 or 660.")
      }
      return mode
    })
  var mode: StorePermissions?

  /// - Throws: for an existing store.
  func permissions(of store: String) throws -> StorePermissions {
    guard mode != nil, FileManager.default.fileExists(atPath: store) else { return mode ?? .owner }
    throw Failure(
      text: "--mode is for a new store, and \(store) is there; use chmod")
  }
}
