import Foundation
import Glibc
import PushFanout
import PushModel
import PushStore
import Testing
import TestSupport

/// The process that writes or reads a store for a test.
struct StoreWriter {
  let process = Process()
  private let output: URL

  /// The program beside the tests' own binary.
  private static let program = Bundle.main.executableURL!.deletingLastPathComponent()
    .appending(path: "store-writer")

  /// Starts it.
  ///
  /// - Parameter folder: where its output goes.
  init(_ arguments: [String], in folder: URL) throws {
    output = folder.appending(path: "output-\(UUID())")
    try Data().write(to: output)
    process.executableURL = Self.program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
  }

  /// The lines that it has printed so far.
  var lines: [String] {
    let text = (try? Data(contentsOf: output)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// For each writer, the number of its last acknowledged write.
  var acknowledged: [Int: Int64] {
    var last: [Int: Int64] = [:]
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 3, words[0] == "ack", let writer = Int(words[1]) else { continue }
      last[writer] = Int64(words[2])
    }
    return last
  }

  /// The number that the last line of a kind says; nil when there is none.
  func last(_ kind: String) -> Int64? {
    lines.last { $0.hasPrefix(kind + " ") }.flatMap { Int64($0.dropFirst(kind.count + 1)) }
  }

  /// The messages of writes that failed.
  var errors: [String] {
    lines.filter { $0.hasPrefix("error ") }.map {
      $0.split(separator: " ", maxSplits: 3).last.map(String.init) ?? ""
    }
  }

  /// Waits until it has printed a line that begins so.
  func wait(for start: String) throws {
    let isPrinted = waits(while: { process.isRunning }) {
      lines.contains { $0.hasPrefix(start) }
    }
    try #require(isPrinted, "\(lines.suffix(3))")
  }

  /// Stops it where it is; what it has locked stays so.
  func stop() {
    _ = Glibc.kill(process.processIdentifier, SIGSTOP)
  }

  /// Ends it as a loss of power does, as far as the process can tell.
  func kill() {
    _ = Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for its end.
  ///
  /// - Returns: whether it ended by itself, by a signal or not.
  func finish() throws -> (status: Int32, reason: Process.TerminationReason) {
    if !waits(for: { !process.isRunning }) { kill() }
    return (process.terminationStatus, process.terminationReason)
  }
}

extension WriterModel {
  /// Checks that a store has every acknowledged write, and no half one.
  ///
  /// - Parameters:
  ///   - acknowledged: the number of the last write that was; one more may be there, as a writer may
  ///     be stopped between the write and its acknowledgement.
  ///   - slack: how many more may be there.
  mutating func check(_ store: SettingsStore, acknowledged: Int64, slack: Int64 = 1) {
    let found = store.fanout.user(counter)?.mutedUntil.milliseconds ?? 0
    #expect((acknowledged...acknowledged + slack).contains(found), "writer \(writer)")
    advance(to: found)
    let difference = difference(
      users: { store.fanout.user($0) },
      members: { store.fanout.member($0.user, of: $0.conversation) })
    #expect(difference == nil)
  }
}

extension WriterModel.Write {
  /// Does it, as the process that is killed does.
  func apply(to change: inout StoreWrite) throws {
    for (id, user) in users { try change.setUser(id, user) }
    for (place, member) in members {
      try change.setMember(place.user, of: place.conversation, member)
    }
    if let removedUser { try change.removeUser(removedUser) }
    if let removedMember {
      try change.removeMember(removedMember.user, of: removedMember.conversation)
    }
    if let removedConversation { try change.removeConversation(removedConversation) }
  }
}
