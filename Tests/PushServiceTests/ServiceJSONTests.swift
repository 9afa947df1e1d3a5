import Foundation
import PushReference
import PushModel
import PushService
import TestSupport
import Testing

/// Goal: what the service writes as JSON is what Foundation writes of the same object, to the byte, and
/// has the explanation's values.
@Suite struct ServiceJSONTests {
  private struct Answer: Decodable {
    struct Step: Decodable {
      let rule, subject, found: String
      let scope: String?
      let conversation: Identifier?
      let stops, decides: Bool
    }
    let message, conversation, user: Identifier
    let at: Int64
    let steps: [Step]
    let decision: Decision?
    let answer, timeZone: String
    let advice: [String]
  }

  private static func check(_ explanation: Explanation, _ label: Comment) throws {
    let bytes = ServiceJSON.explanation(explanation)
    let object = try JSONSerialization.jsonObject(with: Data(bytes))
    let again = try JSONSerialization.data(
      withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
    #expect(bytes.text == String(decoding: again, as: UTF8.self), label)
    let found = try JSONDecoder().decode(Answer.self, from: Data(bytes))
    #expect(
      [found.message, found.conversation, found.user]
        == [explanation.message, explanation.conversation, explanation.user], label)
    #expect(found.at == explanation.at.milliseconds && found.timeZone == explanation.timeZone)
    #expect(found.decision == explanation.decision && found.answer == explanation.answer, label)
    #expect(
      found.steps.map { [$0.rule, $0.subject, $0.found, $0.scope, $0.conversation?.text] }
        == explanation.steps.map {
          [$0.rule, $0.subject, $0.found, $0.scope?.name, $0.conversation?.text]
        }, label)
    #expect(
      found.steps.map { [$0.stops, $0.decides] }
        == explanation.steps.map { [$0.stops, $0.decides] }, label)
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
          try Self.check(explanation, "seed \(seed), \(message.id), \(user)")
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
    try Self.check(explanation, "special characters")
  }
}
