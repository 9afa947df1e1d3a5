import Foundation
import PushModel
import TestSupport
import Testing

@testable import PushFanout

/// Goal: a byte holds every state there can be, whatever the options, and the tables give for it
/// what the rules give for the pair of classes it stands for.
///
/// `PUSH_FULL=1` takes every combination of options; a plain run some, by seed.
@Suite struct StateRulesTests {
  private static let isFull = ProcessInfo.processInfo.environment["PUSH_FULL"] == "1"

  /// Every combination of the options that the rules of states look at.
  private static let easemobApps: [AppSettings] = {
    var apps: [AppSettings] = []
    for scope in EasemobOptions.ForceScope.allCases {
      for single in EasemobOptions.SingleChatMention.allCases {
        for bits in 0..<4 {
          var app = AppSettings(rules: .easemob, advancedPush: bits & 1 == 0)
          app.easemob.forceScope = scope
          app.easemob.singleChatMentionOnly = single
          app.easemob.mentionBypassesDND = bits & 2 != 0
          apps.append(app)
        }
      }
    }
    return apps
  }()

  private static let rongcloudApps: [AppSettings] = {
    var apps: [AppSettings] = []
    for zero in RongCloudOptions.QuietZero.allCases {
      for single in RongCloudOptions.SingleMentionLevels.allCases {
        for bits in 0..<4 {
          var app = AppSettings(rules: .rongcloud, messageNotification: bits & 1 == 0)
          app.rongcloud.quietZero = zero
          app.rongcloud.singleMentionLevels = single
          app.rongcloud.mentionBypassesQuiet = bits & 2 != 0
          apps.append(app)
        }
      }
    }
    return apps
  }()

  /// Apps and kinds of conversation, all of them or some.
  private static func cases(_ apps: [AppSettings], _ rules: RuleSet, _ count: Int, _ seed: UInt64)
    -> [(AppSettings, ConversationKind)]
  {
    let kinds = ConversationKind.allCases.filter { $0.exists(under: rules) }
    let all = apps.flatMap { app in kinds.map { (app, $0) } }
    if isFull { return all }
    var random = SeededGenerator(seed: seed)
    return Array(all.shuffled(using: &random).prefix(count))
  }

  private static let pairs: [(UserClass, MemberClass)] = MemberClass.all.flatMap { member in
    UserClass.all.map { ($0, member) }
  }

  /// What a class is made of, it says.
  @Test func classesKeepWhatTheyAreMadeOf() {
    for level in NotificationLevel.ofVendors {
      for quiet in 0..<UInt8(StateRules.phaseCount) {
        for reach in (0..<UInt8(7)).compactMap(UserClass.Reach.init) {
          let user = UserClass(level: level.vendorCode, quiet: quiet, reach: reach)
          #expect(user.level == level)
          #expect(user.quiet.rawValue == quiet)
          #expect(user.reach == reach)
          let outside = UserClass(level: level.vendorCode, reach: reach)
          #expect(outside.inPhase(quiet) == user)
        }
      }
    }
    let indices = Self.pairs.map { StateKey($0, $1).index }
    #expect(indices == Array(0..<StateKey.count))
  }

  @Test func easemobsStates() {
    for seed in seeds {
      for (app, kind) in Self.cases(Self.easemobApps, .easemob, 4, seed) {
        let rules = RuleTables(app)[kind]
        let states = EasemobStates(app: app, isPrivate: kind == .private)
        let possible = Self.pairs.filter { $0.0.isEasemob && $0.1.isEasemob && !$0.1.isAbsent }
        let difference = Self.difference(rules, possible, Array(0..<EasemobMessageClass.count)) {
          states.outcome($0, $1, EasemobMessageClass(index: $2))
        }
        #expect(difference == nil, "\(kind), \(app)")
        #expect(rules.tableCount == 16)
      }
    }
  }

  @Test func rongcloudsStates() {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      for (app, kind) in Self.cases(Self.rongcloudApps, .rongcloud, 1, seed) {
        let rules = RuleTables(app)[kind]
        let states = RongCloudStates(app: app, kind: kind)
        let possible = Self.pairs.filter { user, member in
          user.isRongCloud && member.isRongCloud && (kind == .ultraGroup || !member.hasChannelLevel)
            && (user.quiet != .all || app.rongcloud.quietZero == .all)
        }
        let classes = Array(0..<RongCloudMessageClass.count)
        let difference = Self.difference(
          rules, possible, Self.isFull ? classes : (0..<12).map { _ in random.pick(classes) }
        ) {
          states.outcome($0, $1, RongCloudMessageClass(index: $2))
        }
        #expect(difference == nil, "\(kind), \(app)")
        #expect(rules.tableCount == 288)
      }
    }
  }

  private static func difference(
    _ rules: StateRules, _ pairs: [(UserClass, MemberClass)], _ classes: [Int],
    _ outcome: (UserClass, MemberClass, Int) -> Outcome
  ) -> String? {
    if rules.tables.stateCount > 255 { return "\(rules.tables.stateCount) states" }
    let states = pairs.map { rules.state($0, $1) }
    if states.contains(StateRules.absent) { return "a member is taken for nobody" }
    if Set(states).count != rules.tables.stateCount - 1 { return "states that nobody is in" }
    let absent = UserClass.all.map { rules.state($0, .absent) }
    if Set(absent) != [StateRules.absent] { return "somebody absent has a state" }
    for messageClass in classes {
      let codes = unsafe rules.tables.codes(messageClass)
      if unsafe codes[0] != 0 { return "an absent member has an outcome" }
      let found = states.map { unsafe codes[Int($0)] }
      let wanted = pairs.map { outcome($0, $1, messageClass).code }
      if let difference = firstDifference(found, wanted) {
        return "class \(messageClass) \(difference) of \(pairs.count) pairs"
      }
    }
    return nil
  }

  /// A message class and back.
  @Test func messageClassesKeepWhatTheySay() {
    let fallbacks = (0..<RongCloudMessageClass.Fallback.count).map {
      RongCloudMessageClass.Fallback(index: $0)
    }
    #expect(fallbacks.map(\.index) == Array(0..<24))
    #expect(Set(fallbacks).count == 24)
    let rongcloud = (0..<RongCloudMessageClass.count).map { RongCloudMessageClass(index: $0) }
    let again = rongcloud.map {
      RongCloudMessageClass(
        $0.mention, lacksContent: $0.lacksContent, isLocalEligible: $0.isLocalEligible,
        $0.fallback
      ).index
    }
    #expect(again == Array(0..<288))
    let easemob = (0..<EasemobMessageClass.count).map { EasemobMessageClass(index: $0) }
    #expect(
      easemob.map {
        EasemobMessageClass(
          force: $0.force, beatSilence: $0.beatSilence,
          mentionsMe: $0.classes.contains(.mentionsMe),
          mentionsEveryone: $0.classes.contains(.mentionsEveryone)
        ).index
      } == Array(0..<16))
    #expect(easemob.allSatisfy { $0.forNamed.classes.contains(.mentionsMe) })
  }

  @Test func oneOutcomeForAll() {
    let tables = RuleTables(AppSettings())
    for (code, outcome) in Outcome.coded {
      let codes = unsafe tables.codes(ofAll: outcome)
      let found = (0..<256).map { unsafe codes[$0] }
      #expect(found == [0] + [UInt8](repeating: code, count: 255), "\(outcome)")
    }
  }
}
