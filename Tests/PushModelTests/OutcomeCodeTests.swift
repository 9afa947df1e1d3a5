import Foundation
import PushModel
import TestSupport
import Testing

/// Goal: numbers of outcomes that somebody has stored keep their meaning.
@Suite struct OutcomeCodeTests {
  /// The lines that must never change. A new outcome is appended to docs/outcome-codes.csv and here.
  static let frozen = """
    number,action,reason,scope
    1,push,allowed,quietHours
    2,local,allowed,quietHours
    3,push,forced,quietHours
    4,none,levelNone,quietHours
    5,push,allowed,channel
    6,none,notMentioned,quietHours
    7,push,forced,channel
    8,none,directChatLevel,quietHours
    9,push,allowed,conversation
    10,local,allowed,channel
    11,push,forced,conversation
    12,none,levelNone,channel
    13,push,allowed,type
    14,none,notMentioned,channel
    15,push,forced,type
    16,none,directChatLevel,channel
    17,push,allowed,channelDefault
    18,local,allowed,conversation
    19,push,forced,channelDefault
    20,none,levelNone,conversation
    21,push,allowed,groupDefault
    22,none,notMentioned,conversation
    23,push,forced,groupDefault
    24,none,directChatLevel,conversation
    25,push,allowed,appKey
    26,local,allowed,type
    27,push,forced,appKey
    28,none,levelNone,type
    29,push,allowed,app
    30,none,notMentioned,type
    31,push,forced,app
    32,none,directChatLevel,type
    33,push,allowed,default
    34,local,allowed,channelDefault
    35,push,forced,default
    36,none,levelNone,channelDefault
    38,none,notMentioned,channelDefault
    40,none,directChatLevel,channelDefault
    42,local,allowed,groupDefault
    44,none,levelNone,groupDefault
    46,none,notMentioned,groupDefault
    48,none,directChatLevel,groupDefault
    50,local,allowed,appKey
    52,none,levelNone,appKey
    54,none,notMentioned,appKey
    56,none,directChatLevel,appKey
    58,local,allowed,app
    60,none,levelNone,app
    62,none,notMentioned,app
    64,none,directChatLevel,app
    66,local,allowed,default
    68,none,levelNone,default
    70,none,notMentioned,default
    72,none,directChatLevel,default
    74,none,quietHours,quietHours
    76,none,quietHours,app
    78,none,muted,app
    80,none,muted,conversation
    82,none,chatRoom,
    84,none,onlineOnly,
    86,none,messageType,
    88,none,silentMessage,
    90,none,expired,
    92,none,online,
    94,none,kicked,
    96,none,loggedOut,
    98,none,noToken,
    100,none,filtered,
    102,none,localIneligible,
    104,none,localDisabled,
    106,none,localInfoMissing,
    108,none,localHandledByApp,
    37,push,allowed,thread
    39,push,forced,thread
    41,push,allowed,user
    43,push,forced,user
    45,push,allowed,conversationDefault
    47,push,forced,conversationDefault
    49,push,allowed,appDefault
    51,push,forced,appDefault
    110,none,levelNone,thread
    112,none,levelExcludes,thread
    114,none,levelNone,user
    116,none,levelExcludes,user
    118,none,levelNone,conversationDefault
    120,none,levelExcludes,conversationDefault
    122,none,levelNone,appDefault
    124,none,levelExcludes,appDefault
    126,none,levelExcludes,conversation
    128,none,muted,thread
    130,none,muted,user
    132,none,quietHours,user
    134,none,quietHours,appDefault
    136,none,senderBlocked,
    138,none,notFollowing,
    """

  static func table() throws -> String {
    try String(
      contentsOf: Repository.root.appending(path: "docs/outcome-codes.csv"), encoding: .utf8)
  }

  /// The line of an outcome and its code.
  static func line(_ code: UInt8, _ outcome: Outcome) -> String {
    let scope = outcome.scope?.name ?? ""
    return "\(code),\(outcome.action.name),\(outcome.reason.name),\(scope)"
  }

  @Test func theTableBeginsWithTheFrozenLines() throws {
    let lines = try Self.table().split(separator: "\n")
    let frozen = Self.frozen.split(separator: "\n")
    #expect(Array(lines.prefix(frozen.count)) == frozen)
  }

  @Test func theTableListsTheCodesOfTheProgram() throws {
    let listed = try Self.table().split(separator: "\n").dropFirst().sorted()
    let coded = Outcome.coded.map { Substring(Self.line($0.code, $0.outcome)) }.sorted()
    #expect(listed == coded)
  }

  @Test func theVersionIsTheNumberOfOutcomes() throws {
    let lines = try Self.table().split(separator: "\n").dropFirst()
    #expect(Outcome.registryVersion == lines.count)
  }

  @Test func aNumberInTheTableIsReadAsItsOutcome() throws {
    let lines = try Self.table().split(separator: "\n").dropFirst()
    let read = try lines.map { line in
      let code = try #require(UInt8(line.prefix { $0 != "," }))
      let outcome = try #require(Outcome(code: code), "\(line)")
      #expect(outcome.code == code)
      return Substring(Self.line(code, outcome))
    }
    #expect(read == Array(lines))
  }

  @Test func onlyPushesHaveOddCodes() {
    for (code, outcome) in Outcome.coded {
      #expect((code & 1 == 1) == (outcome.action == .push), "\(outcome.key)")
    }
  }
}
