import Foundation
import PushFanout
import PushFiles
import PushReference
import PushModel

extension Work {
  /// Files into the engine, and messages from files.
  static let parse = [
    settings("ndjson-users") { SettingsPaths(settings: [$0.app, $0.usersNDJSON]) },
    settings("ndjson-members") { SettingsPaths(settings: [$0.app, $0.membersNDJSON]) },
    settings("csv-users") { SettingsPaths(settings: [$0.app], users: [$0.usersCSV]) },
    settings("csv-members") { SettingsPaths(settings: [$0.app], members: [$0.membersCSV]) },
    messages("ndjson-messages") { $0.messagesNDJSON },
    messages("csv-messages") { $0.messagesCSV },
  ]

  private static func settings(
    _ name: String, _ paths: @escaping @Sendable (WorldFiles) -> SettingsPaths
  ) -> Work {
    Work("parse.\(name)", unit: "record") { stages in
      let files = WorldFiles(records: stages.scale.records)
      files.check()
      let paths = paths(files)
      return Prepared(units: stages.scale.records) {
        keep(WorldFiles.load(paths).userCount)
      }
    }
  }

  private static func messages(
    _ name: String, _ path: @escaping @Sendable (WorldFiles) -> String
  ) -> Work {
    Work("parse.\(name)", unit: "record") { stages in
      let files = WorldFiles(records: stages.scale.records)
      let path = path(files)
      let read = WorldFiles.messages(path)
      for (read, written) in zip(read, files.messages) {
        require(read == written, "\(name): read \(read), written \(written)")
      }
      require(read.count == files.messages.count, "\(name): \(read.count) messages read")
      return Prepared(units: files.messages.count) {
        keep(WorldFiles.countMessages(path))
      }
    }
  }

  /// Decisions that are there, as text, to nowhere.
  static let write = [DecisionFormat.ndjson, .csv, .pushlist, .counts].map { format in
    Work("write.\(format)", unit: "decision") { stages in
      let stage = stages.stage(size: 500)
      let messages = stage.messages(.plain)
      let results = messages.map { stage.fanout.decide($0) }
      let expected = DecisionBytes.reference(stage.world, messages[0], format)
      let bytes = DecisionBytes.engine(messages[0], results[0], format)
      require(bytes == expected, "\(format) is not what the reference writes")
      return Prepared(units: stage.memberships) {
        DecisionBytes.write(messages, results, format, to: "/dev/null")
      }
    }
  }
}

/// Decisions in one of the formats.
private enum DecisionBytes {
  static func write(
    _ messages: [Message], _ results: [FanoutResult], _ format: DecisionFormat, to path: String
  ) {
    must {
      let file = try OutputFile(path: path)
      let writer = try FanoutWriter(file, format: format, threads: 1)
      try writer.write(messages, results: results)
      try file.finish()
    }
  }

  static func engine(_ message: Message, _ result: FanoutResult, _ format: DecisionFormat) -> Data {
    bytes { write([message], [result], format, to: $0) }
  }

  static func reference(_ world: BenchWorld, _ message: Message, _ format: DecisionFormat) -> Data {
    bytes { path in
      must {
        let file = try OutputFile(path: path)
        let writer = try FanoutWriter(file, format: format)
        let settings = world.settings(ofGroup: 0)
        var evaluator = Referee.evaluator(settings)
        var messages = [message][...]
        try writer.write(by: &evaluator, id: settings.id) { messages.popFirst() }
        try file.finish()
      }
    }
  }

  private static func bytes(_ body: (String) -> Void) -> Data {
    let path = TemporaryFolder.path + "/decisions"
    body(path)
    return must { try Data(contentsOf: URL(fileURLWithPath: path)) }
  }
}

/// What goes wrong here is a mistake of the benchmark.
func must<Value>(_ body: () throws -> Value) -> Value {
  do { return try body() } catch { fatalError("\(error)") }
}
