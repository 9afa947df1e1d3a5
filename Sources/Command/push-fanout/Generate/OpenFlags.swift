import ArgumentParser
import PushWorkload

/// What only open rules have.
struct OpenFlags: ParsableArguments {
  @Option(help: shareHelp("Users who have keywords.", "0.2"))
  var keywordShare: Double?

  @Option(help: shareHelp("Texts with a word that people have as a keyword.", "0.1"))
  var keywordTextShare: Double?

  @Option(help: shareHelp("Users who have important senders.", "0.1"))
  var importantSenderShare: Double?

  @Option(help: shareHelp("Users who block senders.", "0.03"))
  var blockedSenderShare: Double?

  @Option(help: shareHelp("Users with a mute that ends while the world's time runs.", "0.03"))
  var mutedUserShare: Double?

  @Option(help: shareHelp("Levels for mentions that name classes instead.", "0.3"))
  var classLevelShare: Double?

  @Option(help: shareHelp("Memberships that have roles.", "0.1"))
  var roleShare: Double?

  @Option(help: shareHelp("Memberships that are important.", "0.03"))
  var importantShare: Double?

  @Option(
    help: shareHelp("Messages that mention a role, in rooms of 20 to 999 members.", "0.01"))
  var roleMentionShare: Double?

  @Option(
    help: shareHelp(
      "Messages in threads, in rooms of at least 20 members; 0 for no threads.", "0.2"))
  var threadShare: Double?

  /// The flags that were given.
  var given: [String] {
    [
      ("--keyword-share", keywordShare), ("--keyword-text-share", keywordTextShare),
      ("--important-sender-share", importantSenderShare),
      ("--blocked-sender-share", blockedSenderShare), ("--muted-user-share", mutedUserShare),
      ("--class-level-share", classLevelShare), ("--role-share", roleShare),
      ("--important-share", importantShare), ("--role-mention-share", roleMentionShare),
      ("--thread-share", threadShare),
    ].compactMap { (name: String, value: Double?) in value == nil ? nil : name }
  }

  func apply(to open: inout WorkloadOptions.Open) {
    set(&open.keywordShare, keywordShare)
    set(&open.keywordTextShare, keywordTextShare)
    set(&open.importantSenderShare, importantSenderShare)
    set(&open.blockedSenderShare, blockedSenderShare)
    set(&open.mutedUserShare, mutedUserShare)
    set(&open.classLevelShare, classLevelShare)
    set(&open.roleShare, roleShare)
    set(&open.importantShare, importantShare)
    set(&open.roleMentionShare, roleMentionShare)
    set(&open.threadShare, threadShare)
  }
}
