import Foundation
import PushFanout
import PushFiles
import PushReference
import PushModel

extension Work {
  /// Files into the engine, and messages from files.
  static let parse =
    SettingsForm.all.map(settings) + [
      messages("ndjson-messages") { $0.messagesNDJSON },
      messages("csv-messages") { $0.messagesCSV }, columns,
    ]

  private static func settings(_ form: SettingsForm) -> Work {
    Work("parse.\(form.name)", unit: "record") { stages in
      let files = WorldFiles(records: stages.scale.records)
      files.check()
      let paths = form.paths(files)
      return Prepared(units: stages.scale.records * form.files) {
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

  private static let columns = Work("parse.arrow-messages", unit: "record") { stages in
    let files = WorldFiles(records: stages.scale.records)
    // What columns have of them.
    let messages = files.messages.map {
      Message(id: $0.id, conversation: $0.conversation, at: $0.at, sender: $0.sender)
    }
    let columns = MessageColumns(messages)
    require(columns.read(under: .easemob) == messages, "other messages are read from columns")
    return Prepared(units: messages.count) { keep(columns.read(under: .easemob).count) }
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

/// How fast files of settings are read into the engine, on one thread.
public enum Loading {
  /// The names of the files.
  public static var forms: [String] { SettingsForm.all.map(\.name) }

  /// Millions of records a second, of the best of the rounds: the machine's other work only adds.
  ///
  /// - Parameter body: takes each name and rate when it is measured.
  /// - Returns: what the body made of them.
  public static func rates<Rate>(
    of names: [String], records: Int, rounds: Int, _ body: (String, Double) -> Rate
  ) -> [Rate] {
    if names.isEmpty { return [] }
    let files = WorldFiles(records: records, hasMessages: false)
    files.check()
    return SettingsForm.all.filter { names.contains($0.name) }.map { form in
      let paths = form.paths(files)
      let best = (0..<rounds).map { _ in
        seconds { keep(WorldFiles.load(paths).userCount) }
      }.min()
      return body(form.name, Double(records * form.files) / (best ?? 0) / 1e6)
    }
  }
}

/// Files of settings.
private struct SettingsForm: Sendable {
  let name: String
  /// Of a record for each user.
  let files: Int
  let paths: @Sendable (WorldFiles) -> SettingsPaths

  init(_ name: String, files: Int = 1, _ paths: @escaping @Sendable (WorldFiles) -> SettingsPaths) {
    self.name = name
    self.files = files
    self.paths = paths
  }

  static let all = [
    SettingsForm("ndjson-users") { SettingsPaths(settings: [$0.app, $0.usersNDJSON]) },
    SettingsForm("ndjson-users-device") { SettingsPaths(settings: [$0.app, $0.devicesNDJSON]) },
    SettingsForm("ndjson-members") { SettingsPaths(settings: [$0.app, $0.membersNDJSON]) },
    SettingsForm("ndjson-members-scattered") {
      SettingsPaths(settings: [$0.app, $0.scatteredNDJSON])
    },
    SettingsForm("ndjson-both", files: 2) {
      SettingsPaths(settings: [$0.app, $0.devicesNDJSON, $0.scatteredNDJSON])
    },
    SettingsForm("csv-users") { SettingsPaths(settings: [$0.app], users: [$0.usersCSV]) },
    SettingsForm("csv-users-windows") {
      SettingsPaths(settings: [$0.app], users: [$0.windowsCSV])
    },
    SettingsForm("ndjson-users-open") { SettingsPaths(settings: [$0.openNDJSON]) },
    SettingsForm("csv-members") { SettingsPaths(settings: [$0.app], members: [$0.membersCSV]) },
    SettingsForm("csv-members-scattered") {
      SettingsPaths(settings: [$0.app], members: [$0.scatteredCSV])
    },
    SettingsForm("csv-both", files: 2) {
      SettingsPaths(settings: [$0.app], users: [$0.usersCSV], members: [$0.scatteredCSV])
    },
  ]
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
