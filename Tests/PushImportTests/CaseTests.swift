import Foundation
import PushImport
import TestSupport
import Testing

/// Goal: the public cases of the rules hold, each a situation of the system's own tests.
@Suite struct CaseTests {
  struct Case: Decodable {
    let system: String
    let input: String
    let args: [String]
    let report: [String]?
    let fails: String?
  }

  struct Expected: Decodable {
    let message: String
    let user: String
    let push: Bool
    let imported: Bool?
  }

  static let folder = Repository.root.appending(path: "Tests/PushImportTests/Cases")

  static func names() throws -> [String] {
    try ["mattermost", "zulip"].flatMap { system in
      try FileManager.default.contentsOfDirectory(
        atPath: folder.appending(path: system).path
      ).map { "\(system)/\($0)" }
    }.sorted()
  }

  static func system(_ found: Case, _ folder: URL) throws -> ImportSystem {
    if found.system == "zulip" { return .zulip }
    var options = MattermostOptions()
    for (option, value) in zip(found.args, found.args.dropFirst()) where option.hasPrefix("--") {
      let path = folder.appending(path: value).path
      switch option {
      case "--api-users": options.users = path
      case "--api-statuses": options.statuses = path
      default: Issue.record("the option \(option) is not known to the test")
      }
    }
    return .mattermost(options)
  }

  @Test func casesHold() throws {
    var wrong: [String] = []
    let names = try Self.names()
    for name in names {
      let folder = Self.folder.appending(path: name)
      let found = try JSONDecoder().decode(
        Case.self, from: Data(contentsOf: folder.appending(path: "case.json")))
      let run = {
        try Importer().imported(
          try Self.system(found, folder), folder.appending(path: found.input).path)
      }
      if let fails = found.fails {
        let problem = Importer.problem(run)
        if try Regex(fails).firstMatch(in: problem) == nil { wrong.append("\(name): \(problem)") }
        continue
      }
      let result = try run()
      let lines = try String(
        contentsOf: folder.appending(path: "expected.ndjson"), encoding: .utf8
      ).split(separator: "\n")
      let wanted = try lines.map {
        try JSONDecoder().decode(Expected.self, from: Data($0.utf8))
      }.filter { $0.imported ?? $0.push }.map { "\($0.message) \($0.user)" }.sorted()
      if try result.pushes() != wanted { wrong.append("\(name): \(try result.pushes())") }
      let kinds = result.report.kinds.map(\.name)
      for kind in found.report ?? [] where !kinds.contains(kind) {
        wrong.append("\(name): \(kind) was not counted")
      }
    }
    #expect(wrong == [])
    #expect(names.count == 13)
  }
}
