import Foundation
internal import PushFiles
internal import PushReference
package import PushModel

/// What any evaluator of the rules has to pass: the vectors, the laws, and random worlds in which it
/// answers as the reference does.
///
///     #expect(try EvaluatorConformance.problems(seeds: [1, 2]) { MyEvaluator($0) } == [])
///
/// An evaluator needs nothing but `Evaluator`'s two functions, and may keep, for as long as it lives,
/// whatever it stands on: a service, a store, a process that it asks. It is made anew some dozen times
/// a seed, and once for each vector. Two of its answers are compared: of all recipients in order, and
/// of each user alone, strangers too.
package enum EvaluatorConformance {
  /// Everything in which an evaluator contradicts the rules.
  ///
  /// - Parameters:
  ///   - seeds: of the random worlds; each problem names its own.
  ///   - make: makes the evaluator of settings.
  /// - Returns: a line for each contradiction; none for an evaluator that passes.
  package static func problems(
    seeds: [UInt64], _ make: @escaping EvaluatorLaws.Maker
  ) throws -> [String] {
    var problems = try ConformanceVector.all().flatMap { try $0.problems(make) }
    for seed in seeds {
      for rules in RuleSet.allCases {
        let label = "seed \(seed), \(rules.rawValue)"
        let plain = RandomWorld(rules, seed: seed)
        problems += try EvaluatorLaws(plain, Int(seed % 1000), label, make).all()
        let varied = RandomWorld(
          rules, seed: seed, userCount: 24, messageCount: 60,
          style: RandomWorld.Style(isVaried: true))
        problems += try differences(varied, label, make)
      }
    }
    return problems
  }

  /// Where an evaluator answers otherwise than the reference.
  private static func differences(
    _ world: RandomWorld, _ label: String, _ make: EvaluatorLaws.Maker
  ) throws -> [String] {
    let settings = world.settings()
    var reference = ReferenceEvaluator(settings)
    var evaluator = try make(settings)
    var problems: [String] = []
    for message in world.messages {
      let expected = rows(message, &reference)
      let found = rows(message, &evaluator)
      if found != expected {
        problems.append("\(label), \(message.id): \(found) instead of \(expected)")
      }
      for user in world.users + ["stranger"] {
        let (found, expected) = (
          evaluator.decision(message, for: user), reference.decision(message, for: user)
        )
        if found != expected {
          problems.append(
            "\(label), \(message.id), \(user) alone: \(String(describing: found)) instead of "
              + "\(String(describing: expected))")
        }
      }
    }
    return problems
  }

  /// The recipients in order, each with what it gets.
  package static func rows(_ message: Message, _ evaluator: inout some Evaluator) -> [String] {
    var rows: [String] = []
    evaluator.decide(message) { user, decision in
      rows.append("\(user.rawValue) \(decision.outcome.key) \(decision.devices)")
    }
    return rows
  }
}

/// A case of vectors.ndjson, or of a file like it: a world, a message, and what its only recipient gets.
package struct ConformanceVector {
  package let id: String
  package let settings: FanoutSettings
  package let message: Message
  /// The outcome's key.
  package let expected: String
  /// nil: not said, so not checked.
  package let devices: [String]?

  /// All cases of a file.
  package static func all(_ file: String = "vectors.ndjson") throws -> [ConformanceVector] {
    let url = Repository.root.appending(path: "Tests/ConformanceTests/\(file)")
    return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
      try ConformanceVector(String($0))
    }
  }

  private init(_ line: String) throws {
    let object = try Self.object(JSONSerialization.jsonObject(with: Data(line.utf8)))
    let records = object["settings"] as? [Any] ?? []
    let lines = try records.map { try JSONSerialization.data(withJSONObject: $0) }
    settings = try SettingsLoader.load(
      SettingsPaths([UInt8](Data(lines.joined(separator: Data("\n".utf8))))))
    let text = try JSONSerialization.data(withJSONObject: Self.object(object["message"]))
    guard let message = try MessageReader([UInt8](text), rules: settings.app.rules).next() else {
      throw MalformedVector()
    }
    self.message = message
    let expect = try Self.object(object["expect"])
    id = object["id"] as? String ?? "?"
    let parts = ["action", "reason", "scope"].compactMap { expect[$0] as? String }
    expected = parts.joined(separator: "/")
    devices = expect["devices"] as? [String]
  }

  private struct MalformedVector: Error {}

  private static func object(_ value: Any?) throws -> [String: Any] {
    guard let object = value as? [String: Any] else { throw MalformedVector() }
    return object
  }

  /// What of an evaluator's answers contradicts the case.
  package func problems(_ make: EvaluatorLaws.Maker) throws -> [String] {
    var evaluator = try make(settings)
    var found: [Decision] = []
    evaluator.decide(message) { found.append($1) }
    let isRight =
      found.map(\.outcome.key) == [expected]
      && (devices == nil || found.first?.devices.map(\.text) == devices)
    let single = (0..<UInt32(settings.userCount)).compactMap {
      evaluator.decision(message, for: settings.id(of: UserIndex($0)))
    }
    var problems: [String] = []
    if !isRight {
      problems.append("\(id): \(found) instead of \(expected) \(devices ?? [])")
    }
    if single != found { problems.append("\(id): \(single) for one, \(found) for all") }
    return problems
  }
}
