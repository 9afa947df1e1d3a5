internal import Dispatch
internal import Foundation
internal import PushFanout
internal import PushModel
internal import Synchronization

/// A sample of the messages that were decided, as lines of a messages.ndjson that `push-fanout
/// replay` and `evaluate` read, each with what was decided. No words of a message are in it.
///
/// Deciding never waits for it: lines that the disk does not take in time are dropped, and counted.
final class DecisionLog: Sendable {
  private struct Buffer {
    var bytes: [UInt8] = []
    var lines: Int64 = 0
    var isScheduled = false
  }

  private let path: String
  /// One of so many messages is noted: not at random, so that a test can tell which.
  private let oneIn: UInt64
  /// A file has at most so many bytes, and so has the one before it.
  private let fileLimit: Int
  /// So many bytes wait at most.
  private let bufferLimit: Int
  private let buffer = Mutex(Buffer())
  private let queue = DispatchQueue(label: "decision-log")
  private let file: Mutex<(handle: FileHandle, size: Int)>
  private let seen = Atomic<UInt64>(0)
  private let written = Atomic<Int64>(0)
  private let dropped = Atomic<Int64>(0)

  /// Opens the file, or makes it; for its owner only.
  ///
  /// - Throws: ``OptionError`` for a file that cannot be written.
  init(
    _ path: String, oneIn: Int, fileLimit: Int, bufferLimit: Int = 8 << 20
  ) throws(OptionError) {
    self.path = path
    self.oneIn = UInt64(oneIn)
    self.fileLimit = fileLimit
    self.bufferLimit = bufferLimit
    do {
      file = Mutex(try Self.open(path))
    } catch {
      throw OptionError("the decision log \(path) cannot be written: \(error)")
    }
  }

  private static func open(_ path: String) throws -> (handle: FileHandle, size: Int) {
    if !FileManager.default.fileExists(atPath: path) {
      guard
        FileManager.default.createFile(
          atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
      else { throw OptionError("it cannot be made") }
    }
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    return (handle, Int(try handle.seekToEnd()))
  }

  /// Notes a message that was decided, if it is one of the sample.
  ///
  /// - Parameter settings: the last change that it was decided by.
  func note(_ message: Message, _ result: FanoutResult, settings: @autoclosure () -> String) {
    let number = seen.wrappingAdd(1, ordering: .relaxed).oldValue
    guard number % oneIn == 0 else { return }
    let line = DecisionLine.encoded(
      message, result.counts, settings: settings(), trace: TraceContext.current?.trace)
    let mustSchedule = buffer.withLock { buffer -> Bool? in
      guard buffer.bytes.count + line.count <= bufferLimit else { return nil }
      buffer.bytes += line
      buffer.lines += 1
      defer { buffer.isScheduled = true }
      return !buffer.isScheduled
    }
    guard let mustSchedule else {
      dropped.wrappingAdd(1, ordering: .relaxed)
      return
    }
    if mustSchedule { queue.async { self.drain() } }
  }

  /// Writes what waits.
  private func drain() {
    let waiting = buffer.withLock { buffer in
      defer { buffer = Buffer() }
      return buffer
    }
    guard waiting.lines > 0 else { return }
    do {
      try file.withLock { file in
        if file.size > 0, file.size + waiting.bytes.count > fileLimit {
          try file.handle.close()
          // The file before the last one goes.
          guard unsafe rename(path, path + ".1") == 0 else {
            throw OptionError("\(path) cannot be renamed")
          }
          file = try Self.open(path)
        }
        try file.handle.write(contentsOf: Data(waiting.bytes))
        file.size += waiting.bytes.count
      }
      written.wrappingAdd(waiting.lines, ordering: .relaxed)
    } catch {
      dropped.wrappingAdd(waiting.lines, ordering: .relaxed)
    }
  }

  /// Writes what waits, before the program ends.
  func flush() { queue.sync { drain() } }

  func addMetrics(to text: inout MetricsText) {
    text.add(
      "decision_log_lines_total", "counter", "Decisions that were logged.",
      "\(written.load(ordering: .relaxed))")
    text.add(
      "decision_log_dropped_total", "counter",
      "Decisions that should have been logged, and were not.",
      "\(dropped.load(ordering: .relaxed))")
  }
}

/// A line of the decision log.
enum DecisionLine {
  /// The message without its words, and how often each outcome occurred.
  ///
  /// - Parameter trace: of the request that asked for the decision.
  static func encoded(
    _ message: Message, _ counts: FanoutCounts, settings: String, trace: String?
  ) -> [UInt8] {
    // The instant first, so that lines are sorted by it with `sort`.
    var text = "{\"at\":\(message.at.milliseconds),\"id\":\(JSONText.quoted(message.id.text))"
    func add(_ name: String, _ value: String?) {
      if let value { text += ",\"\(name)\":\(value)" }
    }
    func add(_ name: String, _ ids: [Identifier]) {
      add(name, "[" + ids.map { JSONText.quoted($0.text) }.joined(separator: ",") + "]")
    }
    add("conversation", JSONText.quoted(message.conversation.text))
    add("sender", message.sender.map { JSONText.quoted($0.text) })
    if let mentions = message.mentions { add("mentions", mentions) }
    add("mentionsAll", message.mentionsAll.map { "\($0)" })
    add("silent", message.silent.map { "\($0)" })
    if message.body != .text { add("body", JSONText.quoted(message.body.rawValue)) }
    add("sentAt", message.sentAt.map { "\($0.milliseconds)" })
    add("force", message.force.map { "\($0)" })
    if message.onlineOnly { add("onlineOnly", "true") }
    if let filter = message.filter { add("filter", object(filter)) }
    add("ext", ext(message.ext))
    if message.channel != "" { add("channel", JSONText.quoted(message.channel.text)) }
    add("isMentioned", message.isMentioned.map { "\($0)" })
    // Whether there are words decides (R-44), and not which.
    if !message.pushContent.isEmpty { add("pushContent", "\"-\"") }
    if !message.persisted { add("persisted", "false") }
    if message.backlog { add("backlog", "true") }
    let entries = Outcome.coded.compactMap { _, outcome in
      counts[outcome] > 0 ? "\(JSONText.quoted(outcome.key)):\(counts[outcome])" : nil
    }
    let sum = "{\(entries.joined(separator: ","))}"
    let traced = trace.map { ",\"trace\":\"\($0)\"" } ?? ""
    add("decision", "{\"counts\":\(sum),\"settings\":\(JSONText.quoted(settings))\(traced)}")
    return Array((text + "}\n").utf8)
  }

  private static func object(_ filter: DeviceFilter) -> String {
    let lists = [
      ("accept_device_id", filter.acceptDeviceIDs), ("ignore_device_id", filter.ignoreDeviceIDs),
      ("accept_notifier_name", filter.acceptNotifierNames),
      ("ignore_notifier_name", filter.ignoreNotifierNames),
    ]
    let entries = lists.filter { !$0.1.isEmpty }.map { name, ids in
      "\"\(name)\":[" + ids.map { JSONText.quoted($0.text) }.joined(separator: ",") + "]"
    }
    return "{\(entries.joined(separator: ","))}"
  }

  /// The fields that decide; nil for none.
  private static func ext(_ ext: EasemobExtension) -> String? {
    guard ext != EasemobExtension() else { return nil }
    var entries: [String] = []
    if let list = list(ext.atList) { entries.append("\"em_at_list\":\(list)") }
    if let list = list(ext.legacyAtList) {
      entries.append("\"em_apns_ext\":{\"em_at_list\":\(list)}")
    }
    if ext.force { entries.append("\"em_force_notification\":true") }
    if ext.ignore { entries.append("\"em_ignore_notification\":true") }
    if ext.filter != DeviceFilter() { entries.append("\"em_push_filter\":\(object(ext.filter))") }
    return "{\(entries.joined(separator: ","))}"
  }

  private static func list(_ list: EasemobExtension.AtList) -> String? {
    switch list {
    case .absent: nil
    case .text(let id): JSONText.quoted(id.text)
    case .ids(let ids): "[" + ids.map { JSONText.quoted($0.text) }.joined(separator: ",") + "]"
    // Anything else is no mention.
    case .unreadable: "0"
    }
  }
}
