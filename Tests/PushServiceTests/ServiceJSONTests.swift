import Foundation
import PushReference
import PushModel
import PushService
import TestSupport
import Testing

/// Goal: what the service writes as JSON is what Foundation's encoder writes, to the byte, and can be
/// read back.
@Suite struct ServiceJSONTests {
  private static func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test(arguments: RuleSet.allCases)
  func explanations(rules: RuleSet) throws {
    for seed in TestSupport.seeds([1, 2, 3]) {
      let world = RandomWorld(
        rules, seed: seed, userCount: 12, messageCount: 20,
        style: RandomWorld.Style(isVaried: true))
      var reference = ReferenceEvaluator(world.settings())
      for message in world.messages {
        for user in world.users {
          let explanation = reference.explain(message, for: user)
          let bytes = ServiceJSON.explanation(explanation)
          let label: Comment = "seed \(seed), \(message.id), \(user)"
          #expect(try bytes.text == Self.encoded(explanation), label)
          #expect(
            try JSONDecoder().decode(Explanation.self, from: Data(bytes)) == explanation, label)
        }
      }
    }
  }

  /// Every character that JSON treats in a way of its own, and some that it does not.
  @Test func characters() throws {
    let special = (0...0x20).map { UnicodeScalar($0) }.map { Character($0) }
    let id = String(special) + "\"\\/\u{7F}\u{2028}\u{2029}é漢😀"
    var settings = FanoutSettings()
    settings.setMember(Identifier(id), of: "g", MemberSettings())
    var reference = ReferenceEvaluator(settings)
    let message = Message(id: Identifier(id), conversation: "g", at: Instant(milliseconds: 1))
    let explanation = reference.explain(message, for: Identifier(id))
    #expect(explanation.decision != nil)
    #expect(try ServiceJSON.explanation(explanation).text == Self.encoded(explanation))
  }

  @Test func whatIsNoExplanationIsRefused() throws {
    let good =
      #"{"alternatives":[],"at":1,"conversation":"c","message":"m","steps":[],"timeZone":"UTC","#
      + #""user":"u"}"#
    #expect(throws: Never.self) {
      try JSONDecoder().decode(Explanation.self, from: Data(good.utf8))
    }
    for bad in [
      good.replacing(#""at":1"#, with: #""at":-1"#),
      good.replacing(#""user":"u""#, with: #""user":"u","decision":{"action":"push"}"#),
      good.replacing(
        #""user":"u""#, with: #""user":"u","decision":{"action":"shout","reason":"allowed"}"#),
    ] {
      #expect(throws: DecodingError.self, "\(bad)") {
        try JSONDecoder().decode(Explanation.self, from: Data(bad.utf8))
      }
    }
  }
}
