import ArgumentParser
import Foundation
import PushModel
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

/// The store that a command is about.
struct StoreOption: ParsableArguments {
  @Option(help: ArgumentHelp("The store.", valueName: "file"))
  var store: StorePath

  @OptionGroup var habits: QuietOption

  var path: String { store.path }
}

/// The instant at which something is read or written.
struct TimeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Unix milliseconds, or an RFC 3339 time. (default: now)", valueName: "instant"))
  var at: String?

  func validate() throws {
    if let at, Instant(text: at) == nil {
      throw ValidationError(
        "--at \(at) is not an instant; give Unix milliseconds or an RFC 3339 time, "
          + "like 2024-06-03T12:00:00Z.")
    }
  }

  /// - Throws: ``Failure`` for a clock of no use.
  var now: Instant { get throws { try at.flatMap { Instant(text: $0) } ?? Clock.now } }
}

extension ProgressBar {
  /// Shows how far work on a store is: by the bytes that are read and written.
  ///
  /// - Parameter passes: how many times the store's size that will be, about.
  static func watch<Value>(
    _ title: String, _ store: String, passes: Double, while work: () throws -> Value
  ) rethrows -> Value {
    let attributes = try? FileManager.default.attributesOfItem(atPath: store)
    let total = passes * Double(attributes?[.size] as? Int ?? 0)
    let before = StoreReader.movedByteCount
    let share: @Sendable () -> Double? = {
      total > 0 ? min(0.99, Double(StoreReader.movedByteCount - before) / total) : nil
    }
    return try watch(title, share, while: work)
  }
}
