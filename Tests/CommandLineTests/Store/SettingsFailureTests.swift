import Foundation
import PushModel
import TestSupport
import Testing

/// Goal: what is refused ends with status 1, one line and nothing changed; what was not meant to be
/// asked ends with status 2.
@Suite struct SettingsFailureTests {
  /// Arguments, and the one line on standard error.
  typealias Case = (arguments: String, line: String)

  private static let easemob: [Case] = [
    ("get --user nobody", "there is no user \"nobody\""),
    ("get --user nobody --conversation group", "there is no user \"nobody\""),
    ("list --user nobody", "there is no user \"nobody\""),
    ("blocked --user nobody", "there is no user \"nobody\""),
    ("device list --user nobody", "there is no user \"nobody\""),
    ("display --user nobody", "there is no user \"nobody\""),
    (
      "set --user u1 --minutes 10081 --level all",
      "a duration of 10081 minutes is not in 0...10080, seven days; a settings file can hold any "
        + "mutedUntil"
    ),
    (
      "set --user u1 --minutes=-1",
      "a duration of -1 minutes is not in 0...10080, seven days; a settings file "
        + "can hold any mutedUntil"
    ),
    (
      "set --user u1 --quiet-hours 22:00- --level all",
      "quiet hours need both a start and an end, or both empty for none"
    ),
    ("set --user u1 --quiet-hours 24:00-8:00", "hour 24 is not in 0...23"),
    ("set --user u1 --quiet-hours 8-9", "\"8\" is not a time of the form H:M, like 22:00"),
    ("set --user u1 --legacy 22-25", "hour 25 is not in 0...24"),
    (
      "set --user u1 --quiet-hours 22:00:00+600",
      "the store's rules are easemob's, which have no such setting"
    ),
    (
      "set --user u1 --level mentionAll", "level \"mentionAll\" does not exist under easemob"
    ),
    ("set --user u1 --level 5", "5 is a level of rongcloud, not of the store's rules"),
    (
      "set --user u1 --type group --level all",
      "the store's rules are easemob's, which have no such setting"
    ),
    (
      "get --user u1 --conversation group --legacy",
      "the store's rules are easemob's, which have no such setting"
    ),
    (
      "defaults --app --level all",
      "the store's rules are easemob's, which have no such setting"
    ),
    ("set --user u1 --time-zone Mars", "\"Mars\" is not a time zone; give an IANA name"),
    ("set --user x --conversation group --level all", "\"x\" is not a member of \"group\""),
    ("set --user x --conversation thread --level all", "\"x\" is not a member of \"group\""),
    (
      "set --user u1 --conversation room --level all",
      "\"room\" is a room, which has no such setting"
    ),
    ("get --user u1 --conversation nowhere", "there is no conversation \"nowhere\""),
    ("clear --user u1 --conversation nowhere", "there is no conversation \"nowhere\""),
    ("list --user u1 --after nowhere", "there is no conversation \"nowhere\""),
    (
      "blocked --user u1 --type system",
      "a conversation of type system does not exist under easemob"
    ),
    ("device kick --user u1 --device p9", "\"u1\" has no device \"p9\""),
    ("set --user '' --level all", "an id of 0 bytes is not in 1...65536"),
    (
      "get --user u1 --batch " + [String](repeating: "group", count: 21).joined(separator: " "),
      "21 conversations in one read; at most 20 are allowed"
    ),
  ]

  private static let rongcloud: [Case] = [
    (
      "set --user u1 --conversation group --level 3",
      "3 is not a level; the levels are -1, 0, 1, 2, 4 and 5"
    ),
    (
      "set --user u1 --conversation group --level AT",
      "AT is a level of easemob, not of the store's rules"
    ),
    (
      "set --user u1 --level all",
      "a user has no level of all under rongcloud; name --conversation or --type"
    ),
    ("set --user u1 --minutes 5", "the store's rules are rongcloud's, which have no such setting"),
    (
      "set --user u1 --quiet-hours 1:0-2:0",
      "the store's rules are rongcloud's, which have no such setting"
    ),
    ("set --user u1 --quiet-hours 08:00:00+1440", "a span of 1440 minutes is not in 0...1439"),
    (
      "set --user u1 --quiet-hours 08:00:00+5 --quiet-level all",
      "quiet hours cannot have level \"all\"; use \"none\", \"mention\" or \"default\""
    ),
    (
      "set --user u1 --type thread --level all",
      "a conversation of type thread does not exist under rongcloud"
    ),
    (
      "set --user u1 --conversation group --channel c --level all",
      "\"group\" is a group, which has no such setting"
    ),
    ("defaults --conversation group", "\"group\" is a group, which has no such setting"),
    ("defaults --conversation nowhere --level all", "there is no conversation \"nowhere\""),
    (
      "set --user u1 --conversation group --legacy no-push",
      "the store's rules are rongcloud's, which have no such setting"
    ),
    (
      "set --user u1 --legacy dnd", "a state belongs to a conversation; name --conversation"
    ),
    (
      "set --user u1 --conversation group --quiet-hours 22:00:00+600 --quiet-level none",
      "quiet hours are the user's under rongcloud; leave out --conversation, --channel and --type"
    ),
    (
      "set --user u1 --type group --remove-quiet-hours",
      "quiet hours are the user's under rongcloud; leave out --conversation, --channel and --type"
    ),
    (
      "get --user u1 --batch group", "the store's rules are rongcloud's, which have no such setting"
    ),
  ]

  @Test(arguments: RuleSet.vendors)
  func whatIsRefusedChangesNothing(rules: RuleSet) throws {
    try SettingsTests.withStore(rules) { place in
      let events = try SettingsTests.run("events", in: place).output
      for (arguments, line) in rules == .easemob ? Self.easemob : Self.rongcloud {
        let run = try SettingsTests.run(arguments, in: place)
        #expect(run.errors == "push-fanout: \(line)\n", "\(arguments)")
        #expect(run.output == "", "\(arguments)")
        #expect(run.status == 1, "\(arguments)")
      }
      #expect(try SettingsTests.run("events", in: place).output == events)
    }
  }

  @Test(arguments: ["get --user u1", "set --user u1 --level all", "list --user u1", "events"])
  func withoutAStore(arguments: String) throws {
    try withWorkplace { place in
      let run = try SettingsTests.run(arguments, in: place)
      #expect(
        run.errors
          == "push-fanout: there is no store app.store; import settings to make one\n")
      #expect(run.status == 1)
      #expect(place.names() == ["messages.ndjson", "world.ndjson"])
    }
  }

  private static let wrong: [Case] = [
    ("set --user u1", "Error: Say what to set: "),
    ("set --level all", "Error: Missing expected argument '--user "),
    ("set --user u1 --level loud", "Error: The value 'loud' is invalid for '--level"),
    ("set --user u1 --minutes x", "Error: The value 'x' is invalid for '--minutes"),
    ("set --user u1 --quiet-hours 22:00", "Error: --quiet-hours 22:00 is not a window, "),
    ("set --user u1 --quiet-hours 22:00:00+x", "Error: --quiet-hours 22:00:00+x is not a window, "),
    (
      "set --user u1 --quiet-hours 1:0-2:0 --remove-quiet-hours",
      "Error: --quiet-hours and --remove-quiet-hours "
    ),
    ("set --user u1 --level all --quiet-level none", "Error: --quiet-level and --quiet-zone go "),
    ("set --user u1 --level all --legacy dnd", "Error: --legacy writes all by itself"),
    ("set --user u1 --legacy 22", "Error: --legacy 22 is not dnd, notify, no-push, push or "),
    ("set --user u1 --legacy 22-8 --type group", "Error: Older clients know neither channels nor "),
    (
      "set --user u1 --legacy dnd --conversation g --channel c",
      "Error: Older clients know neither channels nor "
    ),
    ("set --user u1 --conversation g --time-zone UTC", "Error: The time zone is the user's: "),
    ("set --user u1 --time-zone UTC --remove-time-zone", "Error: --time-zone and --remove-"),
    ("set --user u1 --level all --at now", "Error: --at now is not an instant; "),
    ("set --user u1 --level all --channel c", "Error: --channel is one of an ultra group"),
    (
      "set --user u1 --level all --type group --conversation g",
      "Error: --type and --conversation are two scopes"
    ),
    ("set --user u1 --level all --type chat", "Error: The value 'chat' is invalid for '--type"),
    ("clear --user u1", "Error: Say what to clear: "),
    ("clear --user u1 --quiet-hours --type group", "Error: Say what to clear: "),
    ("get --user u1 --legacy", "Error: --legacy reads a conversation"),
    ("get --user u1 --at 5", "Error: --at goes with --batch."),
    ("get --user u1 --conversation g --batch h", "Error: --batch names the conversations"),
    ("list --user u1 --limit 0", "Error: --limit 0 is not 1 or more."),
    (
      "events --after=-1", "Error: --after -1 is not a cursor; give the first word of an entry, or "
    ),
    ("events --after 1", "Error: --after 1 is not a cursor; give the first word of an entry, or "),
    ("events --announced", "Error: --announced goes with --user."),
    ("events --user u1 --on p1", "Error: --on goes with --announced."),
    ("defaults --level all", "Error: Say whose default: "),
    ("defaults --app --conversation g", "Error: Say whose default: "),
    ("device state asleep --user u1 --device p1", "Error: The value 'asleep' is invalid for "),
    ("device bind --user u1", "Error: Missing expected argument '--device "),
  ]

  @Test func wrongUsageEndsWithStatus2() throws {
    try SettingsTests.withStore(.easemob) { place in
      for (arguments, start) in Self.wrong {
        let run = try SettingsTests.run(arguments, in: place)
        #expect(run.errors.hasPrefix(start), "\(arguments): \(run.errors)")
        #expect(run.errorLines.count == 2, "\(arguments): \(run.errors)")
        #expect(run.output == "", "\(arguments)")
        #expect(run.status == 2, "\(arguments)")
      }
    }
  }
}
